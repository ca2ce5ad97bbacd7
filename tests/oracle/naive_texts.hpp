#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The functions on texts, as plainly as possible.
namespace gpulog::oracle {

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

inline std::int64_t index_of(const std::string& text, const std::string& part, std::int64_t from) {
  for (std::size_t at = from < 0 ? 0 : static_cast<std::size_t>(from); at + part.size() <= text.size(); ++at) {
    if (text.compare(at, part.size(), part) == 0) return static_cast<std::int64_t>(at);
  }
  return -1;
}

inline std::vector<std::string> parts_of(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < text.size();) {
    if (!separator.empty() && text.compare(at, separator.size(), separator) == 0) {
      parts.emplace_back();
      at += separator.size();
    } else {
      parts.back() += text[at++];
    }
  }
  return parts;
}

inline std::string part_of(const std::string& text, const std::string& separator, std::int64_t number) {
  const std::vector<std::string> parts = parts_of(text, separator);
  return number >= 0 && static_cast<std::size_t>(number) < parts.size() ? parts[static_cast<std::size_t>(number)] : "";
}

inline std::string replaced(const std::string& text, const std::string& part, const std::string& replacement) {
  const std::vector<std::string> parts = parts_of(text, part);
  std::string result = parts.front();
  for (std::size_t number = 1; number < parts.size(); ++number) result += replacement + parts[number];
  return result;
}

/// @param first 'A' to lower all letters, 'a' to raise all letters
inline std::string in_other_case(std::string text, char first) {
  constexpr int letters = 26;
  for (char& letter : text) {
    if (letter >= first && letter < first + letters) letter = static_cast<char>(letter ^ ('a' - 'A'));
  }
  return text;
}

inline std::string trimmed(std::string text) {
  const auto is_blank = [](char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); };
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  while (!text.empty() && is_blank(text.front())) text.erase(text.begin());
  return text;
}

}  // namespace gpulog::oracle
