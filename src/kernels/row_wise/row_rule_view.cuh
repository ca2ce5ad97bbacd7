#pragma once

#include <cstdint>

#include "storage/indexes/key_level.hpp"

/// The input of a rule for each row (kernels/row_wise/row_wise_task.hpp), in device memory.
namespace gpulog::kernels::gpu {

using storage::row_range;

/// Values per bitmap word, and the bits of a value's number in the word.
constexpr unsigned row_word_values = 32;
constexpr unsigned row_word_bits = 5;

/// One rule: a range of items per row, and a range of words per item, each as number << 32 | mask.
struct row_rule_view {
  const std::uint32_t* begin;       ///< by row: first item
  const std::uint32_t* end;         ///< by row
  const std::uint32_t* group;       ///< by item; null: the item itself
  const std::uint64_t* sums;        ///< by item: words of all earlier items; one extra entry
  const std::uint32_t* first_word;  ///< by group: first word; the words end where the next group's words begin
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
