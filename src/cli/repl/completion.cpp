#include "cli/repl/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/line_text.hpp"

namespace gpulog::cli {

std::size_t last_word(std::string_view text) {
  std::size_t begin = text.size();
  const auto is_in_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '?' || c == '.'; };
  while (begin > 0 && is_in_word(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return begin;
}

completion complete(std::string_view word, std::vector<std::string> candidates) {
  std::erase_if(candidates, [&](const std::string& one) { return !one.starts_with(word); });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  if (candidates.empty()) return {};
  const std::string& first = candidates.front();
  const std::string& last = candidates.back();
  const std::size_t shortest = std::min(first.size(), last.size());
  const auto end = std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(shortest), last.begin());
  return {{first.begin() + static_cast<std::ptrdiff_t>(word.size()), end.first}, std::move(candidates)};
}

std::string in_lines(const std::vector<std::string>& words) {
  constexpr std::size_t most_words = 100;
  constexpr std::size_t columns = 80;
  constexpr std::string_view gap = "  ";
  std::string text, line;
  for (std::size_t number = 0; number < std::min(words.size(), most_words); ++number) {
    const std::string word = trimmed(words[number]);
    if (!line.empty() && line.size() + gap.size() + word.size() > columns) {
      text += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += gap;
    line += word;
  }
  text += line + "\n";
  if (words.size() > most_words) text += fmt::format("and {} more\n", words.size() - most_words);
  return text;
}

}  // namespace gpulog::cli
