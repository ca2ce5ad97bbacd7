#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "io/files/byte_buffer.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/value_types.hpp"

/// Records and algebraic data types as text: "[1, [x, nil]]", "$Add(1, $Zero)".
namespace gpulog::io {

[[nodiscard]] inline bool is_structured(value_kind kind) {
  return kind == value_kind::record || kind == value_kind::adt;
}

/// The types of a relation's columns; without structures if the relation has no records and no algebraic data types.
struct structured_columns {
  std::vector<structure_id> structures;  ///< of each attribute; invalid for plain values
  const std::vector<structure_type>* types = nullptr;
  storage::record_tables* records = nullptr;
  storage::wide_values* wide = nullptr;  ///< in 64-bit programs, for any columns

  [[nodiscard]] value_type type_of(std::size_t attribute, value_kind kind) const {
    return {kind, attribute < structures.size() ? structures[attribute] : structure_id()};
  }
};

/// Parses a value with its fields. A symbol without quotes ends at the next ',' or the enclosing bracket, and blanks
/// around the symbol are dropped. A symbol in double quotes has a backslash before quotes and backslashes.
/// @return false if the text is not a value of the type
[[nodiscard]] bool parse_structured(std::string_view text, const value_type& type, const structured_columns& columns,
                                    storage::symbol_table& symbols, word& value);

/// Limit of a value's text: shared parts are written at every occurrence, so a few records may have a text of
/// exponential size.
inline constexpr std::size_t longest_value_text = std::size_t{1} << 30;

/// @throws user_error if the value that starts at `begin` exceeds the limit
void limit_value_text(const byte_buffer& text, std::size_t begin);

/// Appends the texts of values of any type. Iterative: a list may have millions of records.
class structured_printer {
 public:
  structured_printer(byte_buffer& text, const structured_columns& columns, bool quoted_symbols,
                     const storage::symbol_table& symbols)
      : text_(text), columns_(columns), quoted_symbols_(quoted_symbols), symbols_(symbols), open_(text.memory()) {}

  /// @throws user_error for a text that is too long, backend::memory_exceeded
  void print(word value, const value_type& type);

 private:
  struct open_value {
    const std::vector<field_type>* fields;
    const word* values;
    std::size_t next;
    char closing;
  };

  void begin(word value, const value_type& type);
  void append_symbol(std::string_view symbol);
  void begin_record(word value, const structure_type& structure);
  void begin_branch(word value, const structure_type& structure);
  [[nodiscard]] const word* fields_of(word record, std::size_t arity) const;

  byte_buffer& text_;
  const structured_columns& columns_;
  bool quoted_symbols_;
  const storage::symbol_table& symbols_;
  backend::array<open_value> open_;
};

}  // namespace gpulog::io
