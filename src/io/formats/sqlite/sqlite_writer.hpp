#pragma once

#include "io/relation_writer.hpp"

namespace gpulog::io {

/// Writes rows into the database of the parameter filename or dbname: a table "_<relation>" of numbers and numbers of
/// symbols, the symbols in the table "__SymbolTable", and a view "<relation>" of the rows with their texts. Other
/// tables of an existing database stay. Directives with the same database share a file of `files`.
/// @throws user_error for names that the database can't have, output_error when writing fails
void write_sqlite(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                  output_files& files);

/// @throws user_error for a name that can't be in the database, output_error for a file that is no database
void check_sqlite(const std::string& relation, const write_request& request);

}  // namespace gpulog::io
