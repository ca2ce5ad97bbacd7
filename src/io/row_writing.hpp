#pragma once

#include <string_view>

#include "io/files/compression.hpp"
#include "io/row_formatter.hpp"

/// The text of a relation's rows on its way to a file or to standard output: many threads make it, in pieces, and it
/// is written in the order of the rows. For the formats that are texts.
namespace gpulog::io {

/// Texts that others have begun to print come first. @throws output_error
void print_text(std::string_view text);

/// @param threads that format
/// @throws output_error
void print_rows(const relation_rows& rows, const row_formatter& formatter, unsigned threads);

/// Into the file of output_name(), which is added to `files`.
/// The bytes do not depend on the number of threads, whatever compresses them. @throws output_error
void write_rows(const relation_rows& rows, const write_request& request, const row_formatter& formatter,
                compression how, output_files& files);

}  // namespace gpulog::io
