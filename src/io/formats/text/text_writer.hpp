#pragma once

#include "io/relation_writer.hpp"

namespace gpulog::io {

/// As write_relation, to the file of the parameter filename, or <relation>.csv.
void write_text_file(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                     output_files& files);

/// With frame lines that name the relation.
void print_as_text(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& files);

/// @throws user_error for a delimiter that can't be written
void check_text(const std::string& relation, const write_request& request);

}  // namespace gpulog::io
