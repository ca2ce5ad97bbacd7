#include "cli/test/expectation.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "cli/line_text.hpp"
#include "syntax/format/pieces.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::cli {
namespace {

constexpr std::string_view comment_mark = "//";
constexpr std::string_view count_form = "A count is written as count(reach) = 3 or count(reach(\"a\", _)) = 3";
constexpr std::string_view set_form = "A set is written as reach = {(\"a\", \"b\"), (\"b\", \"c\")}";

/// Calls `visit` for each byte outside of texts in quotes, with the number of brackets that are open before the byte.
/// @return the number of brackets that stay open
template <class Visit>
int for_each_byte(std::string_view text, const Visit& visit) {
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"') is_quoted = !is_quoted;
    if (is_quoted && byte == '\\') ++at;
    if (is_quoted || byte == '"') continue;
    const bool closes = byte == ')' || byte == ']' || byte == '}';
    if (closes) --depth;
    visit(at, depth);
    if (byte == '(' || byte == '[' || byte == '{') ++depth;
  }
  return depth;
}

/// Returns the position of the bracket that closes the first bracket of the text, or npos.
std::size_t closing_bracket(std::string_view text) {
  std::size_t end = std::string_view::npos;
  for_each_byte(text, [&](std::size_t at, int depth) {
    if (at > 0 && depth == 0 && end == std::string_view::npos) end = at;
  });
  return end;
}

/// Parses the comment of one expectation. `text` has the bytes of the file from `begin` on, where blanks replace the
/// marks of further comments.
class expectation_reader {
 public:
  expectation_reader(const source_file& file, std::size_t begin, std::string text)
      : file_(file), begin_(begin), text_(std::move(text)) {}

  expectation read() {
    const auto offset = static_cast<std::uint32_t>(begin_);
    result_.first_line = file_.physical_line(offset);
    result_.last_line = result_.first_line + static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
    result_.text = trimmed(file_.line_text(offset));
    read_statement();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return std::string_view(text_).substr(at_); }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
  bool accept(std::string_view word) {
    skip_blanks();
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  [[nodiscard]] bool accepts_word(std::string_view word) {
    skip_blanks();
    return rest().starts_with(word) &&
           (rest().size() == word.size() || !syntax::is_identifier_part(rest()[word.size()]));
  }
  void fail(std::string_view fault) { result_.fault = fault; }

  void read_statement() {
    skip_blanks();
    if (rest().empty()) return fail("Nothing follows the word expect");
    if (read_message("error", expectation::kind::error) || read_message("warning", expectation::kind::warning)) return;
    if (accepts_word("count") && trimmed(rest().substr(5)).starts_with('(')) return read_count();
    if (read_set()) return;
    if (accepts_word("not") && rest().size() > 3 && blanks.find(rest()[3]) != std::string_view::npos) {
      at_ += 3;
      result_.what = expectation::kind::fails;
    }
    skip_blanks();
    take_query(at_, text_.size(), "");
  }

  /// The text of a message is everything between the first and the last quote.
  bool read_message(std::string_view word, expectation::kind kind) {
    if (!accepts_word(word)) return false;
    const std::string text = trimmed(rest().substr(word.size()));
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    result_.what = kind;
    result_.subject = text.substr(1, text.size() - 2);
    return true;
  }

  void read_count() {
    at_ = text_.find('(', at_);
    const std::size_t open = at_, length = closing_bracket(rest());
    if (length == std::string_view::npos) return fail(count_form);
    at_ += length + 1;
    if (!accept("=")) return fail(count_form);
    skip_blanks();
    const char* const begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), result_.count);
    if (failure != std::errc() || !ends_at(static_cast<std::size_t>(end - text_.data()))) return fail(count_form);
    result_.what = expectation::kind::count;
    take_value(at_, static_cast<std::size_t>(end - text_.data()));
    result_.subject = trimmed(std::string_view(text_).substr(open + 1, length - 1));
    const bool is_relation = std::all_of(result_.subject.begin(), result_.subject.end(),
                                         [](char c) { return syntax::is_identifier_part(c) || c == '.'; });
    if (!is_relation) take_query(open + 1, open + length, "n=count:{");
  }

  bool read_set() {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && (syntax::is_identifier_part(text_[end]) || text_[end] == '.')) ++end;
    const std::string name = text_.substr(at_, end - at_);
    const std::size_t begin = at_;
    at_ = end;
    if (name.empty() || !accept("=") || (skip_blanks(), !rest().starts_with('{'))) {
      at_ = begin;
      return false;
    }
    result_.what = expectation::kind::set;
    result_.subject = name;
    const std::size_t length = closing_bracket(rest());
    if (length == std::string_view::npos || !ends_at(at_ + length + 1)) {
      fail(set_form);
      return true;
    }
    take_value(at_, at_ + length + 1);
    read_tuples(rest().substr(1, length - 1));
    return true;
  }

  void read_tuples(std::string_view list) {
    std::size_t begin = 0;
    const auto take = [&](std::size_t end) {
      std::string tuple = in_one_line(trimmed(list.substr(begin, end - begin)));
      if (!tuple.starts_with('(') || closing_bracket(tuple) != tuple.size() - 1) fail(set_form);
      result_.tuples.push_back(std::move(tuple));
      begin = end + 1;
    };
    if (trimmed(list).empty()) return;
    for_each_byte(list, [&](std::size_t at, int depth) {
      if (list[at] == ',' && depth == 0) take(at);
    });
    take(list.size());
  }

  /// Returns whether nothing but a dot follows.
  [[nodiscard]] bool ends_at(std::size_t place) const {
    const std::string after = trimmed(std::string_view(text_).substr(place));
    return after.empty() || after == ".";
  }

  void take_value(std::size_t begin, std::size_t end) {
    result_.value_begin = begin_ + begin;
    result_.value_end = begin_ + end;
  }

  /// Line ends and blanks before the body give its errors the line and column of the file.
  /// @param heading precedes the body, which a brace then closes
  void take_query(std::size_t begin, std::size_t end, std::string_view heading) {
    const std::string body = text_.substr(begin, end - begin);
    if (heading.empty()) {
      result_.subject = in_one_line(trimmed(body));
      if (result_.subject.ends_with('.'))
        result_.subject = trimmed(result_.subject.substr(0, result_.subject.size() - 1));
    }
    const auto offset = static_cast<std::uint32_t>(begin_ + begin);
    const std::size_t column = file_.position(offset).column - 1;
    result_.query = std::string(file_.physical_line(offset) - 1, '\n') +
                    std::string(column - std::min(column, heading.size()), ' ') + std::string(heading) + body +
                    (heading.empty() ? "" : "}");
  }

  const source_file& file_;
  std::size_t begin_;
  std::string text_;
  std::size_t at_ = 0;
  expectation result_;
};

}  // namespace

