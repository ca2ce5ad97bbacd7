#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/relation_writer.hpp"

namespace gpulog::io {

/// The meaning of IO=NAME: a format with its reader and writer. A new format is a folder in formats/ and a line in
/// formats.cpp.
struct format {
  std::string_view name;
  /// As read_facts; nullptr: the format has no reader.
  std::uint64_t (*read)(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);
  /// As write_relation; nullptr: the format has no writer.
  void (*write)(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                output_files& files);
  bool prints = false;              ///< the writer prints on standard output
  std::string_view extension = {};  ///< of written files; empty: the format writes no files
  bool has_parts = false;           ///< several relations may share a file
  /// Throws the errors of `write` that do not depend on rows; nullptr: only the path can be wrong.
  void (*check)(const std::string& relation, const write_request& request) = nullptr;
};

[[nodiscard]] std::span<const format> formats();

/// Returns nullptr for an unknown name.
[[nodiscard]] const format* find_format(std::string_view name);

/// Returns " Did you mean 'file'?" for a usable format with a similar name; else an empty text.
[[nodiscard]] std::string meant_format(std::string_view name, bool (*is_usable)(const format& one));

/// The file of an .output, as the parameters name it. @throws user_error for a database without a file
[[nodiscard]] std::string output_name(const std::string& relation, const directive_parameters& parameters);

}  // namespace gpulog::io
