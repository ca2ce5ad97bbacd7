#include "storage/relation/device_sample.hpp"

#include <algorithm>

#include "backend/array.hpp"
#include "backend/gpu/for_each.hpp"

namespace gpulog::storage::gpu {

namespace {

struct take_row {
  row_sample chosen;
  const word* const* columns;
  std::uint32_t arity;
  std::uint64_t* taken;
  std::uint64_t most;  ///< capacity in rows
  word* sample;        ///< [column][most]

  __device__ void operator()(std::uint64_t row) const {
    if (!chosen.takes(columns, arity, row)) return;
    const std::uint64_t place = atomicAdd(reinterpret_cast<unsigned long long*>(taken), 1ULL);
    if (place >= most) return;
    for (std::uint32_t column = 0; column < arity; ++column) sample[column * most + place] = columns[column][row];
  }
};

}  // namespace

std::vector<sampled_rows> sample_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                      const std::vector<sampled_columns>& relations, std::uint64_t wanted) {
  using backend::gpu::direction;
  // Many more rows than wanted pass only if hashing fails.
  const auto most_of = [wanted](const sampled_columns& one) { return std::min(one.rows, wanted + wanted / 4); };
  std::vector<const word*> columns;
  std::uint64_t words = 0;
  for (const sampled_columns& one : relations) {
    columns.insert(columns.end(), one.columns.begin(), one.columns.end());
    words += one.columns.size() * most_of(one);
  }
  std::vector<sampled_rows> sampled(relations.size());
  if (words == 0) return sampled;
  backend::array<const word*> column_table(resource, columns.size(), backend::fresh_memory::anything);
  backend::array<std::uint64_t> taken(resource, relations.size());
  backend::array<word> sample(resource, words, backend::fresh_memory::anything);
  backend::gpu::copy_async(column_table.data(), columns.data(), columns.size() * sizeof(const word*),
                           direction::host_to_device, context.stream());
  std::uint64_t first_column = 0;
  std::uint64_t first_word = 0;
  for (std::size_t number = 0; number < relations.size(); ++number) {
    const sampled_columns& one = relations[number];
    const auto arity = static_cast<std::uint32_t>(one.columns.size());
    backend::gpu::for_each(context.stream(), one.rows,
                           take_row{row_sample(one.rows, wanted), column_table.data() + first_column, arity,
                                    taken.data() + number, most_of(one), sample.data() + first_word});
    first_column += arity;
    first_word += arity * most_of(one);
  }
  std::vector<std::uint64_t> counts(relations.size());
  std::vector<word> rows(words);
  backend::gpu::copy_async(counts.data(), taken.data(), counts.size() * sizeof(std::uint64_t),
                           direction::device_to_host, context.stream());
  backend::gpu::copy_async(rows.data(), sample.data(), words * sizeof(word), direction::device_to_host,
                           context.stream());
  context.synchronize();
  const word* next = rows.data();
  for (std::size_t number = 0; number < relations.size(); ++number) {
    const std::uint64_t most = most_of(relations[number]);
    for (std::size_t column = 0; column < relations[number].columns.size(); ++column) {
      sampled[number].emplace_back(next, next + std::min(most, counts[number]));
      next += most;
    }
  }
  return sampled;
}

}  // namespace gpulog::storage::gpu
