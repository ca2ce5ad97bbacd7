#pragma once

#include "io/relation_writer.hpp"

namespace gpulog::io {

/// As write_relation, to the file of the parameter filename, or <relation>.json.
void write_json_file(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                     output_files& files);

void print_as_json(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& files);

}  // namespace gpulog::io
