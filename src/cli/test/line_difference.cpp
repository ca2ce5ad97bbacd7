#include "cli/test/line_difference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>

namespace gpulog::cli {
namespace {

constexpr std::size_t most_lines = 20;

/// Returns the texts that `others` lacks.
std::vector<std::string> lacking(const std::vector<std::string>& texts, const std::vector<std::string>& others) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& text : others) ++counts[text];
  std::vector<std::string> result;
  for (const std::string& text : texts) {
    std::size_t& count = counts[text];
    if (count == 0) {
      result.push_back(text);
    } else {
      --count;
    }
  }
  return result;
}

std::string marked(char mark, const std::vector<std::string>& texts) {
  std::string result;
  for (std::size_t number = 0; number < std::min(texts.size(), most_lines); ++number)
    result += fmt::format("{} {}\n", mark, texts[number]);
  if (texts.size() > most_lines) result += fmt::format("{} ... and {} more\n", mark, texts.size() - most_lines);
  return result;
}

}  // namespace

line_difference::line_difference(const std::vector<std::string>& wanted, const std::vector<std::string>& actual)
    : missing(lacking(wanted, actual)), unexpected(lacking(actual, wanted)) {}

std::string line_difference::summary(std::string_view noun) const {
  const auto counted = [noun](const char* adjective, std::size_t count) {
    return fmt::format("{} {} {}{}", count, adjective, noun, count == 1 ? "" : "s");
  };
  std::string text;
  if (!missing.empty()) text = counted("missing", missing.size());
  if (!unexpected.empty()) text += (text.empty() ? "" : " and ") + counted("unexpected", unexpected.size());
  return text;
}

std::string line_difference::text() const { return marked('-', missing) + marked('+', unexpected); }

}  // namespace gpulog::cli
