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
    : stored_rows(context, resource, {of.numbering ? &*of.numbering : nullptr, of.numbers, {0}},
                  {of.numbering ? &*of.numbering : nullptr, of.numbers, {1}}),
      of_(std::move(of)) {
  backend::gpu::with_scratch(resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum(scratch, bytes, of_.sizes.data(), of_.sizes.data(), of_.sizes.size(),
                                context_.stream());
  });
  rows_ = context_.read_counter(of_.sizes.data() + of_.numbers);
}

std::uint64_t product_words::bytes() const {
  const std::uint64_t values = !of_.numbering ? 0 : of_.numbering->bytes();
  return of_.rows.bytes() + of_.stamps.bytes() + of_.sizes.bytes() + common_bytes() + values;
}

void product_words::write(const source_rows& wanted, columns_type& to) {
  constexpr std::uint64_t waves = kernels::gpu::product_results_threads / backend::gpu::wave_size;
  constexpr std::uint64_t most_blocks = backend::gpu::most_blocks_of_for_each;
  kernels::gpu::product_results results;
  results.rows = of_.rows.data();
  results.stamps = of_.stamps.data();
  results.begins = reinterpret_cast<const unsigned long long*>(wanted.places);
  results.values = !of_.numbering ? nullptr : of_.numbering->view().values[0];
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

void product_words::show(storage::gpu::kept_rows_view& view) {
  view.groups = of_.groups;
  view.places = of_.sizes.data();
  view.bits = of_.rows.data();
  view.stamps = of_.stamps.data();
}

}  // namespace gpulog::exec
