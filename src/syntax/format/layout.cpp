#include "syntax/format/layout.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpulog::syntax {

namespace {

bool is_operand_end(token_kind kind) {
  using enum token_kind;
  return kind == identifier || kind == string || kind == number || kind == unsigned_number || kind == floating ||
         kind == underscore || kind == dollar || kind == word_nil || is_closing_bracket(kind);
}

/// Whether the word is written before its arguments in parentheses, as a name.
bool is_called(token_kind kind) {
  using enum token_kind;
  switch (kind) {
    case word_choice_domain:
    case word_band:
    case word_bor:
    case word_bxor:
    case word_bshl:
    case word_bshr:
    case word_bshru:
    case word_land:
    case word_lor:
    case word_lxor:
      return false;
    default:
      return kind == identifier || is_word(kind);
  }
}

class item_layout {
  using enum token_kind;

 public:
  item_layout(const format_pieces& pieces, const format_item& item, std::size_t indent, std::string_view newline,
              layout_memory& memory)
      : pieces_(pieces),
        item_(item),
        newline_(newline),
        indent_(indent),
        column_(indent),
        measured_(memory.measured),
        open_(memory.open) {
    measure();
  }

  std::string run() {
    if (item_.stays) return std::string(raw());
    out_.reserve(measured_.back().columns_before);
    if (item_.what == format_item::kind::clause) {
      clause();
    } else {
      declaration();
    }
    return std::move(out_);
  }

 private:
  // ---- measures ----

  using measured_token = layout_memory::measured_token;

  [[nodiscard]] const measured_token& at_token(std::size_t token) const { return measured_[token - item_.begin]; }
  [[nodiscard]] token_kind kind(std::size_t token) const { return pieces_.kind(token); }
  [[nodiscard]] bool is_on_new_line(std::size_t token) const { return pieces_.tokens[token].is_on_new_line; }

  void measure() {
    measured_.assign(item_.end - item_.begin + 1, {});
    open_.clear();
    const bool is_clause = item_.what == format_item::kind::clause;
    std::size_t columns = 0, breaks = 0;
    for (std::size_t token = item_.begin; token < item_.end; ++token) {
      measured_token& here = measured_[token - item_.begin];
      if (is_closing_bracket(kind(token)) && !open_.empty()) {
        measured_[open_.back().token - item_.begin].match = token;
        open_.pop_back();
      }
      if (token > item_.begin) {
        here.gap = has_space(token, open_.size()) ? 1 : 0;
        if (keeps_line_end(token, open_.empty(), open_.empty() ? is_clause : open_.back().has_literals)) ++breaks;
        add_comments(token, here.gap, breaks);
      }
      here.breaks = breaks;
      here.columns_before = columns;
      columns += here.gap + pieces_.tokens[token].columns;
      if (is_opening_bracket(kind(token))) open_.push_back({token, kind(token) == left_brace || is_group(token)});
    }
    measured_.back().columns_before = columns;
    measured_.back().breaks = breaks;
  }

  [[nodiscard]] bool is_group(std::size_t token) const {
    return kind(token) == left_parenthesis && (token == item_.begin || !is_called(kind(token - 1)));
  }

  void add_comments(std::size_t token, std::size_t& gap, std::size_t& breaks) const {
    const format_token& next = pieces_.tokens[token];
    if (next.comments_begin == next.comments_end) return;
    gap = 1;
    for (std::uint32_t index = next.comments_begin; index < next.comments_end; ++index) {
      const format_comment& comment = pieces_.comments[index];
      if (ends_line(comment)) ++breaks;
      gap += 1 + columns_of(pieces_.text_of(comment));
    }
  }

  static bool ends_line(const format_comment& comment) {
    return comment.what != format_comment::kind::block || comment.lines_before > 0 || comment.has_several_lines;
  }

