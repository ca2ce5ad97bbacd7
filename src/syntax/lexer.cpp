#include "syntax/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "syntax/hints.hpp"

namespace gpulog::syntax {

namespace {

/// A set of characters, for a loop over a text.
class character_set {
 public:
  explicit constexpr character_set(bool (*is_member)(char)) {
    for (int c = 0; c < 256; ++c) members_[static_cast<unsigned char>(c)] = is_member(static_cast<char>(c));
  }
  [[nodiscard]] constexpr bool contains(char c) const { return members_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> members_{};
};

constexpr character_set blanks([](char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n';
});
constexpr character_set parts_of_names(is_identifier_part);

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_binary_digit(char c) { return c == '0' || c == '1'; }

/// Converts "1.2.3.4" to a signed 32-bit number like Soufflé; returns nothing if a part is above 255.
std::optional<std::string> address_as_number(std::string_view text) {
  std::uint32_t value = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int part = 0; part < 4; ++part) {
    std::uint32_t byte = 0;
    const auto [rest, fault] = std::from_chars(at, end, byte);
    if (fault != std::errc() || byte > 255) return std::nullopt;
    value = value << 8 | byte;
    at = rest + 1;
  }
  return std::to_string(static_cast<std::int32_t>(value));
}

/// Returns "file:line:column" of each directive that led to this file, outermost first.
std::string include_trail(const source_span& here) {
  std::string result;
  for (source_span from = here.file->included_from(); from.valid(); from = from.file->included_from()) {
    const source_position position = from.file->position(from.begin);
    std::string step(position.path);
    step += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
    result = result.empty() ? step : step + ";" + result;
  }
  return result;
}

}  // namespace

std::optional<char> escaped_character(char c) {
  switch (c) {
    case '"':
    case '\'':
    case '\\':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return std::nullopt;
  }
}

line_marker parse_line_marker(std::string_view line) {
  const auto skip_spaces = [&line] {
    while (!line.empty() && blanks.contains(line.front())) line.remove_prefix(1);
  };
  line_marker result;
  if (line.starts_with('#')) line.remove_prefix(1);
  skip_spaces();
  const bool named = line.starts_with("line");
  if (named) line.remove_prefix(4);
  skip_spaces();
  const auto [rest, fault] = std::from_chars(line.data(), line.data() + line.size(), result.line);
  if (fault != std::errc()) return result;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  skip_spaces();
  if (line.starts_with('"')) {
    line.remove_prefix(1);
    const std::size_t end = line.find('"');
    if (end == std::string_view::npos) return result;
    result.path = line.substr(0, end);
  } else if (!named) {
    return result;
  }
  result.valid = true;
  return result;
}

lexer::lexer(const mapped_text& text, diagnostics& report, source_file* raw_file, const lexer_options& options)
    : mapped_(text), text_(text.text()), report_(report), raw_file_(raw_file), options_(options) {
  if (text_.starts_with("\xEF\xBB\xBF")) position_ = 3;  // a byte order mark
}

token lexer::next() {
  skip_blanks();
  if (position_ >= text_.size()) {
    // The last byte, so that the message names the last line instead of an empty line after it.
    const std::size_t last = text_.empty() ? 0 : text_.size() - 1;
    return {token_kind::end_of_file, {}, mapped_.span(last, text_.size())};
  }
  const char c = peek();
  if (c == '"') return string();
  if (is_digit(c)) return number();
  if (c == '_' && !is_identifier_part(peek(1))) return ++position_, make(token_kind::underscore, position_ - 1);
  if (is_identifier_start(c)) return word();
  if (c == '.') return directive_or_dot();
  if (c == '/' && at_doc_comment()) return doc_comment();
  return punctuation();
}

void lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (blanks.contains(c)) {
      ++position_;
    } else if (c == '/' && peek(1) == '/' && !at_doc_comment()) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && peek(1) == '*') {
      if (!skip_block_comment()) return;
    } else if (c == '#') {
      hash_line();
    } else {
      return;
    }
  }
}

bool lexer::skip_block_comment() {
  const std::size_t begin = position_;
  const std::size_t end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) {
    position_ = text_.size();
    report_.error_at_end(span_from(begin), "unterminated comment block, missing '*/'");
    return false;
  }
  position_ = end + 2;
  return true;
}

