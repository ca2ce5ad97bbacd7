#include "exec/strategies/products/product_words.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/primitives.hpp"
#include "kernels/products/product_columns.cuh"

namespace gpulog::exec {

using backend::fresh_memory;

product_words::product_words(const backend::gpu::device_context& context, backend::memory_resource& resource, parts of)
    : context_(context), resource_(resource), of_(std::move(of)) {
  backend::gpu::with_scratch(resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum(scratch, bytes, of_.sizes.data(), of_.sizes.data(), of_.sizes.size(),
                                context_.stream());
  });
  rows_ = context_.read_counter(of_.sizes.data() + of_.numbers);
}

std::uint64_t product_words::bytes() const {
  const std::uint64_t values = of_.numbering == nullptr ? 0 : of_.numbering->bytes();
  return of_.rows.bytes() + of_.stamps.bytes() + of_.sizes.bytes() + lookup_.bytes() + values;
}

product_words::columns_type product_words::make_columns(std::uint64_t rows, std::uint64_t wanted) const {
  columns_type made(2);
  resource_.prepare(std::min(made.size(), static_cast<std::size_t>(std::popcount(wanted))), rows * sizeof(word));
  for (std::size_t c = 0; c < made.size(); ++c) {
    if ((wanted >> c & 1) != 0) made[c] = backend::array<word>(resource_, rows, fresh_memory::anything);
  }
  return made;
}

void product_words::write(const source_rows& wanted, columns_type& to) const {
  constexpr std::uint64_t waves = kernels::gpu::product_results_threads / backend::gpu::wave_size;
  constexpr std::uint64_t most_blocks = backend::gpu::most_blocks_of_for_each;
  kernels::gpu::product_results results;
  results.rows = of_.rows.data();
  results.stamps = of_.stamps.data();
  results.begins = reinterpret_cast<const unsigned long long*>(wanted.places);
  results.values = of_.numbering == nullptr ? nullptr : of_.numbering->found().tuples.at[0];
  results.listed = wanted.listed;
  results.first = static_cast<std::uint32_t>(wanted.first);
  results.last = static_cast<std::uint32_t>(wanted.last);
  results.first_row = wanted.first_row;
  results.groups = of_.groups;
  for (std::size_t column = 0; column < to.size(); ++column) results.out[column] = to[column].data();
  backend::gpu::launch(GPULOG_KERNEL(kernels::gpu::write_products_kernel),
                       {static_cast<unsigned>(std::min((wanted.last - wanted.first + waves - 1) / waves, most_blocks)),
                        kernels::gpu::product_results_threads, 0, context_.stream()},
                       results);
}

product_words::columns_type product_words::columns() {
  columns_type made = make_columns(rows_);
  write(0, of_.numbers, 0, made);
  return made;
}

const std::vector<std::uint64_t>& product_words::pieces() {
  if (pieces_.empty()) pieces_.make(context_, of_.sizes, [this](std::uint64_t rows) { return make_columns(rows); });
  return pieces_.rows();
}

void product_words::read(std::size_t piece, word* const* columns) {
  pieces_.read(context_, piece, columns,
               [this](std::uint64_t first, std::uint64_t last, std::uint64_t first_row, columns_type& to) {
                 write(first, last, first_row, to);
               });
}

const storage::gpu::kept_rows_view* product_words::lookup(storage::gpu::kept_question asked) {
  if (lookup_.is_made()) return lookup_.view(context_, asked);
  storage::gpu::kept_rows_view made;
  made.sources = numbered_columns_of(of_.numbering.get(), of_.numbers, {0});
  made.nodes = numbered_columns_of(of_.numbering.get(), of_.numbers, {1});
  made.groups = of_.groups;
  made.source_count = made.node_count = of_.numbers;
  made.places = of_.sizes.data();
  made.bits = of_.rows.data();
  made.stamps = of_.stamps.data();
  lookup_.make(context_, resource_, made);
  return lookup_.view(context_, asked);
}

storage::gpu::device_factorized::column_bounds product_words::values_of(std::uint32_t /*column*/) const {
  if (of_.numbering == nullptr) return {nullptr, of_.numbers};
  return {of_.numbering->found().tuples.at[0], of_.numbering->size()};
}

product_words::columns_type product_words::columns_of(const source_rows& wanted) {
  columns_type made = make_columns(wanted.rows, wanted.wanted_columns);
  write(wanted, made);
  return made;
}

}  // namespace gpulog::exec
