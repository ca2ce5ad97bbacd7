#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace gpulog::cli {

/// A statement of a test about its program, in a comment that begins with `expect`.
struct expectation {
  enum class kind : std::uint8_t {
    holds,    ///< BODY: the query has a row
    fails,    ///< not BODY: the query has no row
    count,    ///< count(BODY) = N, or count(RELATION) = N
    set,      ///< RELATION = {TUPLE, ...}
    error,    ///< error "TEXT": an error contains the text
    warning,  ///< warning "TEXT"
  };

  kind what = kind::holds;
  std::string subject;              ///< the body, the relation, or the text of the message
  std::string query;                ///< to compile, with the place of the body in the file; empty: none
  std::uint64_t count = 0;          ///< of kind::count
  std::vector<std::string> tuples;  ///< of kind::set, with their parentheses
  std::string text;                 ///< the first line of the comment, as written
  std::string fault;                ///< why the comment is no expectation, or empty
  std::size_t first_line = 0, last_line = 0;
  /// The count or the set in the file, which --update replaces.
  std::size_t value_begin = 0, value_end = 0;
};

/// Returns the expectations of a file. An open bracket continues an expectation on the comment of the next line.
[[nodiscard]] std::vector<expectation> expectations_in(const source_file& file);

/// Returns the set for a file, on several lines of comments if the first line would be too long.
/// @param tuples with their parentheses
[[nodiscard]] std::string set_text(const source_file& file, const expectation& stated,
                                   const std::vector<std::string>& tuples);

}  // namespace gpulog::cli
