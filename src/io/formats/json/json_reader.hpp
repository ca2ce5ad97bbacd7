#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/facts_reader.hpp"

namespace gpulog::io {

/// Reads rows from a JSON text: a list of lists in attribute order, or a list of objects with attribute names. One
/// thread; columns[attribute] receives the values in the order of the text.
/// @return the number of rows
/// @throws read_failure with row_problems::text()
std::uint64_t parse_json_rows(std::string_view text, const read_request& request, storage::symbol_table& symbols,
                              std::vector<backend::array<word>>& columns);

/// As read_facts, from the file of the parameter filename, else <relation>.json; compressed files are allowed.
std::uint64_t read_json_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate);

std::uint64_t read_json_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate);

}  // namespace gpulog::io