token lexer::doc_comment() {
  const std::size_t begin = position_;
  std::size_t end = begin;
  do {
    end = std::min(text_.find('\n', position_), text_.size());
    // A doc comment on the next line continues this comment.
    position_ = std::min(text_.find_first_not_of(" \t\r\v\f", end + 1), text_.size());
  } while (end < text_.size() && at_doc_comment());
  position_ = end;
  return make(token_kind::doc_comment, begin);
}

void lexer::hash_line() {
  const std::size_t begin = position_;
  position_ = std::min(text_.find('\n', position_), text_.size());
  const line_marker marker = parse_line_marker(text_.substr(begin, position_ - begin));
  if (marker.valid) {
    if (raw_file_ != nullptr) {
      raw_file_->add_line_directive(static_cast<std::uint32_t>(begin), marker.line, marker.path);
    }
  } else if (options_.warnings) {
    report_.warning(span_from(begin), "Text after # is ignored");
  }
}

token lexer::word() {
  const std::size_t begin = position_;
  std::size_t end = begin;
  while (end < text_.size() && parts_of_names.contains(text_[end])) ++end;
  position_ = end;
  constexpr std::string_view choice = "choice", domain = "-domain";
  if (peek() == '-' && text_.substr(begin, end - begin) == choice && text_.substr(end).starts_with(domain))
    position_ += domain.size();
  const std::string_view spelling = text_.substr(begin, position_ - begin);
  token result = make(kind_of_word(spelling), begin);
  result.text = spelling;
  if (spelling.starts_with("__") && result.span.valid()) replace_predefined_word(result);
  return result;
}

void lexer::replace_predefined_word(token& word) const {
  const auto replace_by = [&](token_kind kind, auto text) {
    word.kind = kind;
    if (options_.texts != nullptr) word.text = stored(text());
  };
  const source_file& file = *word.span.file;
  if (word.text == "__LINE__") {
    replace_by(token_kind::number,
               [&] { return std::to_string(options_.has_lines ? file.position(word.span.begin).line : 0); });
  } else if (word.text == "__FILE__") {
    replace_by(token_kind::string, [&] {
      // A #line directive may name another file.
      const std::string_view path = file.position(word.span.begin).path;
      return path == file.path() ? file.full_path() : std::string(path);
    });
  } else if (word.text == "__INCL__") {
    replace_by(token_kind::string, [&] { return options_.has_lines ? include_trail(word.span) : std::string(); });
  }
}

token lexer::number() {
  const std::size_t begin = position_;
  const auto skip_digits = [this](bool (*wanted)(char)) {
    while (wanted(peek())) ++position_;
  };
  const auto is_decimal = [](char c) { return is_digit(c); };
  token_kind kind = token_kind::number;
  if (peek() == '0' && peek(1) == 'x' && is_hex_digit(peek(2))) {
    position_ += 2;
    skip_digits(is_hex_digit);
  } else if (peek() == '0' && peek(1) == 'b' && is_binary_digit(peek(2))) {
    position_ += 2;
    skip_digits(is_binary_digit);
  } else {
    int dots = 0;
    std::size_t end_of_fraction = 0;
    skip_digits(is_decimal);
    while (dots < 3 && peek() == '.' && is_digit(peek(1))) {
      ++position_;
      skip_digits(is_decimal);
      if (++dots == 1) end_of_fraction = position_;
    }
    if (dots == 3) {
      token result = make(token_kind::number, begin);
      if (options_.texts == nullptr) return result;
      const auto value = address_as_number(text_.substr(begin, position_ - begin));
      if (!value) report_.error(result.span, "IP out of range");
      result.text = stored(value.value_or("0"));
      return result;
    }
    if (dots > 0) {
      position_ = end_of_fraction;
      kind = token_kind::floating;
    }
  }
  const std::size_t end = position_;
  if (kind == token_kind::number && peek() == 'u') {
    ++position_;
    kind = token_kind::unsigned_number;
  }
  token result = make(kind, begin);
  result.text = text_.substr(begin, end - begin);
  return result;
}

