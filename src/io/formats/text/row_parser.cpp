#include "io/formats/text/row_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/facts_reader.hpp"
#include "io/symbol_queue.hpp"
#include "io/values/number_text.hpp"
#include "io/values/value_text.hpp"

namespace gpulog::io {
namespace {

const char* find_byte(const char* from, const char* to, char byte) {
  if (from >= to) return nullptr;
  return static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(to - from)));
}

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

std::uint64_t count_line_breaks(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// ---- Where a value ends ----

class single_character_delimiter {
 public:
  explicit single_character_delimiter(const std::string& delimiter) : character_(delimiter[0]) {}
  [[nodiscard]] const char* find(const char* from, const char* to) const {
    const char* found = find_byte(from, to, character_);
    return found == nullptr ? to : found;
  }
  [[nodiscard]] std::size_t size() const { return 1; }

 private:
  char character_;
};

class character_sequence_delimiter {
 public:
  explicit character_sequence_delimiter(const std::string& delimiter) : characters_(delimiter) {}
  [[nodiscard]] const char* find(const char* from, const char* to) const {
    return from + std::min(between(from, to).find(characters_), static_cast<std::size_t>(to - from));
  }
  [[nodiscard]] std::size_t size() const { return characters_.size(); }

 private:
  std::string_view characters_;
};

/// A delimiter with a comma, which also separates the fields of records: ignored inside brackets, and inside
/// parentheses if the relation has algebraic data types.
class delimiter_outside_brackets {
 public:
  delimiter_outside_brackets(const std::string& delimiter, bool parentheses)
      : characters_(delimiter), parentheses_(parentheses) {}
  /// Returns nullptr for unmatched brackets.
  [[nodiscard]] const char* find(const char* from, const char* to) const {
    std::size_t depth = 0;
    for (const char* at = from; at < to; ++at) {
      if (*at == '[' || (parentheses_ && *at == '(')) {
        ++depth;
      } else if (*at == ']' || (parentheses_ && *at == ')')) {
        if (depth == 0) return nullptr;
        --depth;
      } else if (depth == 0 && *at == characters_[0] && between(at, to).starts_with(characters_)) {
        return at;
      }
    }
    return depth == 0 ? to : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return characters_.size(); }

 private:
  std::string_view characters_;
  bool parentheses_;
};

// ---- Values ----

bool is_number(value_kind kind) { return kind == value_kind::number || kind == value_kind::unsigned_number; }

std::string missing_problem(std::uint64_t line) { return fmt::format("Values missing in line {}", line); }

bool begins_name(std::string_view value) {
  return !value.empty() && ((value[0] >= 'a' && value[0] <= 'z') || (value[0] >= 'A' && value[0] <= 'Z'));
}

/// Suggests another delimiter that occurs in the line as often as the columns require.
std::string hint_about_delimiter(std::string_view line, std::size_t columns, const std::string& delimiter) {
  if (columns < 2 || line.find(delimiter) != std::string_view::npos) return {};
  for (const char other : {'\t', ',', ';', '|', ' '}) {
    if (static_cast<std::size_t>(std::count(line.begin(), line.end(), other)) + 1 != columns) continue;
    const std::string expected = delimiter == "\t" ? "a tab" : fmt::format("\"{}\"", delimiter);
    const std::string found = other == '\t' ? "\\t" : std::string(1, other);
    return fmt::format("Columns are separated by {} here; delimiter=\"{}\" may be meant", expected, found);
  }
  return {};
}

/// Parses the text of a piece; the values of faulty rows are undefined.
template <class Interner>
class piece_parser {
 public:
  piece_parser(const text_piece& piece, const row_layout& layout, const std::vector<word*>& columns, Interner interner)
      : layout_(layout),
        columns_(columns),
        symbols_(interner),
        text_(piece.text),
        at_(piece.text.data()),
        end_(piece.text.data() + piece.text.size()),
        line_(piece.first_line),
        unquoted_(*layout.memory),
        previous_(layout.columns.size()) {}

  row_problems parse() {
    parse_text();
    symbols_.flush();
    return std::move(problems_);
  }

 private:
  void parse_text() {
    // A nullary relation has a row per line, whatever the line contains.
    if (layout_.arity == 0) return;
    if (layout_.rfc4180) return parse_quoted_rows();
    const std::string& delimiter = layout_.delimiter;
    if (delimiter.find(',') != std::string::npos) {
      const bool has_branches = std::any_of(layout_.columns.begin(), layout_.columns.end(),
                                            [](const auto& column) { return column.kind == value_kind::adt; });
      return parse_lines(delimiter_outside_brackets(delimiter, has_branches));
    }
    if (delimiter.size() > 1) return parse_lines(character_sequence_delimiter(delimiter));
    const bool usual = delimiter[0] != '-' && (delimiter[0] < '0' || delimiter[0] > '9');
    const bool all_numbers =
        usual && std::all_of(layout_.columns.begin(), layout_.columns.end(), [](const auto& column) {
          return column.attribute != row_layout::not_read && is_number(column.kind);
        });
    if (all_numbers) parse_number_lines(delimiter[0]);
    return parse_lines(single_character_delimiter(delimiter));
  }

  void report(row_problem problem, const char* place) {
    problems_.add([&] {
      problem.excerpt = excerpt_at(text_, static_cast<std::size_t>(place - text_.data()));
      return std::move(problem);
    });
  }

  void report_conversion(std::string_view value, std::size_t column, std::uint64_t line, std::string hint = {}) {
    row_problem problem = conversion_problem(value, layout_.columns[column].kind, column, fmt::format("line {}", line),
                                             layout_.wide != nullptr);
    if (problem.hint.empty()) problem.hint = std::move(hint);
    if (problem.hint.empty() && line == 1 && begins_name(value)) {
      problem.hint = "If line 1 has the names of the columns, headers=true skips it";
    }
    report(std::move(problem), value.data());
  }

  struct earlier_symbol {
    std::string_view text;
    const word* value = nullptr;
  };

  template <class Delimiter>
  void parse_lines(const Delimiter& delimiter) {
    while (at_ < end_) {
      const char* line_break = find_byte(at_, end_, '\n');
      const char* line_end = line_break == nullptr ? end_ : line_break;
      const char* text_end = line_end > at_ && line_end[-1] == '\r' ? line_end - 1 : line_end;
      parse_line(delimiter, at_, text_end);
      at_ = line_break == nullptr ? end_ : line_break + 1;
      ++line_;
      ++row_;
    }
  }

  /// Reports only the line's first problem.
  template <class Delimiter>
  void parse_line(const Delimiter& delimiter, const char* at, const char* line_end) {
    const std::size_t count = layout_.columns.size();
    const auto hint = [&, line = between(at, line_end)] {
      return hint_about_delimiter(line, count, layout_.delimiter);
    };
    for (std::size_t column = 0; column < count; ++column) {
      const char* value_end = delimiter.find(at, line_end);
      if (value_end == nullptr) return report({fmt::format("Unbalanced record parenthesis in line {}", line_)}, at);
      if (!store(column, between(at, value_end))) {
        return report_conversion(between(at, value_end), column, line_, hint());
      }
      if (value_end == line_end) {
        if (column + 1 < count) report({missing_problem(line_), {}, hint()}, line_end);
        return;
      }
      at = value_end + delimiter.size();
    }
  }

  bool store(std::size_t column, std::string_view text) {
    const row_layout::column& wanted = layout_.columns[column];
    if (wanted.attribute == row_layout::not_read) return true;
    word& value = columns_[wanted.attribute][row_];
    if (is_structured(wanted.kind)) return store_structured(wanted, text, value);
    if (wanted.kind != value_kind::symbol) return parse_value(text, wanted.kind, layout_.wide, value);
    if (wanted.is_unread) {
      value = 0;
      return true;
    }
    earlier_symbol& previous = previous_[column];
    // Facts often repeat the value of the previous line.
    if (previous.value != nullptr && previous.text == text) {
      symbols_.add_same(*previous.value, value);
    } else {
      symbols_.add(text, value);
      previous = {text, &value};
    }
    return true;
  }

  /// The fast path for lines of integers without anything unusual; parse_line handles all other lines.
  void parse_number_lines(char delimiter) {
    const char* last_break = end_;
    while (last_break > at_ && last_break[-1] != '\n') --last_break;
    // Every line up to here ends with a line break, which ends every scan.
    while (at_ < last_break) {
      if (const char* next = parse_number_line(delimiter)) {
        at_ = next;
      } else {
        const char* line_break = find_byte(at_, end_, '\n');
        const char* text_end = line_break > at_ && line_break[-1] == '\r' ? line_break - 1 : line_break;
        parse_line(single_character_delimiter(layout_.delimiter), at_, text_end);
        at_ = line_break + 1;
      }
      ++line_;
      ++row_;
    }
  }

  /// Returns the end of the line, or nullptr if parse_line has to read the line.
  const char* parse_number_line(char delimiter) {
    constexpr std::ptrdiff_t most_digits = 19;  // always below 2^64
    const char* at = at_;
    const std::size_t count = layout_.columns.size();
    for (std::size_t column = 0; column < count; ++column) {
      const row_layout::column& wanted = layout_.columns[column];
      const bool negative = *at == '-' && wanted.kind == value_kind::number;
      at += negative ? 1 : 0;
      std::uint64_t magnitude = 0;
      const char* digits_end = scan_digits(at, magnitude);
      if (digits_end == at || digits_end - at > most_digits) return nullptr;
      at = digits_end;
      const std::uint64_t largest = wanted.kind == value_kind::number ? largest_number_ : largest_unsigned_;
      if (magnitude > largest + (negative ? 1 : 0)) return nullptr;
      columns_[wanted.attribute][row_] = storage::word_of(negative ? 0 - magnitude : magnitude, layout_.wide);
      if (*at == delimiter && column + 1 < count) {
        ++at;
      } else if (column + 1 < count) {
        return nullptr;
      }
    }
    if (*at == '\n') return at + 1;
    if (*at == '\r' && at[1] == '\n') return at + 2;
    if (*at != delimiter) return nullptr;
    return find_byte(at, end_, '\n') + 1;  // skips further columns
  }

  // ---- RFC 4180 ----

  void parse_quoted_rows() {
    while (at_ < end_) {
      if (!parse_quoted_row()) {
        problems_.is_all = false;
        return;
      }
      ++row_;
    }
  }

  /// Parses a row up to the start of the next row; returns false if the end cannot be found.
  bool parse_quoted_row() {
    const std::size_t count = layout_.columns.size();
    for (std::size_t column = 0;; ++column) {
      const std::uint64_t line = line_;
      const char* const begin = at_;
      const bool wanted = column < count;
      if (at_ < end_ && *at_ == '"') {
        bool doubled = false;
        const char* closing = find_closing_quote(at_ + 1, doubled);
        if (closing == nullptr) {
          report({fmt::format("Closing quote missing in column {} in line {}", column + 1, line)}, begin);
          return false;
        }
        const std::string_view text = between(at_ + 1, closing);
        line_ += count_line_breaks(text);
        at_ = closing + 1;
        if (wanted) {
          const bool stored = doubled ? store_unquoted(column, text) : store(column, text);
          if (!stored) report_conversion(text, column, line);
        }
        if (!at_row_end() && !between(at_, end_).starts_with(layout_.delimiter)) {
          report({fmt::format("Delimiter missing after the quoted value of column {} in line {}", column + 1, line_)},
                 at_);
          return false;
        }
      } else {
        const char* value_end = find_unquoted_end();
        const std::string_view text = between(at_, value_end);
        if (wanted && !store(column, text)) report_conversion(text, column, line);
        at_ = value_end;
      }
      if (at_row_end()) {
        if (column + 1 < count) report({missing_problem(line_)}, at_);
        skip_row_end();
        ++line_;
        return true;
      }
      at_ += layout_.delimiter.size();
    }
  }

  const char* find_closing_quote(const char* from, bool& doubled) const {
    while (const char* quote = find_byte(from, end_, '"')) {
      if (quote + 1 == end_ || quote[1] != '"') return quote;
      doubled = true;
      from = quote + 2;
    }
    return nullptr;
  }

  [[nodiscard]] bool at_row_end() const {
    if (at_ == end_ || *at_ == '\n') return true;
    return *at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n');
  }

  void skip_row_end() {
    if (at_ < end_ && *at_ == '\r') ++at_;
    if (at_ < end_) ++at_;
  }

  [[nodiscard]] const char* find_unquoted_end() const {
    const char* line_break = find_byte(at_, end_, '\n');
    const char* line_end = line_break == nullptr ? end_ : line_break;
    if (line_end > at_ && line_end[-1] == '\r') --line_end;
    return character_sequence_delimiter(layout_.delimiter).find(at_, line_end);
  }

  bool store_unquoted(std::size_t column, std::string_view text) {
    const row_layout::column& wanted = layout_.columns[column];
    if (wanted.attribute == row_layout::not_read) return true;
    if (is_number(wanted.kind) || wanted.kind == value_kind::floating) return false;  // no number contains a quote
    if (wanted.is_unread) return store(column, text);
    unquoted_.clear();
    unquoted_.reserve(text.size());
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t quote = std::min(text.find('"', from), text.size() - 1);
      unquoted_.append(text.substr(from, quote + 1 - from));
      from = text[quote] == '"' ? quote + 2 : quote + 1;
    }
    if (is_structured(wanted.kind)) {
      return store_structured(wanted, unquoted_.bytes(), columns_[wanted.attribute][row_]);
    }
    symbols_.add_unquoted(unquoted_.bytes(), columns_[wanted.attribute][row_]);
    return true;
  }

  /// Numbers the waiting symbols first.
  bool store_structured(const row_layout::column& wanted, std::string_view text, word& value) {
    if constexpr (Interner::is_immediate) {
      symbols_.flush();
      return layout_.structured != nullptr &&
             parse_structured(text, layout_.structured->type_of(wanted.attribute, wanted.kind), *layout_.structured,
                              symbols_.table(), value);
    } else {
      return false;
    }
  }

  const row_layout& layout_;
  std::uint64_t largest_unsigned_ = layout_.wide == nullptr ? UINT32_MAX : UINT64_MAX;
  std::uint64_t largest_number_ = largest_unsigned_ / 2;
  const std::vector<word*>& columns_;
  symbol_queue<Interner> symbols_;
  row_problems problems_;
  std::string_view text_;
  const char* at_;
  const char* end_;
  std::uint64_t line_;
  std::size_t row_ = 0;
  byte_buffer unquoted_;  // the last value with doubled quotes
  std::vector<earlier_symbol> previous_;
};

