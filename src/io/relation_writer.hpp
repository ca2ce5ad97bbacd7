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

/// The rows of a relation for a writer; the columns belong to the caller. If no columns exist (pairs of an equivalence
/// relation, rows on a device), the columns are nullptr and `read` copies rows.
struct relation_rows {
  std::string relation;
  std::vector<std::string> attribute_names;
  std::vector<value_kind> kinds;
  std::vector<const word*> columns;
  std::uint64_t rows = 0;
  /// Copies rows [first, first + n) into one array per column; for any number of threads at a time; or empty.
  std::function<void(std::uint64_t first, std::uint64_t n, word* const* columns)> read;
  structured_columns structured;  ///< for records and algebraic data types
  /// Allocates texts larger than a few megabytes.
  backend::memory_resource* memory = &backend::unlimited_memory();
};

/// An .output directive.
struct write_request {
  /// The directive's parameters, with escapes resolved: IO (file, stdout, jsonfile, json, sqlite, parquet, arrow,
  /// stdoutprintsize), filename, dbname, delimiter, headers, rfc4180, compress, format.
  std::map<std::string, std::string> parameters;
  /// Base directory of relative file names; "-" prints every directive to standard output, with headers.
  std::filesystem::path output_directory;
  unsigned threads = 1;
};

/// Writes rows in the given order, to standard output or to a file that is added to `files`; the bytes do not depend on
/// the number of threads.
/// @throws user_error for invalid parameters, output_error if writing fails
void write_relation(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                    output_files& files);

/// Whether the output is a file that no other relation writes: several such outputs may be written at a time, each with
/// its own output_files.
[[nodiscard]] bool has_own_file(const write_request& request);

/// Whether the output is printed at once: a later failure can't undo printing.
[[nodiscard]] bool prints_on_standard_output(const write_request& request);

/// The target of an .output: a file, or a part of a file that several outputs may share.
struct output_place {
  std::filesystem::path file;  ///< equal for all paths to the same file
  std::string part;            ///< empty: the whole file
};

/// Whether both would replace the same text, file or table. SQLite has tables "r" and "_r" for a relation "r".
[[nodiscard]] bool overlap(const output_place& a, const output_place& b);

/// Throws the errors of write_relation() that are known before a run: parameters, the path, a database, a missing
/// library. @throws user_error, output_error
void require_writable(const std::string& relation, const write_request& request, output_check& files);

/// Returns nothing for standard output, a device or a pipe, which take any number of outputs. @throws user_error for
/// unknown formats, or for a database without a file
[[nodiscard]] std::optional<output_place> place_of(const std::string& relation, const write_request& request);

/// The same for a file that belongs to no relation.
[[nodiscard]] std::optional<output_place> place_of(const std::filesystem::path& file);

/// Prints a relation's name, a tab and the size on standard output. @throws output_error
void print_relation_size(const std::string& relation, std::uint64_t rows);

/// Prints whether a query without variables holds, in the frame of a relation.
/// @throws output_error
void print_answer(const std::string& query, bool holds, const write_request& request);

}  // namespace gpulog::io
