#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/formats/text/row_layout.hpp"
#include "io/row_problems.hpp"
#include "io/symbol_queue.hpp"
#include "storage/symbols/symbol_table.hpp"

namespace gpulog::io {

/// A piece of text made of whole rows.
struct text_piece {
  std::string_view text;
  /// The number of the first line, from 1.
  std::uint64_t first_line = 1;
};

/// Number of rows and lines of a text.
struct row_count {
  std::uint64_t rows = 0;
  std::uint64_t lines = 0;
  /// Bytes of the whole rows of a text; less than the text if the last row may continue after the text.
  std::size_t whole_bytes = 0;
};

/// Counts the rows of a text that begins with a row. With `complete`, the text is the last one, and a last row without
/// a line break counts.
row_count count_rows(std::string_view text, const row_layout& layout, bool complete);

/// Parses rows into columns, one pointer per attribute, and interns symbols immediately.
row_problems parse_rows(const text_piece& piece, const row_layout& layout, const std::vector<word*>& columns,
                        storage::symbol_table& symbols);

/// Parses rows, and interns symbols in one part of a load.
row_problems parse_rows(const text_piece& piece, const row_layout& layout, const std::vector<word*>& columns,
                        storage::ordered_interning::part& symbols);

}  // namespace gpulog::io
