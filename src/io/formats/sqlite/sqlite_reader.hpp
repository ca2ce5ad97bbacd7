#pragma once

#include <cstdint>

#include "io/facts_reader.hpp"

namespace gpulog::io {

/// Reads the table or view with the relation's name from the database of the parameter filename or dbname. Uses one
/// thread.
/// @return the number of rows
/// @throws user_error
std::uint64_t read_sqlite(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

}  // namespace gpulog::io
