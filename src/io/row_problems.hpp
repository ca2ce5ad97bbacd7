#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.hpp"

/// Rows that could not be parsed: for the readers of all formats, which continue after a faulty row.
namespace gpulog::io {

/// A faulty row.
struct row_problem {
  /// "Error converting <x> in column 1 in line 7"
  std::string what;
  /// In texts, the result of excerpt_at(); else empty.
  std::string excerpt = {};
  /// A suggestion; usually empty.
  std::string hint = {};
};

/// The faulty rows of a file or of a part of a file.
struct row_problems {
  static constexpr std::size_t most_shown = 10;

  std::vector<row_problem> first;  ///< at most most_shown
  std::uint64_t count = 0;
  bool is_all = true;  ///< false: the rest of the file could not be parsed

  [[nodiscard]] bool empty() const { return count == 0; }
  /// Adds a faulty row; calls describe() only for rows that the message shows.
  template <class Describe>
  void add(const Describe& describe) {
    ++count;
    if (first.size() < most_shown) first.push_back(describe());
  }
  /// Appends the faulty rows of the following part.
  void append(row_problems following);
  /// Returns the first problems with their excerpts, the number of further problems, and a hint, each on its own line.
  [[nodiscard]] std::string text() const;
};

/// Describes a value that does not fit the type of its column: "Error converting <x> in column 1 in line 7". Long
/// values are cut.
/// @param column from 0
/// @param place "line 7", "row 7"
/// @param has_wide_words whether words have 64 bits; with 32 bits, a number that fits 64 bits gets a hint
[[nodiscard]] row_problem conversion_problem(std::string_view value, value_kind kind, std::size_t column,
                                             std::string_view place, bool has_wide_words);

/// Returns the line at the place (of a long line only a part), and a second line with a caret below the place.
[[nodiscard]] std::string excerpt_at(std::string_view text, std::size_t place);

}  // namespace gpulog::io
