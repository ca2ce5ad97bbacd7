#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/array.hpp"
#include "io/values/structured_value.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/error.hpp"
#include "support/ids.hpp"

namespace gpulog::io {

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
  /// By attribute: whether the program never reads the texts. A reader of text files gives such columns the number 0
  /// and stores no text. Empty: the program may read all texts.
  std::vector<bool> unread_texts = {};
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
  /// Limit of the text that waits to be parsed, in bytes; several threads keep a few pieces each.
  std::uint64_t bytes_ahead = std::uint64_t{64} << 20;
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

/// Allocates all rows of a directive: one pointer per attribute, in attribute order, each to `rows` words. Files
/// without rows allocate nothing. A further call replaces the earlier allocation; zero rows free the memory.
using row_allocator = std::function<std::vector<word*>(std::uint64_t rows)>;

/// Maximum bytes of a faulty value in a message.
inline constexpr std::size_t longest_shown = 200;

/// For readers of formats: columns of a growing number of rows, and the copy of these columns into allocated rows.
[[nodiscard]] std::vector<backend::array<word>> empty_columns(const read_request& request);
void hand_over(std::vector<backend::array<word>>& parsed, std::uint64_t rows, const row_allocator& allocate);

/// Adds the relation to the message of a reader.
[[nodiscard]] user_error with_relation(const user_error& problem, const read_request& request);

/// Reads the rows of a directive, in the order of the text and with duplicates. Symbols get the numbers of a reader
/// with one thread, lines from first to last and columns from left to right.
/// @return the number of rows; of a nullary relation the number of its lines
/// @throws backend::memory_exceeded, user_error with relation, file and line; the number of threads does not change the
/// message
std::uint64_t read_facts(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate);

/// A file that read_files() reads, and its outcome.
struct facts_file {
  read_request request;
  row_allocator allocate;  ///< called by any thread, for one file at a time, like on_size
  std::uint64_t rows = 0;
  double begin = 0;  ///< seconds of the steady clock
  double seconds = 0;
  std::exception_ptr failure = nullptr;  ///< the exception of read_facts()
};

/// Returns whether read_files() may read several files of this kind at a time: text in a regular file, without records.
/// The numbers of records depend on the order of reading.
[[nodiscard]] bool is_read_beside_others(const read_request& request);

/// Reads several files at a time, with the threads of the first request. Outcomes are as if files were read one by one;
/// files after a failed file may be unread.
/// @param files a single file, or files for which is_read_beside_others() holds
void read_files(std::span<facts_file> files, storage::symbol_table& symbols);

}  // namespace gpulog::io