  /// Whether the line end before the token keeps its item or bracket on several lines: a line end after an opening
  /// bracket, between the heads or literals of a rule, or between the branches of a type.
  /// @param is_outside whether no bracket is open
  /// @param has_literals whether the brackets around the token may contain literals
  [[nodiscard]] bool keeps_line_end(std::size_t token, bool is_outside, bool has_literals) const {
    const token_kind before = kind(token - 1), here = kind(token);
    const bool is_after_separator = before == if_ || before == comma || before == semicolon;
    if (!is_on_new_line(token) && !(is_after_separator && is_on_new_line(token - 1))) return false;
    if (is_opening_bracket(before)) return !is_closing_bracket(here);
    if (is_outside && kind(item_.begin) == directive_type) return before == equals || before == pipe || here == pipe;
    const bool is_in_rule = item_.body != format_item::none && token < item_.plan;
    return is_in_rule && has_literals && is_after_separator;
  }

  /// Whether a blank precedes the token.
  /// @param depth open brackets of the item before the token
  [[nodiscard]] bool has_space(std::size_t token, std::size_t depth) const {
    const token_kind before = kind(token - 1), here = kind(token);
    const bool is_clause = item_.what == format_item::kind::clause;
    switch (here) {
      case comma:
      case semicolon:
      case dot:
      case right_parenthesis:
      case right_bracket:
        return false;
      case right_brace:
        return is_clause && before != left_brace;
      default:
        break;
    }
    switch (before) {
      case left_parenthesis:
      case left_bracket:
      case exclamation:
      case at:
      case dot:
        return false;
      case left_brace:
        return is_clause;
      case dollar:
        if (here == identifier) return false;
        break;
      case minus:
        if (token - 1 == item_.begin || !is_operand_end(kind(token - 2))) return false;
        break;
      default:
        break;
    }
    if (here == left_parenthesis && is_called(before)) return false;
    if (here == colon || before == colon) return has_spaced_colon(token);
    if (is_clause) return true;
    if (here == less || here == greater || before == less) return false;
    return depth == 0 || (here != equals && before != equals);
  }

  [[nodiscard]] bool has_spaced_colon(std::size_t token) const {
    if (item_.what == format_item::kind::clause) return item_.plan == format_item::none || token < item_.plan;
    return kind(item_.begin) == directive_comp;
  }

  /// Columns of tokens [begin, end) on one line.
  [[nodiscard]] std::size_t columns(std::size_t begin, std::size_t end) const {
    return at_token(end).columns_before - at_token(begin).columns_before - at_token(begin).gap;
  }

  [[nodiscard]] bool has_breaks(std::size_t begin, std::size_t end) const {
    return end > begin && at_token(end - 1).breaks != at_token(begin).breaks;
  }

  /// Whether tokens [begin, end) fit on the rest of the line.
  [[nodiscard]] bool fits(std::size_t begin, std::size_t end, std::size_t column) const {
    return !has_breaks(begin, end) && column + columns(begin, end) <= format_columns;
  }
  [[nodiscard]] bool fits(std::size_t begin, std::size_t end) const { return fits(begin, end, column_); }

  // ---- output ----

  [[nodiscard]] std::string_view raw() const {
    const std::size_t begin = pieces_.tokens[item_.begin].begin;
    return pieces_.text.substr(begin, pieces_.tokens[item_.end - 1].end - begin);
  }

  void append(std::string_view text, std::size_t columns) {
    out_ += text;
    column_ += columns;
  }

  void new_line(bool has_blank_before = false) {
    if (has_blank_before) out_ += newline_;
    out_ += newline_;
    out_.append(indent_, ' ');
    column_ = indent_;
  }

  void emit_token(std::size_t token) {
    const format_token& here = pieces_.tokens[token];
    append(pieces_.text_of(here), here.columns);
  }

  /// Writes the comments before a token. Returns whether the last comment needs a line end.
  bool emit_comments(std::size_t token, bool keeps_blank = false) {
    const format_token& next = pieces_.tokens[token];
    bool needs_line = std::exchange(ends_line_, false);
    for (std::uint32_t index = next.comments_begin; index < next.comments_end; ++index) {
      const format_comment& comment = pieces_.comments[index];
      const bool has_own_line = needs_line || comment.lines_before > 0;
      if (has_own_line) {
        new_line(keeps_blank && comment.lines_before > 1);
      } else {
        out_ += comment.what == format_comment::kind::line ? "  " : " ";
      }
      const std::string_view text = pieces_.text_of(comment);
      append(text, columns_of(text));
      needs_line = has_own_line || ends_line(comment);
    }
    return needs_line;
  }