std::vector<expectation> expectations_in(const source_file& file) {
  constexpr std::string_view word = "expect";
  const syntax::format_pieces pieces = syntax::pieces_of(file);
  const auto line_of = [&](std::size_t place) { return file.physical_line(static_cast<std::uint32_t>(place)); };
  /// Returns the end of the word in the comment; 0 for other comments.
  const auto end_of_word = [&](const syntax::format_comment& comment) -> std::size_t {
    const std::string_view text = pieces.text_of(comment);
    if (comment.what != syntax::format_comment::kind::line || !text.starts_with(comment_mark)) return 0;
    const std::size_t begin = std::min(text.find_first_not_of(blanks, comment_mark.size()), text.size());
    const std::string_view rest = text.substr(begin);
    const bool is_expected = rest.starts_with(word) &&
                             (rest.size() == word.size() || blanks.find(rest[word.size()]) != std::string_view::npos);
    return is_expected ? comment.begin + begin + word.size() : 0;
  };
  std::vector<expectation> result;
  for (std::size_t number = 0; number < pieces.comments.size(); ++number) {
    const std::size_t begin = end_of_word(pieces.comments[number]);
    if (begin == 0) continue;
    std::size_t end = pieces.comments[number].end;
    std::string text(pieces.text.substr(begin, end - begin));
    while (for_each_byte(text, [](std::size_t, int) {}) > 0 && number + 1 < pieces.comments.size()) {
      const syntax::format_comment& next = pieces.comments[number + 1];
      const bool continues = next.what == syntax::format_comment::kind::line && end_of_word(next) == 0 &&
                             pieces.text_of(next).starts_with(comment_mark) && line_of(next.begin) == line_of(end) + 1;
      if (!continues) break;
      text += pieces.text.substr(end, next.begin - end);
      text += "  ";  // instead of the mark
      text += pieces.text_of(next).substr(comment_mark.size());
      end = next.end;
      ++number;
    }
    result.push_back(expectation_reader(file, begin, std::move(text)).read());
  }
  return result;
}

std::string set_text(const source_file& file, const expectation& stated, const std::vector<std::string>& tuples) {
  constexpr std::size_t longest_line = 100;
  const auto offset = static_cast<std::uint32_t>(stated.value_begin);
  std::string line = "{";
  for (const std::string& tuple : tuples) line += (line.size() == 1 ? "" : ", ") + tuple;
  line += "}";
  if (file.position(offset).column + line.size() <= longest_line + 1) return line;
  const std::string_view before = file.line_text(offset);
  const std::string indentation(before.substr(0, before.find(comment_mark)));
  std::string text = "{\n";
  for (const std::string& tuple : tuples)
    text += indentation + "//   " + tuple + (&tuple == &tuples.back() ? "\n" : ",\n");
  return text + indentation + "// }";
}

}  // namespace gpulog::cli
