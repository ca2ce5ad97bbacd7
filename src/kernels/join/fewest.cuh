#pragma once

#include <cstdint>

#include "kernels/join/device_program.hpp"

/// Of several alternative searches for a value, each binding uses the search with the fewest rows (docs/adr/0016).
namespace gpulog::kernels::gpu {

/// Chooses the search with the fewest matches for an input row, stores the ranges, and returns the degree; the entry
/// after the last row has degree 0.
struct choose_fewest {
  const device_choice* choices;
  std::uint32_t choice_count;
  std::uint64_t rows;
  std::uint64_t first_row;  ///< first row of the key columns
  std::uint8_t* chosen;     ///< by row
  row_range* ranges;        ///< [run of the chosen index][row]

  [[nodiscard]] __device__ row_range find(const device_choice& choice, std::uint32_t run, std::uint64_t row) const {
    return choice.runs[run].find([&](std::uint32_t c) {
      return choice.keys[c] == nullptr ? choice.constants[c] : choice.keys[c][first_row + row];
    });
  }

  __device__ std::uint64_t operator()(std::uint64_t row) const {
    if (row == rows) return 0;
    std::uint64_t fewest = UINT64_MAX;
    std::uint32_t own = 0;
    row_range first;  // in the first run of the chosen index
    for (std::uint32_t number = 0; number < choice_count; ++number) {
      const device_choice& choice = choices[number];
      std::uint64_t sum = 0;
      row_range in_first;
      for (std::uint32_t run = 0; run < choice.run_count; ++run) {
        const row_range range = find(choice, run, row);
        if (run == 0) in_first = range;
        sum += range.count;
      }
      if (sum >= fewest) continue;
      fewest = sum;
      own = number;
      first = in_first;
    }
    chosen[row] = static_cast<std::uint8_t>(own);
    ranges[row] = first;
    for (std::uint32_t run = 1; run < choices[own].run_count; ++run) {
      ranges[run * rows + row] = find(choices[own], run, row);
    }
    return fewest;
  }
};

}  // namespace gpulog::kernels::gpu
