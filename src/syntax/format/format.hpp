#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/parser.hpp"

/// The canonical form of a program's text. Comments, single blank lines between items and lines of the preprocessor
/// stay.
namespace gpulog::syntax {

/// A replacement of bytes [begin, end), which are whole lines.
struct text_edit {
  std::size_t begin = 0, end = 0;
  std::string text;
  friend bool operator==(const text_edit&, const text_edit&) = default;
};

/// Lines from 1, both included.
struct line_range {
  std::uint32_t first = 1;
  std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
};

/// Returns the edits that format the items in the given lines, in order. Also formats texts with syntax errors.
[[nodiscard]] std::vector<text_edit> format_edits(const source_file& file, const line_range& lines = {});

[[nodiscard]] std::string apply_edits(std::string_view text, const std::vector<text_edit>& edits);

/// Returns the edits that format a program. Reports syntax errors, and edits that would change the syntax tree, and
/// then returns no edits.
[[nodiscard]] std::vector<text_edit> format_program(source_file& file, source_manager& sources, diagnostics& report,
                                                    const parse_options& options, const line_range& lines = {});

}  // namespace gpulog::syntax
