#pragma once

#include "io/relation_writer.hpp"

namespace gpulog::io {

/// As write_relation, into the file of the parameter filename, else <relation>.csv.
void write_text_file(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                     output_files& files);

/// With lines around it that name the relation.
void print_as_text(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& files);

}  // namespace gpulog::io
