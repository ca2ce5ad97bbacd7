#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.hpp"

/// The rows of a file that could not be read: for the readers of all formats, which go on behind such a row.
namespace gpulog::io {

/// A row that could not be read.
struct row_problem {
  /// "Error converting <x> in column 1 in line 7"
  std::string what;
  /// In texts, what excerpt_at() gives; else empty.
  std::string excerpt = {};
  /// What would help; usually empty.
  std::string hint = {};
};

/// All rows of a file, or of a part of one, that could not be read.
struct row_problems {
  static constexpr std::size_t most_shown = 10;

  std::vector<row_problem> first;  ///< at most so many
  std::uint64_t count = 0;
  bool is_all = true;  ///< false: what is behind the last one could not be looked at

  [[nodiscard]] bool empty() const { return count == 0; }
  /// A further one; describe() gives it, and is called only for one that is shown.
  template <class Describe>
  void add(const Describe& describe) {
    ++count;
    if (first.size() < most_shown) first.push_back(describe());
  }
  /// Those of what follows.
  void append(row_problems following);
  /// The first ones with their excerpts, how many more there are, and a hint: a line for each.
  [[nodiscard]] std::string text() const;
};

/// A value that is none of its column's type: "Error converting <x> in column 1 in line 7". A long one is cut.
/// @param column from 0
/// @param place "line 7", "row 7"
/// @param has_wide_words whether words have 64 bits; else a number that would fit these gets a hint
[[nodiscard]] row_problem conversion_problem(std::string_view value, value_kind kind, std::size_t column,
                                             std::string_view place, bool has_wide_words);

/// The line that holds the place, or what is around the place in a long one, and a line below it with a caret there.
[[nodiscard]] std::string excerpt_at(std::string_view text, std::size_t place);

}  // namespace gpulog::io
