#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/relation_writer.hpp"

namespace gpulog::io {

/// What IO=NAME of a directive means: a format, and where it is read from or written to. A new format is a folder in
/// formats/ and a line in formats.cpp.
struct format {
  std::string_view name;
  /// As read_facts; nullptr: nothing is read this way.
  std::uint64_t (*read)(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);
  /// As write_relation; nullptr: nothing is written this way.
  void (*write)(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                output_files& files);
  bool prints = false;              ///< it writes to standard output
  std::string_view extension = {};  ///< of the files that it writes
  bool has_parts = false;           ///< several relations may share a file
  /// Throws what `write` would throw whatever the rows are; nullptr: the path is all that can be wrong.
  void (*check)(const std::string& relation, const write_request& request) = nullptr;
};

[[nodiscard]] std::span<const format> formats();

/// nullptr where there is none of this name.
[[nodiscard]] const format* find_format(std::string_view name);

/// " Did you mean 'file'?", of the formats that are usable; empty: none is near.
[[nodiscard]] std::string meant_format(std::string_view name, bool (*is_usable)(const format& one));

/// The file that an .output writes, as the parameters name it. @throws user_error for parameters that make no sense
[[nodiscard]] std::string output_name(const std::string& relation, const directive_parameters& parameters);

}  // namespace gpulog::io
