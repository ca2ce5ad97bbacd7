#include "io/row_formatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "io/formats/text/row_layout.hpp"
#include "io/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

void check_kinds(const relation_rows& rows) {
  for (const value_kind kind : rows.kinds) {
    ensure(!is_structured(kind) || rows.structured.records != nullptr, "records are written from a table");
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

void delimited_formatter::append_symbol(byte_buffer& text, word id) const { append_text(text, symbols_.text(id)); }

void delimited_formatter::append_text(byte_buffer& text, std::string_view symbol) const {
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
  const row_window window(rows_, first, last);
  for (std::uint64_t row = first; row < last; ++row) {
    for (std::size_t column = 0; column < arity; ++column) {
      const word value = window.at(column, row);
      const value_kind kind = rows_.kinds[column];
      if (kind == value_kind::symbol) append_symbol(text, value);
      if (is_structured(kind)) {
        std::string structured;
        append_structured(structured, value, rows_.structured.type_of(column, kind), rows_.structured, rfc4180_,
                          symbols_);
        append_text(text, structured);
      }
      char* at = text.reserve(room);
      if (kind != value_kind::symbol && !is_structured(kind)) at = print_value(at, value, kind, rows_.structured.wide);
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
  const row_window window(rows_, first, last);
  for (std::uint64_t row = first; row < last; ++row) {
    if (row > 0) text.append(",\n");
    text.append(objects_ ? '{' : '[');
    for (std::size_t column = 0; column < rows_.columns.size(); ++column) {
      text.append(before_value_[column]);
      const word value = window.at(column, row);
      append_value(text, value, rows_.structured.type_of(column, rows_.kinds[column]));
    }
    text.append(objects_ ? '}' : ']');
  }
}

/// Without recursion: a list may be millions of records long.
void json_formatter::append_value(byte_buffer& text, word value, const value_type& type) const {
  struct open_record {
    const std::vector<field_type>* fields;
    const word* values;
    std::size_t next;
  };
  std::vector<open_record> open;
  const auto begin = [&](word begun, const value_type& of) {
    if (of.kind != value_kind::record) return append_plain_value(text, begun, of);
    const std::vector<field_type>& fields = (*rows_.structured.types)[of.structure.value].fields;
    const storage::record_table& table = (*rows_.structured.records)[static_cast<std::uint32_t>(fields.size())];
    if (!table.has(begun)) return text.append("null");
    text.append(objects_ ? '{' : '[');
    open.push_back({&fields, table.fields(begun), 0});
  };
  begin(value, type);
  while (!open.empty()) {
    open_record& innermost = open.back();
    if (innermost.next == innermost.fields->size()) {
      text.append(objects_ ? '}' : ']');
      open.pop_back();
      continue;
    }
    if (innermost.next > 0) text.append(", ");
    const std::size_t number = innermost.next++;
    const field_type& field = (*innermost.fields)[number];
    if (objects_) {
      append_json_string(text, field.name);
      text.append(": ");
    }
    begin(innermost.values[number], field.type);
  }
}

void json_formatter::append_plain_value(byte_buffer& text, word value, const value_type& type) const {
  if (type.kind == value_kind::symbol) {
    append_json_string(text, symbols_.text(value));
  } else if (type.kind == value_kind::adt) {
    std::string structured;
    append_structured(structured, value, type, rows_.structured, true, symbols_);
    append_json_string(text, structured);
  } else if (type.kind == value_kind::floating && !std::isfinite(real_value(value, rows_.structured.wide))) {
    text.append("null");  // JSON has no other way to say it
  } else {
    text.advance_to(print_value(text.reserve(longest_number), value, type.kind, rows_.structured.wide));
  }
}

}  // namespace gpulog::io