  /// Writes what separates a token from the token before it.
  /// @param keeps_blank whether a blank line of the file stays
  void emit_gap(std::size_t token, bool wants_line, bool keeps_blank = false) {
    const bool needs_line = emit_comments(token, keeps_blank);
    if (wants_line || needs_line) {
      new_line(keeps_blank && pieces_.tokens[token].lines_before > 1);
    } else if (at_token(token).gap > 0) {
      append(" ", 1);
    }
  }

  /// Writes tokens [begin, end) on one line, except for comments that end lines.
  void emit_flat(std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token) {
      if (token > begin) emit_gap(token, false);
      emit_token(token);
    }
  }

  /// The next opening bracket of [begin, end) that can be broken, or `end`.
  [[nodiscard]] std::size_t next_group(std::size_t begin, std::size_t end) const {
    while (begin < end && !(is_opening_bracket(kind(begin)) && at_token(begin).match > begin + 1)) ++begin;
    return begin;
  }

  /// Writes tokens [begin, end), with a line per part of each bracket that does not fit on the line.
  void emit_element(std::size_t begin, std::size_t end) {
    if (fits(begin, end)) return emit_flat(begin, end);
    for (std::size_t token = begin; token < end;) {
      if (token > begin) emit_gap(token, false);
      const std::size_t match = is_opening_bracket(kind(token)) ? at_token(token).match : token;
      if (match <= token + 1) {
        emit_token(token++);
        continue;
      }
      const std::size_t rest = next_group(match + 1, end);
      if (has_breaks(token, match + 1) || column_ + columns(token, rest) > format_columns) {
        emit_broken_group(token, match);
      } else {
        emit_flat(token, match + 1);
      }
      token = match + 1;
    }
  }

  void emit_broken_group(std::size_t open, std::size_t close) {
    emit_token(open);
    indent_ += format_indentation;
    emit_list(open + 1, close);
    emit_comments(close);
    indent_ -= format_indentation;
    new_line();
    emit_token(close);
  }

  /// Writes alternatives [begin, end) on a line each, if all of them fit. Returns whether they do.
  bool emit_short_alternatives(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> ends;
    for (std::size_t token = begin; token < end; ++token) {
      if (is_opening_bracket(kind(token))) token = at_token(token).match;
      if (kind(token) == semicolon) ends.push_back(token + 1);
    }
    if (ends.empty()) return false;
    ends.push_back(end);
    std::size_t part = begin;
    for (const std::size_t part_end : ends) {
      if (!fits(std::exchange(part, part_end), part_end, indent_)) return false;
    }
    part = begin;
    for (const std::size_t part_end : ends) emit_part(std::exchange(part, part_end), part_end);
    return true;
  }

  /// Writes a line for each part of [begin, end) that ends in a comma, and for each semicolon between parts.
  void emit_list(std::size_t begin, std::size_t end) {
    if (emit_short_alternatives(begin, end)) return;
    std::size_t part = begin;
    for (std::size_t token = begin; token < end; ++token) {
      if (is_opening_bracket(kind(token))) {
        token = at_token(token).match;
      } else if (kind(token) == comma) {
        emit_part(part, token + 1);
        part = token + 1;
      } else if (kind(token) == semicolon) {
        emit_part(part, token);
        indent_ -= format_indentation;
        emit_part(token, token + 1);
        ends_line_ = true;
        indent_ += format_indentation;
        part = token + 1;
      }
    }
    emit_part(part, end);
  }

  void emit_part(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    emit_gap(begin, true, kind(begin - 1) == comma);
    emit_element(begin, end);
  }

