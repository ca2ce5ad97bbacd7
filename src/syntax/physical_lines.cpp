#include "syntax/physical_lines.hpp"

#include <algorithm>

#include "syntax/macros.hpp"

namespace gpulog::syntax {

std::size_t line_splice(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("\\\n")) return 2;
  if (text.substr(at).starts_with("\\\r\n")) return 3;
  return 0;
}

std::size_t find_line_splice(std::string_view text, std::size_t at) {
  return std::min(text.find("\\\n", at), text.find("\\\r\n", at));
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("//")) {
    for (std::size_t end = at;; ++end) {
      end = text.find('\n', end);
      if (end == std::string_view::npos) return text.size();
      const std::size_t last = text[end - 1] == '\r' ? end - 2 : end - 1;
      if (text[last] != '\\') return end;
    }
  }
  if (!text.substr(at).starts_with("/*")) return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::size_t end_of_constant(std::string_view text, std::size_t at) {
  const std::size_t end = end_of_macro_token(text, at);
  return text.substr(at, end - at).find('\n') == std::string_view::npos ? end : at + 1;
}

std::size_t skip_line_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t end = end_of_comment(text, at) + line_splice(text, at);
    if (end == at && !is_line_space(text[at])) break;
    at = std::max(end, at + 1);
  }
  return at;
}

std::size_t end_of_directive(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '\n') {
    const std::size_t splice = line_splice(text, at);
    const std::size_t comment_end = end_of_comment(text, at);
    at = splice > 0 ? at + splice : comment_end > at ? comment_end : end_of_constant(text, at);
  }
  return std::min(at, text.size());
}

}  // namespace gpulog::syntax