/// Counts rows when line breaks may be inside quotes.
row_count count_quoted_rows(std::string_view text, const row_layout& layout, bool complete) {
  row_count result;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  std::uint64_t lines_in_row = 0;
  const char* row_begin = begin;
  const character_sequence_delimiter delimiter(layout.delimiter);
  while (at < end) {
    if (*at == '"') {
      ++at;
      const char* quote = find_byte(at, end, '"');
      while (quote != nullptr && quote + 1 < end && quote[1] == '"') quote = find_byte(quote + 2, end, '"');
      if (quote == nullptr || (quote + 1 == end && !complete)) break;
      lines_in_row += count_line_breaks(between(at, quote));
      at = quote + 1;
    }
    const char* line_break = find_byte(at, end, '\n');
    const char* value_end = delimiter.find(at, line_break == nullptr ? end : line_break);
    if (value_end < (line_break == nullptr ? end : line_break)) {
      at = value_end + layout.delimiter.size();
      if (at < end) continue;
      if (line_break == nullptr) break;
    }
    if (line_break == nullptr) break;
    at = line_break + 1;
    row_begin = at;
    ++result.rows;
    result.lines += lines_in_row + 1;
    lines_in_row = 0;
  }
  if (complete && row_begin < end) {
    ++result.rows;
    result.lines += count_line_breaks(between(row_begin, end)) + 1;
    row_begin = end;
  }
  result.whole_bytes = static_cast<std::size_t>(row_begin - begin);
  return result;
}

}  // namespace

row_count count_rows(std::string_view text, const row_layout& layout, bool complete) {
  if (text.empty()) return {};
  if (layout.rfc4180 && layout.arity > 0 && text.find('"') != std::string_view::npos) {
    return count_quoted_rows(text, layout, complete);
  }
  row_count result;
  const std::uint64_t breaks = count_line_breaks(text);
  const bool tail = complete && text.back() != '\n';
  result.rows = result.lines = breaks + (tail ? 1 : 0);
  result.whole_bytes = tail || text.back() == '\n' ? text.size() : text.rfind('\n') + 1;
  return result;
}

row_problems parse_rows(const text_piece& piece, const row_layout& layout, const std::vector<word*>& columns,
                        storage::symbol_table& symbols) {
  return piece_parser<immediate_interner>(piece, layout, columns, immediate_interner(symbols)).parse();
}

row_problems parse_rows(const text_piece& piece, const row_layout& layout, const std::vector<word*>& columns,
                        storage::ordered_interning::part& symbols) {
  return piece_parser<ordered_interner>(piece, layout, columns, ordered_interner(symbols)).parse();
}

}  // namespace gpulog::io
