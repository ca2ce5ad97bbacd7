#include "syntax/format/format.hpp"

#include <algorithm>
#include <utility>

#include "syntax/format/pieces.hpp"
#include "syntax/format/rows.hpp"
#include "syntax/lexer.hpp"
#include "syntax/mapped_text.hpp"
#include "syntax/preprocessor.hpp"

namespace gpulog::syntax {

namespace {

std::string_view newline_of(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

void append_row(std::string& out, const format_row& row, std::string_view newline) {
  if (row.has_blank_before) out += newline;
  out.append(row.indent, ' ');
  out += row.text;
  if (!row.comment.empty()) out += "  " + row.comment;
  out += newline;
}

/// Returns the number of bytes of the lines with which both texts begin.
std::size_t common_first_lines(std::string_view first, std::string_view second) {
  const std::size_t least = std::min(first.size(), second.size());
  const auto differ = std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(least), second.begin());
  const auto equal = static_cast<std::size_t>(differ.first - first.begin());
  const std::size_t line_end = equal == 0 ? std::string_view::npos : first.rfind('\n', equal - 1);
  return line_end == std::string_view::npos ? 0 : line_end + 1;
}

/// Returns the number of bytes of the lines with which both texts end.
std::size_t common_last_lines(std::string_view first, std::string_view second) {
  const std::size_t least = std::min(first.size(), second.size());
  const auto differ =
      std::mismatch(first.rbegin(), first.rbegin() + static_cast<std::ptrdiff_t>(least), second.rbegin());
  const auto equal = static_cast<std::size_t>(differ.first - first.rbegin());
  const std::size_t line_end = first.find('\n', first.size() - equal);
  return line_end == std::string_view::npos ? 0 : first.size() - line_end - 1;
}

/// Collects edits from pieces of the file and their formatted texts.
class edit_collector {
 public:
  edit_collector(const source_file& file, const line_range& lines) : file_(file), lines_(lines) {}

  /// Adds the text for bytes [begin, end), which are whole lines.
  void add(std::size_t begin, std::size_t end, std::string_view text) {
    const std::string_view old = file_.text().substr(begin, end - begin);
    if (old == text || !is_in_range(begin, end)) return;
    const std::size_t first = common_first_lines(old, text);
    const std::size_t last = common_last_lines(old.substr(first), text.substr(first));
    edits_.push_back({begin + first, end - last, std::string(text.substr(first, text.size() - last - first))});
  }

  std::vector<text_edit> take() { return std::move(edits_); }

 private:
  [[nodiscard]] bool is_in_range(std::size_t begin, std::size_t end) const {
    if (lines_.first <= 1 && lines_.last >= file_.line_count()) return true;
    const auto line_of = [this](std::size_t offset) { return file_.physical_line(static_cast<std::uint32_t>(offset)); };
    return line_of(begin) <= lines_.last && line_of(end > begin ? end - 1 : end) >= lines_.first;
  }

  const source_file& file_;
  const line_range& lines_;
  std::vector<text_edit> edits_;
};

std::vector<text_edit> edits_of(const source_file& file, const format_pieces& pieces, const line_range& lines) {
  const std::string_view text = file.text();
  const std::string_view newline = newline_of(text);
  const std::vector<format_row> rows = rows_of(pieces, newline);
  edit_collector edits(file, lines);
  std::size_t begin = 0;
  std::string formatted(text.starts_with(byte_order_mark) ? byte_order_mark : "");
  std::size_t line_end = 0;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    append_row(formatted, rows[number], newline);
    if (line_end < rows[number].end || number == 0) line_end = std::min(text.find('\n', rows[number].end), text.size());
    if (line_end == text.size()) continue;
    if (number + 1 < rows.size() && line_end >= rows[number + 1].begin) continue;
    edits.add(begin, line_end + 1, formatted);
    formatted.clear();
    begin = line_end + 1;
  }
  edits.add(begin, text.size(), formatted);
  return edits.take();
}

/// Whether a file without macros has these tokens.
bool has_tokens(const source_file& file, const format_pieces& pieces) {
  const mapped_text text(file);
  diagnostics ignored;
  lexer tokens(text, ignored, nullptr, {});
  return std::all_of(pieces.tokens.begin(), pieces.tokens.end(), [&](const format_token& each) {
    token next = tokens.next();
    while (is_aside(next.kind)) next = tokens.next();
    const bool is_end = next.kind == token_kind::end_of_file;
    return next.kind == each.kind &&
           (is_end || file.text().substr(next.span.begin, next.span.end - next.span.begin) == pieces.text_of(each));
  });
}

bool has_tree(source_file& file, source_manager& sources, const parse_options& options, const program& wanted) {
  diagnostics report;
  const program tree = parse(file, sources, report, options);
  return !report.has_errors() && tree == wanted;
}

}  // namespace

std::vector<text_edit> format_edits(const source_file& file, const line_range& lines) {
  return edits_of(file, pieces_of(file), lines);
}

std::string apply_edits(std::string_view text, const std::vector<text_edit>& edits) {
  std::string result;
  std::size_t copied = 0;
  for (const text_edit& edit : edits) {
    result += text.substr(copied, edit.begin - copied);
    result += edit.text;
    copied = edit.end;
  }
  result += text.substr(copied);
  return result;
}

std::vector<text_edit> format_program(source_file& file, source_manager& sources, diagnostics& report,
                                      const parse_options& options, const line_range& lines) {
  parse_options isolated = options;
  isolated.isolated = true;
  const bool has_macros = needs_preprocessing(file, isolated);
  std::vector<token_place> tokens;
  if (!has_macros) {
    isolated.keeps_items = false;  // equal tokens have equal trees
    isolated.tokens = &tokens;
    tokens.reserve(file.text().size() / fewest_bytes_per_token + 1);
  }
  const program before = parse(file, sources, report, isolated);
  if (report.has_errors()) return {};
  const format_pieces pieces = has_macros ? pieces_of(file) : pieces_of(file, tokens);
  std::vector<text_edit> edits = edits_of(file, pieces, lines);
  if (edits.empty()) return edits;
  source_manager other_sources;
  source_file& formatted = other_sources.add(file.path(), apply_edits(file.text(), edits));
  formatted.set_full_path(file.full_path());
  const bool is_equal =
      has_macros ? has_tree(formatted, other_sources, isolated, before) : has_tokens(formatted, pieces);
  if (is_equal) return edits;
  report.error("the formatted text of " + file.path() +
               " would have another syntax tree, as with #if __LINE__ > 9; the file stays unchanged");
  return {};
}

}  // namespace gpulog::syntax
