#include "io/row_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/facts_reader.hpp"
#include "io/values/number_text.hpp"
#include "support/option_names.hpp"

namespace gpulog::io {
namespace {

/// Replaces control characters, which would break a message.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; }, '?');
  return shown;
}

/// Whether the text is a number that fits words of 64 bits, but not of 32 bits.
bool needs_wide_words(std::string_view text, value_kind kind) {
  if (kind == value_kind::number) {
    std::int32_t narrow = 0;
    std::int64_t wide = 0;
    return !parse_number(text, narrow) && parse_number(text, wide);
  }
  std::uint32_t narrow = 0;
  std::uint64_t wide = 0;
  return kind == value_kind::unsigned_number && !parse_unsigned(text, narrow) && parse_unsigned(text, wide);
}

}  // namespace

void row_problems::append(row_problems following) {
  for (row_problem& one : following.first) {
    if (first.size() < most_shown) first.push_back(std::move(one));
  }
  count += following.count;
  is_all = is_all && following.is_all;
}

std::string row_problems::text() const {
  std::string lines;
  std::string hint;
  for (const row_problem& one : first) {
    lines += fmt::format("{}{}{}{}", lines.empty() ? "" : "\n", one.what, one.excerpt.empty() ? "" : "\n", one.excerpt);
    if (hint.empty()) hint = one.hint;
  }
  const std::uint64_t more = count - first.size();
  if (more > 0) lines += fmt::format("\n{}{} more", is_all ? "" : "at least ", more);
  if (!hint.empty()) lines += "\n" + hint;
  return lines;
}

row_problem conversion_problem(std::string_view value, value_kind kind, std::size_t column, std::string_view place,
                               bool has_wide_words) {
  const bool cut = value.size() > longest_shown;
  std::string shown = printable(value.substr(0, longest_shown));
  std::replace(shown.begin(), shown.end(), '\t', '?');
  row_problem found{
      fmt::format("Error converting <{}{}> in column {} in {}", shown, cut ? "..." : "", column + 1, place)};
  if (!has_wide_words && needs_wide_words(value, kind)) {
    found.hint = "Numbers have 32 bits here; with " + option_named("word-size", "64") + " they have 64 bits";
  }
  return found;
}

std::string excerpt_at(std::string_view text, std::size_t place) {
  const std::size_t before = place == 0 ? std::string_view::npos : text.rfind('\n', place - 1);
  std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::size_t end = std::min(text.find('\n', place), text.size());
  if (end > begin && end > place && text[end - 1] == '\r') --end;
  if (end - begin > longest_shown) {
    begin = std::max(begin, place - std::min(place, longest_shown / 2));
    end = std::min(end, begin + longest_shown);
  }
  std::string marks;
  for (std::size_t at = begin; at < place; ++at) {
    const bool goes_on = (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;  // a continuation byte of UTF-8
    if (!goes_on) marks += text[at] == '\t' ? '\t' : '-';
  }
  return printable(text.substr(begin, end - begin)) + "\n" + marks + "^";
}

}  // namespace gpulog::io
