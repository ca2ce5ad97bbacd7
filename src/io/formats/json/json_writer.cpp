#include "io/formats/json/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "io/directive_parameters.hpp"
#include "io/row_writing.hpp"
#include "io/values/utf8.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// JSON is UTF-8. A byte outside of any UTF-8 character is written as half of a surrogate pair, \udc80 to \udcff, which
/// no character contains, so the reader restores the byte.
constexpr unsigned half_of_byte = 0xdc00;

/// Returns the position of the first byte from `begin` on that needs an escape in a JSON string.
std::size_t special_byte(std::string_view value, std::size_t begin) {
  for (std::size_t at = begin; at < value.size();) {
    const auto byte = static_cast<unsigned char>(value[at]);
    if (byte == '"' || byte == '\\' || byte < 0x20) return at;
    const std::size_t size = byte < 0x80 ? 1 : utf8_character(value.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return value.size();
}

void append_json_string(byte_buffer& text, std::string_view value) {
  text.append('"');
  for (std::size_t begin = 0;;) {
    const std::size_t position = special_byte(value, begin);
    text.append(value.substr(begin, position - begin));
    if (position == value.size()) break;
    const auto byte = static_cast<unsigned char>(value[position]);
    switch (byte) {
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
        text.append(fmt::format("\\u{:04x}", byte < 0x80 ? byte : half_of_byte + byte));
    }
    begin = position + 1;
  }
  text.append('"');
}

/// A JSON list of lists, or of objects.
class json_formatter : public row_formatter {
 public:
  json_formatter(const relation_rows& rows, const storage::symbol_table& symbols, bool objects);
  [[nodiscard]] std::string beginning() const override { return "["; }
  [[nodiscard]] std::string end() const override { return "]\n"; }
  void append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const override;

 private:
  /// A record with its opening bracket written.
  struct open_record {
    const std::vector<field_type>* fields;
    const word* values;
    std::size_t next;
  };
  /// Buffers that all values of a window share.
  struct scratch {
    explicit scratch(backend::memory_resource& memory) : open(memory), branch(memory) {}
    backend::array<open_record> open;
    byte_buffer branch;
  };

  void append_value(byte_buffer& text, word value, const value_type& type, scratch& own) const;
  void append_plain_value(byte_buffer& text, word value, const value_type& type, scratch& own) const;

  const relation_rows& rows_;
  const storage::symbol_table& symbols_;
  bool objects_;
  /// The text before each value: a separator and, in objects, the attribute's name.
  std::vector<std::string> before_value_;
};

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
  scratch own(text.memory());
  for (std::uint64_t row = first; row < last; ++row) {
    if (row > 0) text.append(",\n");
    text.append(objects_ ? '{' : '[');
    for (std::size_t column = 0; column < rows_.columns.size(); ++column) {
      text.append(before_value_[column]);
      const word value = window.at(column, row);
      append_value(text, value, rows_.structured.type_of(column, rows_.kinds[column]), own);
    }
    text.append(objects_ ? '}' : ']');
  }
}

/// Iterative: a list may have millions of records.
void json_formatter::append_value(byte_buffer& text, word value, const value_type& type, scratch& own) const {
  const std::size_t first = text.size();
  backend::array<open_record>& open = own.open;
  open.resize(0);
  const auto begin = [&](word begun, const value_type& of) {
    if (of.kind != value_kind::record) return append_plain_value(text, begun, of, own);
    const std::vector<field_type>& fields = (*rows_.structured.types)[of.structure.value].fields;
    const storage::record_table& table = (*rows_.structured.records)[static_cast<std::uint32_t>(fields.size())];
    if (!table.has(begun)) return text.append("null");
    text.append(objects_ ? '{' : '[');
    open.push_back({&fields, table.fields(begun), 0});
  };
  begin(value, type);
  while (open.size() > 0) {
    open_record& innermost = open[open.size() - 1];
    if (innermost.next == innermost.fields->size()) {
      text.append(objects_ ? '}' : ']');
      open.resize(open.size() - 1);
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
    limit_value_text(text, first);
  }
}

void json_formatter::append_plain_value(byte_buffer& text, word value, const value_type& type, scratch& own) const {
  if (type.kind == value_kind::symbol) {
    append_json_string(text, symbols_.text(value));
  } else if (type.kind == value_kind::adt) {
    own.branch.clear();
    structured_printer(own.branch, rows_.structured, true, symbols_).print(value, type);
    append_json_string(text, own.branch.bytes());
  } else if (type.kind == value_kind::floating && !std::isfinite(real_value(value, rows_.structured.wide))) {
    // JSON has no infinity and no NaN. A text keeps the file valid, and the reader accepts the text in a column of
    // floats.
    text.append('"');
    text.advance_to(print_value(text.reserve(longest_number), value, type.kind, rows_.structured.wide));
    text.append('"');
  } else {
    text.advance_to(print_value(text.reserve(longest_number), value, type.kind, rows_.structured.wide));
  }
}

json_formatter json_of(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols) {
  return {rows, symbols, directive_parameters(request.parameters).text("format", "list") == "object"};
}

}  // namespace

void write_json_file(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                     output_files& files) {
  write_rows(rows, request, json_of(rows, request, symbols), compression::none, files);
}

void print_as_json(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& /*files*/) {
  print_rows(rows, json_of(rows, request, symbols), request.threads);
}

}  // namespace gpulog::io
