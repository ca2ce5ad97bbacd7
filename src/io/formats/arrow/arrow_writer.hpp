#pragma once

#include "io/formats/arrow/arrow_interface.hpp"
#include "io/relation_writer.hpp"

namespace gpulog::io {

/// Writes rows to a Parquet or Arrow file: the parameter filename, or <relation>.parquet or .arrow, which is added to
/// `files`.
/// @throws user_error, output_error
template <arrow_format Format>
void write_arrow(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                 output_files& files);

/// @throws user_error where gpulog was built without Arrow
void check_arrow(const std::string& relation, const write_request& request);

/// Exports the rows as a stream of tables with a column per attribute: integers and floats of the word size, symbols as
/// texts (as bytes if a symbol is not UTF-8), records and branches in the form of fact files. A nullary relation has a
/// column "()" of texts. The stream refers to its arguments.
void export_arrow_rows(const relation_rows& rows, const storage::symbol_table& symbols, ArrowArrayStream& stream);

}  // namespace gpulog::io
