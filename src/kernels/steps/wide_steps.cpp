#include "kernels/steps/wide_steps.hpp"

#include "kernels/steps/steps.hpp"

namespace gpulog::kernels {

void read_values(const word* lower, const word* upper, std::uint32_t n, const storage::wide_values& wide,
                 wide_word* values) {
  if (upper == nullptr) {
    for (std::uint32_t i = 0; i < n; ++i) values[i] = wide.value(lower[i]);
  } else {
    for (std::uint32_t i = 0; i < n; ++i) values[i] = wide_word{upper[i]} << 32 | lower[i];
  }
}

void count_up(const pipeline& program, std::uint32_t n, word* result) {
  const wide_word first = program.counter->fetch_add(n, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < n; ++i) result[i] = storage::word_of(first + i, program.wide);
}

namespace detail {

void compute_wide(const step& one, const wide_word* left, const wide_word* right, std::uint32_t n, word* result,
                  word* upper_result, storage::wide_values& wide) {
  wide_word values[storage::tile_rows];
  compute_tile(one.scalar, left, right, n, values);
  if (upper_result != nullptr) {
    for (std::uint32_t i = 0; i < n; ++i) {
      result[i] = static_cast<word>(values[i]);
      upper_result[i] = static_cast<word>(values[i] >> 32);
    }
  } else if (one.known_only) {
    for (std::uint32_t i = 0; i < n; ++i) result[i] = wide.known_code(values[i]);
  } else {
    wide.codes(values, n, result);
  }
}

std::uint32_t select_wide(comparison_op op, const wide_word* left, const wide_word* right, std::uint32_t n,
                          std::uint16_t* selected) {
  return select_tile(op, left, right, n, selected);
}

}  // namespace detail

}  // namespace gpulog::kernels
