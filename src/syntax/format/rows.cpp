#include "syntax/format/rows.hpp"

#include <algorithm>
#include <utility>

#include "syntax/format/layout.hpp"

namespace gpulog::syntax {

namespace {

bool contains_line_end(std::string_view text) { return text.find('\n') != std::string_view::npos; }

class row_builder {
 public:
  row_builder(const format_pieces& pieces, std::string_view newline) : pieces_(pieces), newline_(newline) {}

  std::vector<format_row> run() {
    const std::vector<format_item> items = items_of(pieces_);
    rows_.reserve(items.size() + pieces_.comments.size());
    for (const format_item& item : items) {
      comments(pieces_.tokens[item.begin]);
      place(item);
    }
    comments(pieces_.tokens.back());
    return std::move(rows_);
  }

 private:
  [[nodiscard]] const format_token& token(std::size_t number) const { return pieces_.tokens[number]; }

  /// Adds the comments before a token: to the row before, or as rows.
  void comments(const format_token& next) {
    bool may_join = !rows_.empty();
    for (std::uint32_t number = next.comments_begin; number < next.comments_end; ++number) {
      const format_comment& comment = pieces_.comments[number];
      if (comment.begin < copied_) continue;
      may_join = may_join && comment.lines_before == 0 && comment.what != format_comment::kind::directive;
      if (may_join) {
        join(comment);
        may_join = comment.what != format_comment::kind::line;
      } else {
        format_row& row = add(comment.begin, comment.lines_before);
        row.end = comment.end;
        row.text = text_of(comment);
        row.has_several_lines = comment.has_several_lines;
        if (comment.what == format_comment::kind::directive) row.indent = 0;
      }
    }
    // `/* text */ item`: the item completes the row of the comment.
    has_comments_ = next.comments_begin < next.comments_end;
    is_prefixed_ = has_comments_ && !may_join && next.lines_before == 0 &&
                   pieces_.comments[next.comments_end - 1].what == format_comment::kind::block;
  }

  void join(const format_comment& comment) {
    format_row& row = rows_.back();
    const std::string text = text_of(comment);
    if (row.comment.empty()) {
      row.comment_column = column_of(comment.begin);
      row.comment = text;
    } else {
      row.comment += ' ' + text;
    }
    row.has_several_lines = row.has_several_lines || comment.has_several_lines;
    row.end = std::max(row.end, comment.end);
  }

  /// The column of a place in the file; in a very long line, a number that no other place has.
  [[nodiscard]] std::size_t column_of(std::size_t place) const {
    constexpr std::size_t longest_line = 10 * format_columns;
    const std::size_t before = std::min(place, longest_line);
    const std::string_view text = pieces_.text.substr(place - before, before);
    const std::size_t line_end = text.rfind('\n');
    if (line_end == std::string_view::npos && before < place) return place;
    return columns_of(text.substr(line_end + 1));  // npos + 1 is 0
  }

  /// The text with the line ends of the file.
  [[nodiscard]] std::string text_of(const format_comment& comment) const {
    const std::string_view text = pieces_.text_of(comment);
    if (!comment.has_several_lines) return std::string(text);
    std::string result;
    std::size_t copied = 0;
    for (std::size_t end = 0; (end = text.find('\n', copied)) != std::string_view::npos; copied = end + 1) {
      const std::string_view line = text.substr(copied, end - copied);
      result += line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
      result += newline_;
    }
    result += text.substr(copied);
    return result;
  }

  format_row& add(std::size_t begin, std::uint32_t lines_before) {
    const bool may_have_blank = !rows_.empty() && !opens_block_;
    opens_block_ = false;
    format_row& row = rows_.emplace_back();
    row.begin = begin;
    row.indent = depth_ * format_indentation;
    row.has_blank_before = may_have_blank && lines_before > 1;
    return row;
  }

  void place(const format_item& item) {
    const format_token& first = token(item.begin);
    const std::size_t end = token(item.end - 1).end;
    if (item.what == format_item::kind::block_close) {
      const bool is_empty = opens_block_ && !has_comments_;
      if (depth_ > 0) --depth_;
      if (is_empty) {
        rows_.back().text += '}';
      } else {
        add(first.begin, 0).text = "}";
      }
      rows_.back().end = end;
      opens_block_ = false;
      return;
    }
    std::string text = layout_of(pieces_, item, depth_ * format_indentation, newline_, layouts_);
    const std::size_t length = text.size();
    const bool has_several_lines = contains_line_end(text);
    const bool is_row_of_fact = item.is_fact() && !has_several_lines && !has_inner_comments(item);
    if (is_prefixed_) {
      rows_.back().text += ' ' + text;
    } else if (is_row_of_fact && continues_row(first, text)) {
      rows_.back().cells.push_back(rows_.back().text.size());
      rows_.back().text += ' ' + text;
    } else {
      add(first.begin, first.lines_before).text = std::move(text);
    }
    format_row& row = rows_.back();
    if (is_row_of_fact && !is_prefixed_) add_fact(row, item, row.text.size() - length);
    row.end = end;
    if (item.stays) copied_ = end;
    row.has_several_lines = row.has_several_lines || has_several_lines;
    if (item.what == format_item::kind::block_open) {
      ++depth_;
      opens_block_ = true;
    }
  }

  [[nodiscard]] bool has_inner_comments(const format_item& item) const {
    return item.end > item.begin + 1 && token(item.begin + 1).comments_begin != token(item.end - 1).comments_end;
  }

