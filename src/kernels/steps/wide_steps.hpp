#pragma once

#include <cstdint>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

/// Steps on 64-bit values of a tile of bindings.
namespace gpulog::kernels {

/// values[i] = the value in a register.
/// @param upper nullptr: the register holds codes
void read_values(const word* lower, const word* upper, std::uint32_t n, const storage::wide_values& wide,
                 wide_word* values);

/// Runs a wide step of kind compute on n <= tile_rows bindings. value(register) returns a register of the tile,
/// own(register) a register to write.
/// @throws arithmetic_fault, std::length_error
template <class Value, class Own>
void compute_wide(const step& one, std::uint32_t n, const Value& value, const Own& own, storage::wide_values& wide);

/// Runs a wide step of kind filter: selects the numbers i < n, ascending, for which the comparison holds.
/// @return the number of selected i
template <class Value>
std::uint32_t select_wide(const step& one, std::uint32_t n, const Value& value, const storage::wide_values& wide,
                          std::uint16_t* selected);

/// Runs an autoinc() step of either word size.
void count_up(const pipeline& program, std::uint32_t n, word* result);

namespace detail {

/// result = op(left, right), as codes or as two halves.
void compute_wide(const step& one, const wide_word* left, const wide_word* right, std::uint32_t n, word* result,
                  word* upper_result, storage::wide_values& wide);
std::uint32_t select_wide(comparison_op op, const wide_word* left, const wide_word* right, std::uint32_t n,
                          std::uint16_t* selected);

template <class Value>
void read_argument(const step& one, std::size_t argument, std::uint32_t n, const Value& value,
                   const storage::wide_values& wide, wide_word* values) {
  const register_number upper = one.upper[argument];
  read_values(value(one.arguments[argument]), upper == no_register ? nullptr : value(upper), n, wide, values);
}

}  // namespace detail

template <class Value, class Own>
void compute_wide(const step& one, std::uint32_t n, const Value& value, const Own& own, storage::wide_values& wide) {
  wide_word left[storage::tile_rows];
  wide_word right[storage::tile_rows];
  detail::read_argument(one, 0, n, value, wide, left);
  const bool is_unary = one.arguments.size() == 1;
  if (!is_unary) detail::read_argument(one, 1, n, value, wide, right);
  detail::compute_wide(one, left, is_unary ? left : right, n, own(one.result),
                       one.upper_result == no_register ? nullptr : own(one.upper_result), wide);
}

template <class Value>
std::uint32_t select_wide(const step& one, std::uint32_t n, const Value& value, const storage::wide_values& wide,
                          std::uint16_t* selected) {
  wide_word left[storage::tile_rows];
  wide_word right[storage::tile_rows];
  detail::read_argument(one, 0, n, value, wide, left);
  detail::read_argument(one, 1, n, value, wide, right);
  return detail::select_wide(one.comparison, left, right, n, selected);
}

}  // namespace gpulog::kernels
