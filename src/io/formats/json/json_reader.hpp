#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/facts_reader.hpp"

namespace gpulog::io {

/// Rows from a JSON text: a list whose elements are lists of values in attribute order, or objects that name the
/// attributes. One thread; columns[attribute] gets the values in the order of the text.
/// @return the number of rows. @throws read_failure that names the line.
std::uint64_t parse_json_rows(std::string_view text, const read_request& request, storage::symbol_table& symbols,
                              std::vector<backend::array<word>>& columns);

}  // namespace gpulog::io