  /// Whether a fact stays on the line of the facts before it.
  [[nodiscard]] bool continues_row(const format_token& first, std::string_view text) const {
    if (rows_.empty() || rows_.back().facts.empty() || has_comments_ || first.is_on_new_line) return false;
    const format_row& row = rows_.back();
    return row.indent + columns_of(row.text) + 1 + columns_of(text) <= format_columns;
  }

  /// @param begin of the fact in the text of the row
  void add_fact(format_row& row, const format_item& item, std::size_t begin) const {
    const std::size_t facts_before = row.facts.size();
    format_row::fact fact{pieces_.text_of(token(item.begin)), 0};
    std::size_t depth = 0, column = begin;
    for (std::size_t number = item.begin; number < item.end; ++number) {
      const format_token& here = token(number);
      column = row.text.find(pieces_.text_of(here), column) + (here.end - here.begin);
      if (here.kind == token_kind::comma && depth == 1) {
        row.cells.push_back(column);
        ++fact.arguments;
      }
      if (is_opening_bracket(here.kind)) ++depth;
      if (is_closing_bracket(here.kind)) --depth;
      if (number > item.begin || facts_before > 0) row.is_padded = row.is_padded || is_padded(number);
    }
    row.facts.push_back(fact);
  }

  /// Whether several blanks precede the token on its line.
  [[nodiscard]] bool is_padded(std::size_t number) const {
    const format_token& here = token(number);
    if (here.comments_begin != here.comments_end || here.is_on_new_line) return false;
    const std::string_view gap = pieces_.text.substr(token(number - 1).end, here.begin - token(number - 1).end);
    return gap.size() > 1 || gap == "\t";
  }

  const format_pieces& pieces_;
  std::string_view newline_;
  std::vector<format_row> rows_;
  std::size_t depth_ = 0;   ///< of components
  std::size_t copied_ = 0;  ///< end of the last item that stays as it is, with its comments
  layout_memory layouts_;
  bool opens_block_ = false;  ///< whether the last row opens a component
  bool is_prefixed_ = false, has_comments_ = false;
};

/// Whether the second row continues the columns of the first row.
bool has_same_columns(const format_row& first, const format_row& second) {
  if (second.has_blank_before || first.indent != second.indent || first.facts.empty() || second.facts.empty())
    return false;
  const auto count = static_cast<std::ptrdiff_t>(std::min(first.facts.size(), second.facts.size()));
  return std::equal(first.facts.begin(), first.facts.begin() + count, second.facts.begin());
}

/// The width of each cell of a row.
std::vector<std::size_t> widths_of(const format_row& row) {
  std::vector<std::size_t> result;
  std::size_t begin = 0;
  for (const std::size_t end : row.cells) {
    result.push_back(columns_of(std::string_view(row.text).substr(begin, end - begin)));
    begin = end;
  }
  return result;
}

/// Pads the cells of rows [begin, end), unless a line would become too long.
void align_facts(std::vector<format_row>& rows, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> widths;
  for (std::size_t row = begin; row < end; ++row) {
    const std::vector<std::size_t> own = widths_of(rows[row]);
    widths.resize(std::max(widths.size(), own.size()));
    for (std::size_t cell = 0; cell < own.size(); ++cell) widths[cell] = std::max(widths[cell], own[cell]);
  }
  std::vector<std::string> texts;
  for (std::size_t row = begin; row < end; ++row) {
    const std::vector<std::size_t> own = widths_of(rows[row]);
    std::string& text = texts.emplace_back();
    std::size_t copied = 0;
    for (std::size_t cell = 0; cell < own.size(); ++cell) {
      text.append(rows[row].text, copied, rows[row].cells[cell] - copied);
      text.append(widths[cell] - own[cell], ' ');
      copied = rows[row].cells[cell];
    }
    text.append(rows[row].text, copied);
    if (rows[row].indent + columns_of(text) > format_columns) return;
  }
  for (std::size_t row = begin; row < end; ++row) rows[row].text = std::move(texts[row - begin]);
}

void align_all_facts(std::vector<format_row>& rows) {
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    bool is_padded = rows[begin].is_padded;
    for (end = begin + 1; end < rows.size() && has_same_columns(rows[end - 1], rows[end]); ++end) {
      is_padded = is_padded || rows[end].is_padded;
    }
    if (is_padded) align_facts(rows, begin, end);
  }
}

/// Aligns comments of adjacent rows that the file has in one column.
void align_comments(std::vector<format_row>& rows) {
  constexpr std::size_t distance = 2;
  const auto is_aligned = [](const format_row& row) { return !row.comment.empty() && !row.has_several_lines; };
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    end = begin + 1;
    if (!is_aligned(rows[begin])) continue;
    while (end < rows.size() && is_aligned(rows[end]) && rows[end].comment_column == rows[begin].comment_column &&
           !rows[end].has_blank_before) {
      ++end;
    }
    std::size_t column = 0;
    for (std::size_t row = begin; row < end; ++row) {
      column = std::max(column, rows[row].indent + columns_of(rows[row].text) + distance);
    }
    for (std::size_t row = begin; row < end; ++row) {
      rows[row].text.append(column - distance - rows[row].indent - columns_of(rows[row].text), ' ');
    }
  }
}

}  // namespace

std::vector<format_row> rows_of(const format_pieces& pieces, std::string_view newline) {
  std::vector<format_row> rows = row_builder(pieces, newline).run();
  align_all_facts(rows);
  align_comments(rows);
  return rows;
}

}  // namespace gpulog::syntax
