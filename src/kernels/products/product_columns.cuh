#pragma once

#include <cstdint>

#include "kernels/products/products.hpp"
#include "kernels/search/row_bits.cuh"

namespace gpulog::kernels::gpu {

/// Arguments for writing rows of bits as columns.
struct product_results {
  const std::uint32_t* rows = nullptr;
  const std::uint32_t* stamps = nullptr;
  const unsigned long long* begins = nullptr;  ///< by number: index of its first row in the result
  const word* values = nullptr;                ///< by number; null: a number is its value
  const std::uint32_t* listed = nullptr;       ///< numbers; null: all
  std::uint32_t first = 0;                     ///< writes places [first, last) of the list
  std::uint32_t last = 0;
  std::uint64_t first_row = 0;  ///< first row of the result; written to the first place
  std::uint32_t groups = 0;
  word* out[2] = {};  ///< the first may be null
};

constexpr unsigned product_results_threads = 256;

/// Writes each row with one wave.
__global__ void __launch_bounds__(product_results_threads) write_products_kernel(const product_results results) {
  constexpr unsigned waves = product_results_threads / wave_size;
  GPULOG_SHARED(staged_numbers[waves], all_staged);
  std::uint16_t* const staged = all_staged[backend::gpu::wave()];
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t place = results.first + blockIdx.x * waves + backend::gpu::wave(); place < results.last;
       place += gridDim.x * waves) {
    const std::uint32_t number = results.listed == nullptr ? place : results.listed[place];
    if (results.begins[number + 1] == results.begins[number]) continue;
    std::uint64_t at = results.begins[number] - results.first_row;
    const word own = results.values == nullptr ? number : results.values[number];
    for (std::uint32_t group = 0; group < results.groups; ++group) {
      if (results.stamps[std::uint64_t{number} * results.groups + group] == 0) continue;
      const std::uint32_t bits = results.rows[(std::uint64_t{number} * results.groups + group) * wave_size + lane];
      const std::uint32_t size = backend::gpu::count_bits(bits);
      const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(size);
      const std::uint32_t n = backend::gpu::shuffle(sum, wave_size - 1);
      list_group(bits, sum - size, staged);
      // Skips lanes so that stores are aligned to memory lines.
      const auto skipped = static_cast<std::uint32_t>(at % row_alignment);
      for (std::uint32_t i = lane; i < n + skipped; i += wave_size) {
        if (i < skipped) continue;
        const word value = group * group_numbers + staged[i - skipped];
        if (results.out[0] != nullptr) backend::gpu::store_past_caches(results.out[0] + (at + i - skipped), own);
        backend::gpu::store_past_caches(results.out[1] + (at + i - skipped),
                                        results.values == nullptr ? value : results.values[value]);
      }
      at += n;
      backend::gpu::wave_barrier();
    }
  }
}

}  // namespace gpulog::kernels::gpu
