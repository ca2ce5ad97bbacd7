#include "cli/format/unified_diff.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace gpulog::cli {
namespace {

constexpr std::size_t context_lines = 3;

std::size_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

void append_lines(std::string& out, char mark, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out += mark;
    out += text.substr(0, end);
    if (out.back() != '\n') out += "\n\\ No newline at end of file\n";
    text.remove_prefix(end);
  }
}

/// Returns the begin of the line that is `lines` before the line that begins at `at`.
std::size_t lines_back(std::string_view text, std::size_t at, std::size_t lines) {
  for (; lines > 0 && at > 0; --lines) at = at < 2 ? 0 : text.rfind('\n', at - 2) + 1;  // npos + 1 is 0
  return at;
}

std::size_t lines_ahead(std::string_view text, std::size_t at, std::size_t lines) {
  for (; lines > 0 && at < text.size(); --lines) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

std::string range_text(std::size_t line, std::size_t count) {
  const std::size_t shown = count == 0 ? line : line + 1;  // an empty range names the line before it
  return count == 1 ? fmt::format("{}", shown) : fmt::format("{},{}", shown, count);
}

}  // namespace

std::string unified_diff(const std::string& name, std::string_view text, const std::vector<syntax::text_edit>& edits) {
  if (edits.empty()) return {};
  std::string result = fmt::format("--- {}\n+++ {}\n", name, name);
  std::size_t old_line = 0, new_line = 0, passed = 0;  // lines before `passed`
  for (std::size_t first = 0, last = 0; first < edits.size(); first = last) {
    const std::size_t begin = lines_back(text, edits[first].begin, context_lines);
    std::size_t end = 0, at = begin;
    std::string hunk;
    std::size_t new_count = 0;
    do {
      const std::string_view unchanged = text.substr(at, edits[last].begin - at);
      new_count += count_lines(unchanged);
      append_lines(hunk, ' ', unchanged);
      std::string added;
      for (at = edits[last].begin; last < edits.size() && edits[last].begin == at; ++last) {
        new_count += count_lines(edits[last].text);
        append_lines(hunk, '-', text.substr(at, edits[last].end - at));
        append_lines(added, '+', edits[last].text);
        at = edits[last].end;
      }
      hunk += added;
      end = lines_ahead(text, at, context_lines);
    } while (last < edits.size() && lines_back(text, edits[last].begin, context_lines) <= end);
    append_lines(hunk, ' ', text.substr(at, end - at));
    new_count += count_lines(text.substr(at, end - at));
    const std::size_t unchanged = count_lines(text.substr(passed, begin - passed));
    const std::size_t old_count = count_lines(text.substr(begin, end - begin));
    old_line += unchanged;
    new_line += unchanged;
    result += fmt::format("@@ -{} +{} @@\n", range_text(old_line, old_count), range_text(new_line, new_count)) + hunk;
    old_line += old_count;
    new_line += new_count;
    passed = end;
  }
  return result;
}

}  // namespace gpulog::cli
