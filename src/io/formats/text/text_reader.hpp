#pragma once

#include "io/facts_reader.hpp"

/// Lines of values with a delimiter between them. The form of a line: docs/files.md.
namespace gpulog::io {

/// As read_facts, from the file of the parameter filename, else <relation>.facts; it may be compressed.
std::uint64_t read_text_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate);

std::uint64_t read_text_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate);

}  // namespace gpulog::io