  /// Writes [begin, end) with as many parts on a line as fit.
  void emit_filled(std::size_t begin, std::size_t end) {
    std::size_t part = begin;
    for (std::size_t token = begin; token < end; ++token) {
      if (is_opening_bracket(kind(token)) && at_token(token).match > token) token = at_token(token).match;
      if (kind(token) != comma && token + 1 < end) continue;
      if (part > begin) {
        indent_ += format_indentation;
        emit_gap(part, !fits(part, token + 1, column_ + 1));
        indent_ -= format_indentation;
      }
      emit_element(part, token + 1);
      part = token + 1;
    }
  }

  // ---- items ----

  void clause() {
    const std::size_t end = item_.plan == format_item::none ? item_.end : item_.plan;
    if (fits(item_.begin, end)) {
      emit_flat(item_.begin, end);
    } else if (item_.body != format_item::none) {
      heads();
      indent_ += format_indentation;
      emit_list(item_.body + 1, end);
      indent_ -= format_indentation;
    } else if (has_breaks(item_.begin, end) || is_on_several_lines(end)) {
      emit_element(item_.begin, end);
    } else {
      emit_flat(item_.begin, end);  // facts are data: their lines may be long
    }
    if (item_.plan == format_item::none) return;
    indent_ += format_indentation;
    emit_gap(item_.plan, true);
    emit_filled(item_.plan, item_.end);
    indent_ -= format_indentation;
  }

  void heads() {
    const std::size_t end = item_.body + 1;
    if (fits(item_.begin, end)) return emit_flat(item_.begin, end);
    std::size_t part = item_.begin;
    for (std::size_t token = item_.begin; token < end; ++token) {
      if (is_opening_bracket(kind(token))) token = at_token(token).match;
      if (kind(token) != comma && kind(token) != if_) continue;
      if (part > item_.begin) emit_gap(part, true);
      emit_element(part, token + 1);
      part = token + 1;
    }
  }

  [[nodiscard]] bool is_on_several_lines(std::size_t end) const {
    const auto first = pieces_.tokens.begin();
    return std::any_of(first + static_cast<std::ptrdiff_t>(item_.begin) + 1, first + static_cast<std::ptrdiff_t>(end),
                       [](const format_token& token) { return token.is_on_new_line; });
  }

  void declaration() {
    const std::size_t first_branch = fits(item_.begin, item_.end) ? item_.end : after_equals();
    if (first_branch == item_.end) return emit_filled(item_.begin, item_.end);
    emit_flat(item_.begin, first_branch);
    std::size_t part = first_branch;
    indent_ += format_indentation;
    for (std::size_t token = first_branch; token < item_.end; ++token) {
      if (is_opening_bracket(kind(token))) token = at_token(token).match;
      if (token + 1 < item_.end && kind(token + 1) != pipe) continue;
      if (part == first_branch) {
        indent_ += format_indentation;
        emit_gap(part, true);
        indent_ -= format_indentation;
      } else {
        emit_gap(part, true);
      }
      emit_element(part, token + 1);
      part = token + 1;
    }
    indent_ -= format_indentation;
  }

  /// The first token after the `=` of a type with several branches, or the end of the item.
  [[nodiscard]] std::size_t after_equals() const {
    if (kind(item_.begin) != directive_type) return item_.end;
    std::size_t result = item_.end;
    for (std::size_t token = item_.begin; token < item_.end; ++token) {
      if (is_opening_bracket(kind(token)) && at_token(token).match > token) token = at_token(token).match;
      if (kind(token) == equals && result == item_.end) result = token + 1;
      if (kind(token) == pipe) return result;
    }
    return item_.end;
  }

  const format_pieces& pieces_;
  const format_item& item_;
  std::string_view newline_;
  std::size_t indent_, column_;
  std::vector<measured_token>& measured_;
  std::vector<layout_memory::open_bracket>& open_;
  bool ends_line_ = false;  ///< whether a comment must not follow on this line
  std::string out_;
};

}  // namespace

std::string layout_of(const format_pieces& pieces, const format_item& item, std::size_t indent,
                      std::string_view newline, layout_memory& memory) {
  return item_layout(pieces, item, indent, newline, memory).run();
}

}  // namespace gpulog::syntax
