#include "lsp/workspace/project_file.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace gpulog::lsp {

namespace {

class project_parser {
 public:
  explicit project_parser(std::string_view text) : text_(text) {}

  project_values run() {
    project_values result;
    for (skip(true); at_ < text_.size(); skip(true)) {
      std::string name = key();
      std::optional<std::vector<std::string>> value;
      if (!name.empty() && accept('=')) value = one_or_several();
      skip(false);
      if (!value || (at_ < text_.size() && text_[at_] != '\n')) {
        const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
        result.problem = "line " + std::to_string(lines + 1) + " is not NAME = \"TEXT\" or NAME = [\"TEXT\", ...]";
        break;
      }
      result.values[std::move(name)] = std::move(*value);
    }
    return result;
  }

 private:
  /// Skips blanks and comments, and line ends if wanted.
  void skip(bool with_lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      if (c != '#' && c != ' ' && c != '\t' && c != '\r' && (c != '\n' || !with_lines)) return;
    }
  }

  bool accept(char c) {
    skip(false);
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string key() {
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::optional<std::string> string() {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return std::nullopt;
    const char quote = text_[at_++];
    std::string value;
    for (; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      const bool is_escape = text_[at_] == '\\' && quote == '"';
      if (is_escape && ++at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') return std::nullopt;
      if (at_ < text_.size()) value += text_[at_];
    }
    if (at_ >= text_.size() || text_[at_] != quote) return std::nullopt;
    ++at_;
    return value;
  }

  std::optional<std::vector<std::string>> one_or_several() {
    if (!accept('[')) {
      auto value = string();
      return value ? std::optional(std::vector<std::string>{std::move(*value)}) : std::nullopt;
    }
    std::vector<std::string> values;
    for (skip(true); !accept(']'); skip(true)) {
      auto value = string();
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
      skip(true);
      if (!accept(',') && (at_ >= text_.size() || text_[at_] != ']')) return std::nullopt;
    }
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

project_values parse_project_file(std::string_view text) { return project_parser(text).run(); }

}  // namespace gpulog::lsp
