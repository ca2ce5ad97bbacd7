#pragma once

#include <cstdint>

#include "io/facts_reader.hpp"
#include "io/formats/arrow/arrow_interface.hpp"

namespace gpulog::io {

/// Rows of a Parquet or Arrow file: of the parameter filename, else <relation>.parquet or .arrow. See read_arrow_rows.
template <arrow_format Format>
std::uint64_t read_arrow(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

/// Rows of a stream of tables. An attribute is the table's column of its name where all attributes have one, else the
/// column of its number, which the parameter columns changes as in text files. Numbers may have any width that holds
/// their values; texts are symbols, and values in the form of fact files elsewhere. A row with a null is an error.
/// @return the number of rows. @throws user_error naming the column and, from 1, the row
std::uint64_t read_arrow_rows(ArrowArrayStream& stream, const read_request& request, storage::symbol_table& symbols,
                              const row_allocator& allocate);

}  // namespace gpulog::io
