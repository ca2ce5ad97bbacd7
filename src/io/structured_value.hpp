#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/value_types.hpp"

/// Records and algebraic data types as text: "[1, [x, nil]]", "$Add(1, $Zero)".
namespace gpulog::io {

[[nodiscard]] inline bool is_structured(value_kind kind) {
  return kind == value_kind::record || kind == value_kind::adt;
}

/// What the columns of a relation hold; without structures when none holds records or algebraic data types.
struct structured_columns {
  std::vector<structure_id> structures;  ///< one for each attribute; invalid for plain values
  const std::vector<structure_type>* types = nullptr;
  storage::record_tables* records = nullptr;
  storage::wide_values* wide = nullptr;  ///< of words with 64 bits, whatever the columns hold

  [[nodiscard]] value_type type_of(std::size_t attribute, value_kind kind) const {
    return {kind, attribute < structures.size() ? structures[attribute] : structure_id()};
  }
};

/// Reads a value and its fields. Texts of symbols end at the next ',' and at the bracket around them, without the
/// blanks around them, or are in double quotes, with a backslash before quotes and backslashes.
/// @return false when the text is no value of the type
[[nodiscard]] bool parse_structured(std::string_view text, const value_type& type, const structured_columns& columns,
                                    storage::symbol_table& symbols, word& value);

/// Appends the text of a value of any type.
void append_structured(std::string& text, word value, const value_type& type, const structured_columns& columns,
                       bool quoted_symbols, const storage::symbol_table& symbols);

}  // namespace gpulog::io
