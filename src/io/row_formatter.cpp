#include "io/row_formatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "io/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

using floating_word = std::conditional_t<sizeof(word) == 4, float, double>;

void check_kinds(const relation_rows& rows) {
  for (const value_kind kind : rows.kinds) {
    if (kind == value_kind::record || kind == value_kind::adt) {
      throw user_error("records and algebraic data types are not yet written");
    }
  }
}

void append_json_string(byte_buffer& text, std::string_view value) {
  text.append('"');
  for (std::size_t begin = 0;;) {
    const auto special = std::find_if(value.begin() + static_cast<std::ptrdiff_t>(begin), value.end(), [](char byte) {
      return byte == '"' || byte == '\\' || static_cast<unsigned char>(byte) < 0x20;
    });
    const auto position = static_cast<std::size_t>(special - value.begin());
    text.append(value.substr(begin, position - begin));
    if (special == value.end()) break;
    switch (*special) {
      case '"':
        text.append("\\\"");
        break;
      case '\\':
        text.append("\\\\");
        break;
      case '\n':
        text.append("\\n");
        break;
      case '\t':
        text.append("\\t");
        break;
      case '\r':
        text.append("\\r");
        break;
      default:
        text.append(fmt::format("\\u{:04x}", static_cast<unsigned>(*special)));
    }
    begin = position + 1;
  }
  text.append('"');
}

}  // namespace

void byte_buffer::grow(std::size_t bytes) {
  constexpr std::size_t smallest = 4096;
  const std::size_t capacity = std::max({smallest, 2 * capacity_, size_ + bytes});
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
  memory_ = std::move(larger);
  capacity_ = capacity;
}

void byte_buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  size_ += bytes.size();
}

delimited_formatter::delimited_formatter(const relation_rows& rows, const storage::symbol_table& symbols,
                                         std::string delimiter, bool rfc4180, bool headers)
    : rows_(rows), symbols_(symbols), delimiter_(std::move(delimiter)), rfc4180_(rfc4180), headers_(headers) {
  check_kinds(rows);
}

std::string delimited_formatter::beginning() const {
  if (!headers_ || rows_.attribute_names.empty()) return {};
  return fmt::format("{}\n", fmt::join(rows_.attribute_names, delimiter_));
}

void delimited_formatter::append_symbol(byte_buffer& text, word id) const {
  const std::string_view symbol = symbols_.text(id);
  if (!rfc4180_) {
    text.append(symbol);
    return;
  }
  text.append('"');
  for (std::size_t begin = 0;;) {
    const std::size_t quote = symbol.find('"', begin);
    text.append(symbol.substr(begin, quote - begin));
    if (quote == std::string_view::npos) break;
    text.append("\"\"");
    begin = quote + 1;
  }
  text.append('"');
}

void delimited_formatter::append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const {
  const std::size_t arity = rows_.columns.size();
  if (arity == 0) {
    for (std::uint64_t row = first; row < last; ++row) text.append("()\n");
    return;
  }
  const std::size_t room = longest_number + delimiter_.size() + 1;
  const char tab_or_other = delimiter_[0];
  for (std::uint64_t row = first; row < last; ++row) {
    for (std::size_t column = 0; column < arity; ++column) {
      const word value = rows_.columns[column][row];
      if (rows_.kinds[column] == value_kind::symbol) append_symbol(text, value);
      char* at = text.reserve(room);
      if (rows_.kinds[column] != value_kind::symbol) at = print_value(at, value, rows_.kinds[column]);
      if (column + 1 == arity) {
        *at++ = '\n';
      } else if (delimiter_.size() == 1) {
        *at++ = tab_or_other;
      } else {
        at = std::copy(delimiter_.begin(), delimiter_.end(), at);
      }
      text.advance_to(at);
    }
  }
}

json_formatter::json_formatter(const relation_rows& rows, const storage::symbol_table& symbols, bool objects)
    : rows_(rows), symbols_(symbols), objects_(objects) {
  check_kinds(rows);
  for (std::size_t column = 0; column < rows.columns.size(); ++column) {
    byte_buffer text;
    text.append(column == 0 ? "" : ", ");
    if (objects) {
      append_json_string(text, rows.attribute_names.at(column));
      text.append(": ");
    }
    before_value_.emplace_back(text.bytes());
  }
}

void json_formatter::append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const {
  for (std::uint64_t row = first; row < last; ++row) {
    if (row > 0) text.append(",\n");
    text.append(objects_ ? '{' : '[');
    for (std::size_t column = 0; column < rows_.columns.size(); ++column) {
      text.append(before_value_[column]);
      const word value = rows_.columns[column][row];
      const value_kind kind = rows_.kinds[column];
      if (kind == value_kind::symbol) {
        append_json_string(text, symbols_.text(value));
      } else if (kind == value_kind::floating && !std::isfinite(std::bit_cast<floating_word>(value))) {
        text.append("null");  // JSON has no other way to say it
      } else {
        text.advance_to(print_value(text.reserve(longest_number), value, kind));
      }
    }
    text.append(objects_ ? '}' : ']');
  }
}

}  // namespace gpulog::io
