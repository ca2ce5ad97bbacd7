#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/memory_resource.hpp"
#include "io/directive_parameters.hpp"
#include "io/values/structured_value.hpp"
#include "support/ids.hpp"

namespace gpulog::io {

/// The columns of a line of text, from the first column to the last needed column.
struct row_layout {
  static constexpr std::size_t not_read = SIZE_MAX;

  struct column {
    std::size_t attribute = not_read;
    value_kind kind = value_kind::symbol;
    bool is_unread = false;  ///< a text that gets the number 0
  };

  std::vector<column> columns;
  std::size_t arity = 0;
  std::string delimiter;
  /// Values may be in double quotes, with delimiters, line breaks and doubled quotes inside.
  bool rfc4180 = false;
  bool has_symbols = false;
  /// Types of records and algebraic data types. One thread reads rows with such values, so that numbers are given in
  /// order.
  const structured_columns* structured = nullptr;
  storage::wide_values* wide = nullptr;  ///< in 64-bit programs
  /// Memory for values that differ from their text (unescaped, unquoted).
  backend::memory_resource* memory = &backend::unlimited_memory();
};

/// @throws user_error for invalid parameters
row_layout make_row_layout(const directive_parameters& parameters, const std::vector<value_kind>& kinds);

}  // namespace gpulog::io
