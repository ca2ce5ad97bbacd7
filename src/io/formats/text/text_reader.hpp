#pragma once

#include <span>

#include "io/facts_reader.hpp"

/// Readers of delimited text. docs/files.md describes the form of a line.
namespace gpulog::io {

/// As read_facts, from the file of the parameter filename, else <relation>.facts; compressed files are allowed.
std::uint64_t read_text_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate);

std::uint64_t read_text_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate);

/// As read_files, for several files.
void read_text_files(std::span<facts_file> files, storage::symbol_table& symbols);

}  // namespace gpulog::io
