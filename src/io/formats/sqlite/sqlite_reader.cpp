#include "io/formats/sqlite/sqlite_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "io/directive_parameters.hpp"
#include "io/fact_source.hpp"
#include "io/facts_reader.hpp"
#include "io/formats/sqlite/sqlite_database.hpp"
#include "io/formats/sqlite/sqlite_name.hpp"
#include "io/row_problems.hpp"
#include "io/values/stored_numbers.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

class sqlite_rows {
 public:
  sqlite_rows(const sqlite_database& database, const read_request& request, storage::symbol_table& symbols)
      : rows_(database, "SELECT * FROM " + sql_name(request.relation)), request_(request), symbols_(symbols) {}

  std::uint64_t read(std::vector<backend::array<word>>& columns) {
    const std::size_t arity = request_.kinds.size();
    if (static_cast<std::size_t>(rows_.columns()) < arity) {
      throw sqlite_failure(
          fmt::format("Table {} has {} columns instead of {}", request_.relation, rows_.columns(), arity));
    }
    std::uint64_t count = 0;
    row_problems problems;
    while (step(problems)) {
      ++count;
      bool is_faulty = false;
      for (std::size_t column = 0; column < arity; ++column) {
        const std::optional<word> value = this->value(static_cast<int>(column), request_.kinds[column]);
        if (!value && !is_faulty) problems.add([&] { return problem(column, count); });
        is_faulty = is_faulty || !value;
        columns[column].push_back(value.value_or(0));
      }
    }
    if (!problems.empty()) throw sqlite_failure(problems.text());
    return count;
  }

 private:
  /// Reports the end of a truncated database after the problems of earlier rows.
  bool step(row_problems& problems) {
    try {
      return rows_.step();
    } catch (const sqlite_failure& failure) {
      problems.add([&] { return row_problem{failure.what()}; });
      problems.is_all = false;
      return false;
    }
  }

  [[nodiscard]] std::optional<word> value(int column, value_kind kind) {
    const int stored = rows_.type(column);
    // As in Soufflé, a NULL text is empty.
    if (stored == SQLITE_NULL && kind == value_kind::symbol) return symbols_.intern("");
    if (stored == SQLITE_NULL || stored == SQLITE_BLOB) return std::nullopt;
    if (kind == value_kind::symbol) return symbols_.intern(rows_.text(column));
    storage::wide_values* const wide = request_.structured.wide;
    word result = 0;
    if (kind == value_kind::record || kind == value_kind::adt) {
      const value_type type = request_.structured.type_of(static_cast<std::size_t>(column), kind);
      const bool known = parse_structured(rows_.text(column), type, request_.structured, symbols_, result);
      return known ? std::optional(result) : std::nullopt;
    }
    if (stored == SQLITE_TEXT) {
      return parse_value(rows_.text(column), kind, wide, result) ? std::optional(result) : std::nullopt;
    }
    if (kind == value_kind::floating) return float_word(rows_.real(column), wide);
    if (stored == SQLITE_FLOAT) return integer_word(rows_.real(column), kind, wide);
    // An unsigned number of at least 2^63 is stored as a negative number.
    if (wide != nullptr) return wide->code(static_cast<wide_word>(rows_.integer(column)));
    return integer_word(rows_.integer(column), kind, wide);
  }

  [[nodiscard]] row_problem problem(std::size_t column, std::uint64_t row) const {
    const int number = static_cast<int>(column);
    if (const int stored = rows_.type(number); stored == SQLITE_NULL || stored == SQLITE_BLOB) {
      const char* const shown = stored == SQLITE_NULL ? "NULL" : "a blob";
      return {fmt::format("Error converting {} in column {} in row {}", shown, column + 1, row)};
    }
    return conversion_problem(rows_.text(number), request_.kinds[column], column, fmt::format("row {}", row),
                              request_.structured.wide != nullptr);
  }

  sqlite_statement rows_;
  const read_request& request_;
  storage::symbol_table& symbols_;
};

bool has_table(const sqlite_database& database, const std::string& name) {
  sqlite_statement found(database, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?");
  found.bind(0, name);
  return found.step();
}

}  // namespace

std::uint64_t read_sqlite(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate) {
  const directive_parameters parameters(request.parameters);
  const std::string name =
      parameters.text("filename", parameters.text("dbname", fmt::format("{}.sqlite", request.relation)));
  const std::string shown_name = "fact file " + name;
  std::string place = name;
  if (!is_sqlite_uri(name)) {
    place = (request.fact_directory / name).string();
    // SQLite gives no reason for a file that can't be opened.
    if (!std::ifstream(place)) {
      if (errno == ENOENT && request.missing_is_empty) return 0;
      const std::string reason = errno == ENOENT ? "" : fmt::format(": {}", std::strerror(errno));
      throw user_error(fmt::format("Cannot open {}{}", shown_name, reason));
    }
    // SQLite would parse a path that begins with "file:" as a URI.
    if (place.starts_with("file:")) place.insert(0, "./");
  }
  std::vector<backend::array<word>> parsed = empty_columns(request);
  std::uint64_t rows = 0;
  try {
    const sqlite_database database(place, SQLITE_OPEN_READONLY);
    if (!has_table(database, request.relation)) {
      throw sqlite_failure(fmt::format("No table or view {}", request.relation));
    }
    rows = sqlite_rows(database, request, symbols).read(parsed);
  } catch (const sqlite_failure& problem) {
    fact_source::refuse(problem.what(), shown_name);
  }
  hand_over(parsed, rows, allocate);
  return rows;
}

}  // namespace gpulog::io
