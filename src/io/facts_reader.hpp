#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/array.hpp"
#include "io/values/structured_value.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/ids.hpp"

namespace gpulog::io {

class prefetched_files;

/// An .input directive.
struct read_request {
  std::string relation;
  /// The directive's parameters, with escapes resolved: IO (file, stdin, jsonfile, json, sqlite, parquet, arrow),
  /// filename, dbname, delimiter, columns, headers, rfc4180.
  std::map<std::string, std::string> parameters;
  /// By attribute; required if values are matched by name, as in JSON objects.
  std::vector<std::string> attribute_names;
  /// Base directory of relative file names.
  std::filesystem::path fact_directory;
  /// By attribute.
  std::vector<value_kind> kinds;
  /// For records and algebraic data types.
  structured_columns structured;
  /// Treats a missing file as an empty relation.
  bool missing_is_empty = false;
  unsigned threads = 1;
  /// Holds rows until their number is known: rows of streams, tables and JSON.
  backend::memory_resource* memory = &backend::unlimited_memory();
  /// If set, receives the approximate size of a file of text in bytes before the file is read; not called for standard
  /// input and tables.
  std::function<void(std::uint64_t bytes)> on_size = {};
  /// Bytes of text that a thread parses per piece; small in tests.
  std::size_t piece_bytes = std::size_t{1} << 20;
  /// Compressed files that threads decompress ahead; nullptr: none.
  prefetched_files* ahead = nullptr;
};

/// Returns the text file that a directive with these parameters reads; nothing for different formats and standard
/// input.
[[nodiscard]] std::optional<std::filesystem::path> text_file_of(const std::string& relation,
                                                                const std::map<std::string, std::string>& parameters,
                                                                const std::filesystem::path& fact_directory);

/// The file that a directive with these parameters reads, in any format; nothing for standard input.
[[nodiscard]] std::optional<std::filesystem::path> input_file_of(const std::string& relation,
                                                                 const std::map<std::string, std::string>& parameters,
                                                                 const std::filesystem::path& fact_directory);

/// Allocates all rows of a directive: one pointer per attribute, in attribute order, each to `rows` words. read_facts
/// calls the allocator at most once, from the calling thread, and never for zero rows.
using row_allocator = std::function<std::vector<word*>(std::uint64_t rows)>;

/// Maximum bytes of a faulty value in a message.
inline constexpr std::size_t longest_shown = 200;

/// For readers of formats: columns of a growing number of rows, and the copy of these columns into allocated rows.
[[nodiscard]] std::vector<backend::array<word>> empty_columns(const read_request& request);
void hand_over(std::vector<backend::array<word>>& parsed, std::uint64_t rows, const row_allocator& allocate);

/// Reads the rows of a directive, in the order of the text and with duplicates. Symbols get the numbers of a reader
/// with one thread, lines from first to last and columns from left to right.
/// @return the number of rows; of a nullary relation the number of its lines
/// @throws backend::memory_exceeded, user_error with relation, file and line; the number of threads does not change the
/// message
std::uint64_t read_facts(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

}  // namespace gpulog::io
