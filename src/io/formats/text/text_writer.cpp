#include "io/formats/text/text_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/directive_parameters.hpp"
#include "io/formats/text/row_layout.hpp"
#include "io/row_writing.hpp"
#include "io/values/value_text.hpp"

namespace gpulog::io {
namespace {

/// Lines of values, separated by a delimiter.
class delimited_formatter : public row_formatter {
 public:
  delimited_formatter(const relation_rows& rows, const storage::symbol_table& symbols, std::string delimiter,
                      bool rfc4180, bool headers);
  [[nodiscard]] std::string beginning() const override;
  [[nodiscard]] std::string end() const override { return {}; }
  void append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const override;

 private:
  void append_symbol(byte_buffer& text, word id) const;
  void append_text(byte_buffer& text, std::string_view symbol) const;

  const relation_rows& rows_;
  const storage::symbol_table& symbols_;
  std::string delimiter_;
  bool rfc4180_;
  bool headers_;
};

delimited_formatter::delimited_formatter(const relation_rows& rows, const storage::symbol_table& symbols,
                                         std::string delimiter, bool rfc4180, bool headers)
    : rows_(rows), symbols_(symbols), delimiter_(std::move(delimiter)), rfc4180_(rfc4180), headers_(headers) {
  check_kinds(rows);
}

std::string delimited_formatter::beginning() const {
  if (!headers_) return {};  // without columns: an empty line, as in Soufflé
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
  // Values with quotes to double are formatted in a buffer first, all others in place.
  byte_buffer quoted(text.memory());
  structured_printer printer(rfc4180_ ? quoted : text, rows_.structured, rfc4180_, symbols_);
  for (std::uint64_t row = first; row < last; ++row) {
    for (std::size_t column = 0; column < arity; ++column) {
      const word value = window.at(column, row);
      const value_kind kind = rows_.kinds[column];
      if (kind == value_kind::symbol) append_symbol(text, value);
      if (is_structured(kind)) {
        quoted.clear();
        printer.print(value, rows_.structured.type_of(column, kind));
        if (rfc4180_) append_text(text, quoted.bytes());
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

/// Lines on standard output, framed by the relation's name.
class framed_formatter : public row_formatter {
 public:
  framed_formatter(const row_formatter& lines, const std::string& relation) : lines_(lines), relation_(relation) {}
  [[nodiscard]] std::string beginning() const override {
    return fmt::format("---------------\n{}\n{}===============\n", relation_, lines_.beginning());
  }
  [[nodiscard]] std::string end() const override { return "===============\n"; }
  void append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const override {
    lines_.append_rows(text, first, last);
  }

 private:
  const row_formatter& lines_;
  const std::string& relation_;
};

delimited_formatter lines_of(const relation_rows& rows, const write_request& request,
                             const storage::symbol_table& symbols, bool headers) {
  const directive_parameters parameters(request.parameters);
  const bool rfc4180 = parameters.flag("rfc4180");
  return {rows, symbols, parameters.delimiter(rfc4180), rfc4180, headers};
}

}  // namespace

void check_text(const std::string& /*relation*/, const write_request& request) {
  const directive_parameters parameters(request.parameters);
  (void)parameters.delimiter(parameters.flag("rfc4180"));
}

void write_text_file(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                     output_files& files) {
  const directive_parameters parameters(request.parameters);
  write_rows(rows, request, lines_of(rows, request, symbols, parameters.flag("headers")),
             output_compression(parameters), files);
}

void print_as_text(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& /*files*/) {
  const directive_parameters parameters(request.parameters);
  const delimited_formatter lines =
      lines_of(rows, request, symbols, request.output_directory == "-" || parameters.flag("headers"));
  if (parameters.text("framed", "true") == "false") {
    print_rows(rows, lines, request.threads);
  } else {
    print_rows(rows, framed_formatter(lines, rows.relation), request.threads);
  }
}

}  // namespace gpulog::io
