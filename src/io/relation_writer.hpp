#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/output_files.hpp"
#include "io/values/structured_value.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/ids.hpp"

namespace gpulog::io {

/// A relation's rows as they are to be written; the columns belong to the caller. Rows that stand nowhere (pairs of an
/// equivalence relation) are made by `read`, and the columns are nullptr.
struct relation_rows {
  std::string relation;
  std::vector<std::string> attribute_names;
  std::vector<value_kind> kinds;
  std::vector<const word*> columns;
  std::uint64_t rows = 0;
  /// Writes rows [first, first + n) to one array a column, for any number of threads at a time; or nothing.
  std::function<void(std::uint64_t first, std::uint64_t n, word* const* columns)> read;
  structured_columns structured;  ///< of records and algebraic data types
  /// Where texts are made that are larger than a few megabytes.
  backend::memory_resource* memory = &backend::unlimited_memory();
};

/// One .output directive.
struct write_request {
  /// The directive's parameters, escapes resolved: IO (file, stdout, jsonfile, json, sqlite, parquet, arrow,
  /// stdoutprintsize), filename, dbname, delimiter, headers, rfc4180, compress, format.
  std::map<std::string, std::string> parameters;
  /// Where files with a relative name go; "-" sends every directive to standard output, with headers.
  std::filesystem::path output_directory;
  unsigned threads = 1;
};

/// Writes rows in the order given, to standard output or to a file that is added to `files`; the bytes don't depend on
/// the number of threads. @throws user_error for parameters that make no sense, output_error when writing fails.
void write_relation(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                    output_files& files);

/// Whether what is written is printed at once: it can't be taken back when something else fails.
[[nodiscard]] bool prints_on_standard_output(const write_request& request);

/// What an .output replaces: a file or, where several may share it, a part of one.
struct output_place {
  std::filesystem::path file;  ///< the same for all paths of a file
  std::string part;            ///< empty: the whole file
};

/// Whether both would replace the same text, file or table. SQLite has tables "r" and "_r" for a relation "r".
[[nodiscard]] bool overlap(const output_place& a, const output_place& b);

/// Finds before a run what would make write_relation() fail: parameters, the path, a database, a library that is
/// missing. @throws user_error, output_error
void require_writable(const std::string& relation, const write_request& request, output_check& files);

/// Nothing where it is written to standard output, a device or a pipe, which takes any number of outputs.
/// @throws user_error for parameters that make no sense, or for a database that is no file
[[nodiscard]] std::optional<output_place> place_of(const std::string& relation, const write_request& request);

/// The same of a file that is no relation's.
[[nodiscard]] std::optional<output_place> place_of(const std::filesystem::path& file);

/// .printsize: the relation's name, a tab and its size on standard output. @throws output_error
void print_relation_size(const std::string& relation, std::uint64_t rows);

/// Whether a query without variables holds, on standard output, in the frame of a relation. @throws output_error
void print_answer(const std::string& query, bool holds);

}  // namespace gpulog::io
