#pragma once

#include <string_view>

#include "io/files/compression.hpp"
#include "io/row_formatter.hpp"

/// Writes the text of a relation's rows to a file or to standard output, for formats of text: many threads format
/// pieces, and the pieces are written in row order.
namespace gpulog::io {

/// Flushes the buffers of other writers to standard output first. @throws output_error
void print_text(std::string_view text);

/// The number of pieces that threads format.
[[nodiscard]] std::uint64_t count_pieces(const relation_rows& rows);

/// @param threads number of formatting threads
/// @throws output_error
void print_rows(const relation_rows& rows, const row_formatter& formatter, unsigned threads);

/// Writes the file of output_name(), and adds the file to `files`. The bytes do not depend on the number of threads,
/// also if compressed. @throws output_error
void write_rows(const relation_rows& rows, const write_request& request, const row_formatter& formatter,
                compression how, output_files& files);

}  // namespace gpulog::io
