#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Functions on texts. Positions are bytes. Letters are those of ASCII, so that results depend on no locale; all other
/// bytes, such as the bytes of letters in UTF-8, stay as they are.
namespace gpulog::kernels {

/// As in Soufflé, a start outside the text returns an empty text, and a negative length the rest.
[[nodiscard]] std::string_view substring_of(std::string_view whole, std::int64_t start, std::int64_t length);

/// Returns the first position from `from` on where the part begins, or -1. A negative `from` is 0.
[[nodiscard]] std::int64_t index_of_part(std::string_view text, std::string_view part, std::int64_t from);

/// Replaces the occurrences of `part` from left to right. An empty part does not occur.
/// @throws user_error for a result that is too long to be stored
[[nodiscard]] std::string replaced(std::string_view text, std::string_view part, std::string_view replacement);

[[nodiscard]] std::string in_lower_case(std::string_view text);
[[nodiscard]] std::string in_upper_case(std::string_view text);

/// Removes blanks, tabs and line breaks from both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Returns the number of parts between separators: at least 1. An empty separator does not occur.
[[nodiscard]] std::int64_t count_parts(std::string_view text, std::string_view separator);

/// Finds the parts of texts between separators. Remembers where the parts of the last text begin, so that rows which
/// read the parts of a text one after another read the text once.
class part_finder {
 public:
  /// Returns a part, or an empty text for a number that no part has.
  /// @param text, separator valid until forget() or the end of the finder
  [[nodiscard]] std::string_view part(std::string_view text, std::string_view separator, std::int64_t number);
  void forget() { *this = {}; }

 private:
  std::string_view text_, separator_;
  std::vector<std::uint32_t> begins_;  ///< of the first parts; a symbol has less than 4 GiB
};

}  // namespace gpulog::kernels
