#include "kernels/steps/text_functions.hpp"

#include <algorithm>

#include "storage/symbols/symbol_table.hpp"
#include "support/long_vector.hpp"

namespace gpulog::kernels {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Returns the position of the part, or npos also for an empty part.
std::size_t find_part(std::string_view text, std::string_view part, std::size_t from) {
  return part.empty() ? std::string_view::npos : text.find(part, from);
}

}  // namespace

std::string_view substring_of(std::string_view whole, std::int64_t start, std::int64_t length) {
  if (start < 0 || static_cast<std::size_t>(start) > whole.size()) return {};
  return whole.substr(static_cast<std::size_t>(start),
                      length < 0 ? std::string_view::npos : static_cast<std::size_t>(length));
}

std::int64_t index_of_part(std::string_view text, std::string_view part, std::int64_t from) {
  const std::size_t found = text.find(part, static_cast<std::size_t>(std::max<std::int64_t>(from, 0)));
  return found == std::string_view::npos ? -1 : static_cast<std::int64_t>(found);
}

std::string replaced(std::string_view text, std::string_view part, std::string_view replacement) {
  const auto occurrences = static_cast<std::uint64_t>(count_parts(text, part) - 1);
  const std::uint64_t bytes = text.size() - occurrences * part.size() + occurrences * replacement.size();
  storage::symbol_table::require_length(bytes);
  std::string result;
  result.reserve(memory_size(bytes));
  std::size_t begin = 0;
  for (std::size_t at = find_part(text, part, 0); at != std::string_view::npos; at = find_part(text, part, begin)) {
    result += text.substr(begin, at - begin);
    result += replacement;
    begin = at + part.size();
  }
  result += text.substr(begin);
  return result;
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string in_upper_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), upper);
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::int64_t count_parts(std::string_view text, std::string_view separator) {
  std::int64_t count = 1;
  std::size_t at = find_part(text, separator, 0);
  for (; at != std::string_view::npos; at = find_part(text, separator, at + separator.size())) ++count;
  return count;
}

std::string_view part_finder::part(std::string_view text, std::string_view separator, std::int64_t number) {
  if (begins_.empty() || text.data() != text_.data() || text.size() != text_.size() || separator != separator_) {
    text_ = text;
    separator_ = separator;
    begins_.assign(1, 0);
  }
  if (number < 0) return {};
  const auto part = static_cast<std::size_t>(number);
  const auto end_of_last = [&] { return find_part(text, separator, begins_.back()); };
  while (begins_.size() <= part) {
    const std::size_t end = end_of_last();
    if (end == std::string_view::npos) return {};
    begins_.push_back(static_cast<std::uint32_t>(end + separator.size()));
  }
  const std::size_t begin = begins_[part];
  if (part + 1 < begins_.size()) return text.substr(begin, begins_[part + 1] - separator.size() - begin);
  const std::size_t end = end_of_last();
  return text.substr(begin, end == std::string_view::npos ? end : end - begin);
}

}  // namespace gpulog::kernels
