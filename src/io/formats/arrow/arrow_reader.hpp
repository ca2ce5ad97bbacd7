#pragma once

#include <cstdint>

#include "io/facts_reader.hpp"
#include "io/formats/arrow/arrow_interface.hpp"

namespace gpulog::io {

/// Reads a Parquet or Arrow file: the parameter filename, or <relation>.parquet or .arrow. See read_arrow_rows.
template <arrow_format Format>
std::uint64_t read_arrow(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

/// Reads the rows of a stream of tables. Columns are matched by name if the table has all attribute names, else by
/// number, which the parameter columns changes as in text files. Numbers may have any width that holds their values.
/// Texts are symbols, or values in the form of fact files for other types. A null is an error.
/// @return the number of rows
/// @throws user_error with the column and the row, both from 1
std::uint64_t read_arrow_rows(ArrowArrayStream& stream, const read_request& request, storage::symbol_table& symbols,
                              const row_allocator& allocate);

}  // namespace gpulog::io
