#pragma once

#include <cstdint>

#include "storage/indexes/key_level.hpp"

/// What one rule gives to each row (kernels/row_wise/row_wise_task.hpp), in device memory.
namespace gpulog::kernels::gpu {

using storage::row_range;

/// Values of a word of a bitmap, and the bits of their numbers.
constexpr unsigned row_word_values = 32;
constexpr unsigned row_word_bits = 5;

/// One rule: for each row a range of items, and for each item a range of words, as number << 32 | mask.
struct row_rule_view {
  const std::uint32_t* begin;       ///< by row: its first item
  const std::uint32_t* end;         ///< by row
  const std::uint32_t* group;       ///< by item; null: its own number
  const std::uint64_t* sums;        ///< by item: words of the items before; one more behind the last
  const std::uint32_t* first_word;  ///< by group: its words end where those of the next one begin
  const std::uint64_t* words;

  [[nodiscard]] __device__ row_range words_of(std::uint32_t item) const {
    const std::uint32_t number = group == nullptr ? item : group[item];
    const std::uint32_t first = first_word[number];
    return {first, first_word[number + 1] - first};
  }
  [[nodiscard]] __device__ std::uint64_t words_of_row(std::uint32_t row) const {
    return sums[end[row]] - sums[begin[row]];
  }
};

}  // namespace gpulog::kernels::gpu
