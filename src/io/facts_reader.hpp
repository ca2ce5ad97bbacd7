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

/// One .input directive.
struct read_request {
  std::string relation;
  /// The directive's parameters, escapes resolved: IO (file, stdin, jsonfile, json, sqlite, parquet, arrow), filename,
  /// dbname, delimiter, columns, headers, rfc4180.
  std::map<std::string, std::string> parameters;
  /// One entry for each attribute; needed where values are found by name, as in JSON objects.
  std::vector<std::string> attribute_names;
  /// Where files with a relative name are.
  std::filesystem::path fact_directory;
  /// One entry for each attribute.
  std::vector<value_kind> kinds;
  /// Of records and algebraic data types.
  structured_columns structured;
  /// A file that does not exist is an empty relation instead of an error.
  bool missing_is_empty = false;
  unsigned threads = 1;
  /// Where rows are before there is room for all of them: of text that is not whole in memory, of tables and JSON.
  backend::memory_resource* memory = &backend::unlimited_memory();
  /// If set, told about how many bytes of text a file holds, before it is read; not of standard input and tables.
  std::function<void(std::uint64_t bytes)> on_size = {};
  /// Text that one thread takes at a time, in bytes; tests make it small.
  std::size_t piece_bytes = std::size_t{1} << 20;
  /// Where compressed files may be on their way already; nullptr: nowhere.
  prefetched_files* ahead = nullptr;
};

/// The file of text that a directive with these parameters reads; nothing for other formats and standard input.
[[nodiscard]] std::optional<std::filesystem::path> text_file_of(const std::string& relation,
                                                                const std::map<std::string, std::string>& parameters,
                                                                const std::filesystem::path& fact_directory);

/// The file that a directive with these parameters reads, whatever its format is; nothing of standard input.
[[nodiscard]] std::optional<std::filesystem::path> input_file_of(const std::string& relation,
                                                                 const std::map<std::string, std::string>& parameters,
                                                                 const std::filesystem::path& fact_directory);

/// Gives room for all rows of a directive: one pointer for each attribute, in attribute order, each to `rows` words.
/// Called once, from the thread that called read_facts; not at all when there are no rows.
using row_allocator = std::function<std::vector<word*>(std::uint64_t rows)>;

/// Longest part of a faulty value that a message shows, in bytes.
inline constexpr std::size_t longest_shown = 200;

/// Columns of rows whose number is not known yet, and what gives them their place: for a format's reader.
[[nodiscard]] std::vector<backend::array<word>> empty_columns(const read_request& request);
void hand_over(std::vector<backend::array<word>>& parsed, std::uint64_t rows, const row_allocator& allocate);

/// Reads the rows of a directive, in the order of the text and with their duplicates. Symbols get the numbers that
/// reading with one thread, lines from first to last and columns from left to right, would give.
/// @return the number of rows; of a nullary relation the number of its lines.
/// @throws backend::memory_exceeded, user_error naming relation, file, and line: for the first faulty line whatever the
/// threads.
std::uint64_t read_facts(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

}  // namespace gpulog::io
