#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/format/pieces.hpp"

namespace gpulog::syntax {

/// Lines of the formatted text that belong together: an item, facts on one line, or a comment.
struct format_row {
  std::size_t begin = 0, end = 0;  ///< in the text of the file, with comments after the item
  std::size_t indent = 0;
  std::string text;                ///< without indentation, comments after the item, and line end
  std::string comment;             ///< comments after the item on its last line
  std::size_t comment_column = 0;  ///< of the first comment in the file
  bool has_blank_before = false;
  bool has_several_lines = false;

  /// The facts of a row: the name of the relation and the number of arguments.
  struct fact {
    std::string_view name;
    std::size_t arguments = 0;
    friend bool operator==(const fact&, const fact&) = default;
  };
  std::vector<fact> facts;         ///< empty if the row has anything else
  std::vector<std::size_t> cells;  ///< ends of arguments and facts in `text`, except the last
  bool is_padded = false;          ///< whether the file has several blanks between tokens of the facts
};

/// Returns the rows of a program. Facts and comments in columns are aligned.
/// @param newline the line end of the file
[[nodiscard]] std::vector<format_row> rows_of(const format_pieces& pieces, std::string_view newline);

}  // namespace gpulog::syntax
