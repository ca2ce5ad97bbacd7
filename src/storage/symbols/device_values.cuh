#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "storage/symbols/device_values.hpp"
#include "storage/symbols/value_codes.hpp"

/// 64-bit values in kernels.
namespace gpulog::storage::gpu {

/// @param numbered the table of values: number n has its lower and upper half at numbered[2 * (n - 1)]
[[nodiscard]] __device__ inline wide_word value_of_row(const value_column& column, std::uint64_t row,
                                                       const word* numbered) {
  if (column.upper != nullptr) return wide_word{column.upper[row]} << 32 | column.lower[row];
  return value_of_code(column.lower == nullptr ? column.constant : column.lower[row], [&](word number) {
    // A kernel that creates numbers reads values written by different multiprocessors.
    const word* const halves = numbered + 2 * (std::uint64_t{number} - 1);
    return wide_word{backend::gpu::load_past_first_cache(halves + 1)} << 32 |
           backend::gpu::load_past_first_cache(halves);
  });
}

}  // namespace gpulog::storage::gpu
