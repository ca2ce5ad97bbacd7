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
  std::uint64_t most;  ///< that have room
  word* sample;        ///< column by column, `most` words each

  __device__ void operator()(std::uint64_t row) const {
    if (!chosen.takes(columns, arity, row)) return;
    const std::uint64_t place = atomicAdd(reinterpret_cast<unsigned long long*>(taken), 1ULL);
    if (place >= most) return;
    for (std::uint32_t column = 0; column < arity; ++column) sample[column * most + place] = columns[column][row];
  }
};

}  // namespace

sampled_rows sample_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                         const std::vector<const word*>& columns, std::uint64_t rows, std::uint64_t wanted) {
  // Far more than wanted have low hash values only where hashing fails.
  const std::uint64_t most = std::min(rows, 2 * wanted);
  const std::size_t arity = columns.size();
  backend::array<const word*> column_table(resource, arity, backend::fresh_memory::anything);
  backend::array<std::uint64_t> taken(resource, 1);
  backend::array<word> sample(resource, arity * most, backend::fresh_memory::anything);
  backend::gpu::copy_async(column_table.data(), columns.data(), arity * sizeof(const word*),
                           backend::gpu::direction::host_to_device, context.stream());
  backend::gpu::for_each(context.stream(), rows,
                         take_row{row_sample(rows, wanted), column_table.data(), static_cast<std::uint32_t>(arity),
                                  taken.data(), most, sample.data()});
  const std::uint64_t count = std::min(most, context.read_counter(taken.data()));
  sampled_rows sampled(arity, std::vector<word>(count));
  for (std::size_t column = 0; column < arity && count != 0; ++column) {
    backend::gpu::copy_async(sampled[column].data(), sample.data() + column * most, count * sizeof(word),
                             backend::gpu::direction::device_to_host, context.stream());
  }
  context.synchronize();
  return sampled;
}

}  // namespace gpulog::storage::gpu