token lexer::string() {
  const std::size_t begin = position_;
  std::size_t end = begin + 1;
  bool has_escapes = false;
  for (; end < text_.size() && text_[end] != '"'; ++end) {
    if (text_[end] != '\\') continue;
    has_escapes = true;
    ++end;
    if (end < text_.size() && text_[end] == '\n') end = text_.size();
  }
  // Skips only the quote of an unclosed string, so that the text after it is still parsed.
  if (end >= text_.size()) return unexpected();
  position_ = end + 1;
  token result = make(token_kind::string, begin);
  result.text = text_.substr(begin + 1, end - begin - 1);
  if (has_escapes && options_.texts != nullptr) result.text = stored(without_escapes(begin));
  return result;
}

std::string lexer::without_escapes(std::size_t begin) const {
  std::string result;
  bool has_bad_escape = false;
  for (std::size_t at = begin + 1; text_[at] != '"'; ++at) {
    if (text_[at] != '\\') {
      result += text_[at];
      continue;
    }
    ++at;
    const std::optional<char> character = escaped_character(text_[at]);
    if (!character && !has_bad_escape) {
      report_.error(mapped_.span(begin, at + 1), std::string("Unknown escape sequence \\") + text_[at]);
      has_bad_escape = true;
    }
    result += character.value_or(text_[at]);
  }
  return result;
}

token lexer::directive_or_dot() {
  const std::size_t begin = position_++;
  std::size_t end = position_;
  while (end < text_.size() && is_identifier_part(text_[end])) ++end;
  const token_kind kind = kind_of_directive(text_.substr(position_, end - position_));
  if (kind != token_kind::dot) position_ = end;
  return make(kind, begin);
}

token lexer::unexpected() {
  const std::size_t begin = position_;
  const std::string_view rest = text_.substr(begin);
  if (begin == 0 && (rest.starts_with("\xFF\xFE") || rest.starts_with("\xFE\xFF"))) {
    position_ = text_.size();
    token result = make(token_kind::invalid, begin);
    report_.error("unexpected byte order mark: the program is text in UTF-16, and only UTF-8 is read");
    return result;
  }
  position_ += length_of_unknown(rest);
  token result = make(token_kind::invalid, begin);
  if (options_.texts == nullptr) return result;
  std::string message = "unexpected " + visible_text(rest.substr(0, position_ - begin));
  if (const std::string hint = hint_about_text(rest); !hint.empty()) message += '\n' + hint;
  result.text = stored(std::move(message));
  return result;
}

token lexer::punctuation() {
  const std::size_t begin = position_;
  const auto is = [this, begin](char second, token_kind pair, token_kind single) {
    const bool both = peek(1) == second;
    position_ += both ? 2 : 1;
    return make(both ? pair : single, begin);
  };
  const auto one = [this, begin](token_kind kind) {
    ++position_;
    return make(kind, begin);
  };
  switch (peek()) {
    case '|':
      return one(token_kind::pipe);
    case '[':
      return one(token_kind::left_bracket);
    case ']':
      return one(token_kind::right_bracket);
    case '$':
      return one(token_kind::dollar);
    case '+':
      return one(token_kind::plus);
    case '-':
      return is('>', token_kind::maps_to, token_kind::minus);
    case '(':
      return one(token_kind::left_parenthesis);
    case ')':
      return one(token_kind::right_parenthesis);
    case ',':
      return one(token_kind::comma);
    case ';':
      return one(token_kind::semicolon);
    case '=':
      return one(token_kind::equals);
    case '!':
      return is('=', token_kind::not_equal, token_kind::exclamation);
    case '*':
      return one(token_kind::star);
    case '/':
      return one(token_kind::slash);
    case '^':
      return one(token_kind::caret);
    case '%':
      return one(token_kind::percent);
    case '{':
      return one(token_kind::left_brace);
    case '}':
      return one(token_kind::right_brace);
    case '@':
      return is('!', token_kind::at_not, token_kind::at);
    case '>':
      return is('=', token_kind::greater_equal, token_kind::greater);
    case '<':
      if (peek(1) == ':') return is(':', token_kind::subtype, token_kind::less);
      return is('=', token_kind::less_equal, token_kind::less);
    case ':':
      if (peek(1) == ':') return is(':', token_kind::double_colon, token_kind::colon);
      return is('-', token_kind::if_, token_kind::colon);
    default:
      return unexpected();
  }
}

}  // namespace gpulog::syntax
