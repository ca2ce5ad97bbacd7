#include "lsp/features/cursor.hpp"

#include <algorithm>

#include "syntax/lexer.hpp"

namespace gpulog::lsp {

namespace {

using syntax::token_kind;

bool is_name_part(char c) { return syntax::is_identifier_part(c); }

/// Returns whether a declaration goes on after a token of this kind.
bool expects_more(token_kind kind) {
  switch (kind) {
    case token_kind::comma:
    case token_kind::colon:
    case token_kind::equals:
    case token_kind::pipe:
    case token_kind::subtype:
    case token_kind::left_parenthesis:
    case token_kind::left_bracket:
      return true;
    default:
      return syntax::is_directive(kind);
  }
}

}  // namespace

text_cursor::text_cursor(const file_view& view, std::size_t offset)
    : pieces_(view.program.tokens(view.file).pieces),
      text_(view.file.text()),
      offset_(std::min(offset, text_.size())),
      prefix_begin_(offset_) {
  while (prefix_begin_ > 0 && is_name_part(text_[prefix_begin_ - 1])) --prefix_begin_;
  const auto& tokens = pieces_.tokens;
  const auto after = std::partition_point(tokens.begin(), tokens.end(), [this](const syntax::format_token& token) {
    return token.kind != token_kind::end_of_file && token.end <= prefix_begin_;
  });
  before_ = static_cast<std::size_t>(after - tokens.begin());
  is_in_text_ = std::any_of(pieces_.comments.begin(), pieces_.comments.end(), [this](const auto& comment) {
    const bool is_line = comment.what == syntax::format_comment::kind::line;
    return comment.begin < offset_ && (offset_ < comment.end || (is_line && offset_ == comment.end));
  });
  if (after != tokens.end() && after->kind == token_kind::string && after->begin < offset_) is_in_text_ = true;
  find_item(view.program.tokens(view.file).items);
}

void text_cursor::find_item(const std::vector<syntax::format_item>& items) {
  item_begin_ = item_end_ = before_;
  const auto after = std::partition_point(items.begin(), items.end(),
                                          [this](const syntax::format_item& item) { return item.begin < before_; });
  if (after == items.begin()) return;
  const syntax::format_item& item = *(after - 1);
  using kind = syntax::format_item::kind;
  bool is_complete = before_ >= item.end && item.what != kind::clause && item.what != kind::declaration;
  if (before_ >= item.end && item.ends_in_dot) is_complete = true;
  if (before_ >= item.end && item.what == kind::declaration && !expects_more(pieces_.kind(before_ - 1))) {
    // On a new line, a declaration is complete.
    const std::size_t end = pieces_.tokens[before_ - 1].end;
    is_complete = text_.substr(end, prefix_begin_ - end).find('\n') != std::string_view::npos;
  }
  if (is_complete) return;
  item_begin_ = item.begin;
  item_end_ = std::max(item.end, before_);
}

std::string_view text_cursor::word() const {
  std::size_t end = offset_;
  while (end < text_.size() && is_name_part(text_[end])) ++end;
  return text_.substr(prefix_begin_, end - prefix_begin_);
}

bool text_cursor::is_directive() const {
  if (byte_before() != '.') return false;
  std::size_t at = prefix_begin_ - 1;
  while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
  return at == 0 || text_[at - 1] == '\n';
}

std::string_view text_cursor::qualifier() const {
  if (byte_before() != '.') return {};
  std::size_t begin = prefix_begin_ - 1;
  while (begin > 0 && (is_name_part(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
  return text_.substr(begin, prefix_begin_ - 1 - begin);
}

std::vector<text_cursor::bracket> text_cursor::open_brackets() const {
  std::vector<bracket> result;
  for (std::size_t token = item_begin_; token < before_; ++token) {
    if (syntax::is_opening_bracket(kind(token))) result.push_back({token, 0});
    if (syntax::is_closing_bracket(kind(token)) && !result.empty()) result.pop_back();
    if (kind(token) == token_kind::comma && !result.empty()) ++result.back().commas;
  }
  return result;
}

std::string text_cursor::name_before(const bracket& open) const {
  if (kind(open.token) != token_kind::left_parenthesis || open.token == item_begin_) return {};
  std::size_t first = open.token - 1;
  if (kind(first) != token_kind::identifier && !syntax::is_word(kind(first))) return {};
  std::string result(text(first));
  while (first > item_begin_ + 1 && kind(first - 1) == token_kind::dot && kind(first - 2) == token_kind::identifier) {
    first -= 2;
    result = std::string(text(first)) + "." + result;
  }
  if (first == item_begin_) return result;
  if (kind(first - 1) == token_kind::dollar) return "$" + result;
  if (kind(first - 1) == token_kind::at) return "@" + result;
  return result;
}

}  // namespace gpulog::lsp
