#include "io/formats/sqlite/sqlite_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/directive_parameters.hpp"
#include "io/formats.hpp"
#include "io/formats/sqlite/sqlite_database.hpp"
#include "io/row_formatter.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

constexpr std::string_view symbol_table_name = "__SymbolTable";

/// Calls visit(window, first, last) on consecutive windows of all rows.
template <class Visit>
void for_each_window(const relation_rows& rows, const Visit& visit) {
  constexpr std::uint64_t rows_at_a_time = 16384;
  for (std::uint64_t first = 0; first < rows.rows; first += rows_at_a_time) {
    const std::uint64_t last = std::min(rows.rows, first + rows_at_a_time);
    visit(row_window(rows, first, last), first, last);
  }
}

/// The texts of a database with their numbers in the database.
class stored_symbols {
 public:
  /// Stores the texts of a relation in the order of their bytes: the database's index then grows at its end, and an
  /// index larger than SQLite's cache is not read again.
  stored_symbols(sqlite_database& database, const storage::symbol_table& symbols, const relation_rows& rows)
      : symbols_(symbols) {
    const std::vector<symbol_place> used = used_symbols(rows);
    if (used.empty()) return;
    numbers_.resize(symbols.size());
    const std::string table = sql_name(symbol_table_name);
    sqlite_statement insert(database, fmt::format("INSERT OR IGNORE INTO {} (symbol) VALUES (?)", table));
    sqlite_statement find(database, fmt::format("SELECT id FROM {} WHERE symbol = ?", table));
    for (const symbol_place& one : used) {
      insert.bind(0, symbols.text(one.id));
      insert.run();
      const bool is_new = sqlite3_changes(database.handle()) == 1;
      const std::int64_t number =
          is_new ? sqlite3_last_insert_rowid(database.handle()) : number_of(symbols.text(one.id), find);
      (one.id < numbers_.size() ? numbers_[one.id] : number_of_no_text_) = number;
    }
  }

  [[nodiscard]] std::int64_t number(word id) const { return id < numbers_.size() ? numbers_[id] : number_of_no_text_; }

 private:
  struct symbol_place {
    std::uint64_t first_bytes;  ///< first bytes, in the order of texts
    word id;
  };

  [[nodiscard]] std::vector<symbol_place> used_symbols(const relation_rows& rows) const {
    // Casts give numbers without a text, which are shown as the empty text.
    const std::uint64_t no_text = symbols_.size();
    std::vector<bool> is_used(no_text + 1);
    for_each_window(rows, [&](const row_window& window, std::uint64_t first, std::uint64_t last) {
      for (std::size_t column = 0; column < rows.kinds.size(); ++column) {
        if (rows.kinds[column] != value_kind::symbol) continue;
        for (std::uint64_t row = first; row < last; ++row) {
          is_used[std::min<std::uint64_t>(window.at(column, row), no_text)] = true;
        }
      }
    });
    std::vector<symbol_place> used;
    used.reserve(static_cast<std::size_t>(std::count(is_used.begin(), is_used.end(), true)));
    for (std::uint64_t id = 0; id <= no_text; ++id) {
      if (is_used[id]) used.push_back({first_bytes(symbols_.text(static_cast<word>(id))), static_cast<word>(id)});
    }
    std::sort(used.begin(), used.end(), [this](const symbol_place& a, const symbol_place& b) {
      if (a.first_bytes != b.first_bytes) return a.first_bytes < b.first_bytes;
      return symbols_.text(a.id) < symbols_.text(b.id);
    });
    return used;
  }

  static std::uint64_t first_bytes(std::string_view text) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
      bytes = bytes << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
    }
    return bytes;
  }

  static std::int64_t number_of(std::string_view text, sqlite_statement& find) {
    find.bind(0, text);
    if (!find.step()) throw sqlite_failure("A symbol can't be found again");
    const std::int64_t number = find.integer(0);
    find.reset();
    return number;
  }

  const storage::symbol_table& symbols_;
  std::vector<std::int64_t> numbers_;  // by symbol number in this process
  std::int64_t number_of_no_text_ = 0;
};

/// A relation r is a view r and a table _r. SQLite ignores the case of names: one relation would replace another.
/// @throws user_error
void refuse_taken_names(const sqlite_database& database, const std::string& relation) {
  for (const std::string& name : {relation, "_" + relation}) {
    sqlite_statement like(database, "SELECT name FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND name <> ?1");
    like.bind(0, name);
    if (like.step()) {
      throw user_error(fmt::format("SQLite does not tell {} from {}, which the database has", name, like.text(0)));
    }
    if (sqlite3_stricmp(name.c_str(), symbol_table_name.data()) == 0) {
      throw user_error(fmt::format("{} is the table of symbols", name));
    }
  }
  const auto refuse_existing = [&](const std::string& type, const std::string& name) {
    sqlite_statement existing(database, "SELECT 1 FROM sqlite_master WHERE type = ?1 AND name = ?2");
    existing.bind(0, type);
    existing.bind(1, name);
    if (existing.step()) throw user_error(fmt::format("the database has a {} {} already", type, name));
  };
  refuse_existing("table", relation);
  refuse_existing("view", "_" + relation);
}

class sqlite_relation {
 public:
  sqlite_relation(sqlite_database& database, const relation_rows& rows, const storage::symbol_table& symbols)
      : database_(database), rows_(rows), symbols_(symbols), table_("_" + rows.relation) {}

  void write() {
    database_.execute("BEGIN IMMEDIATE");
    refuse_taken_names(database_, rows_.relation);
    database_.execute(
        fmt::format("CREATE TABLE IF NOT EXISTS {0} (id INTEGER PRIMARY KEY, symbol TEXT UNIQUE);"
                    "DROP VIEW IF EXISTS {1}; DROP TABLE IF EXISTS {2};",
                    sql_name(symbol_table_name), sql_name(rows_.relation), sql_name(table_)));
    create();
    insert_rows();
    database_.execute("COMMIT");
  }

 private:
  void create() {
    std::string columns;
    std::string shown;
    for (std::size_t column = 0; column < rows_.kinds.size(); ++column) {
      const value_kind kind = rows_.kinds[column];
      const std::string name = sql_name(std::to_string(column));
      const std::string seen = sql_name(rows_.attribute_names.at(column));
      const std::string stored = fmt::format("{}.{}", sql_name(table_), name);
      const std::string_view separator = column == 0 ? "" : ", ";
      columns += fmt::format("{}{} {}", separator, name, type_name(kind));
      // A subquery per column: SQLite limits the number of joins.
      shown += kind == value_kind::symbol ? fmt::format("{}(SELECT symbol FROM {} WHERE id = {}) AS {}", separator,
                                                        sql_name(symbol_table_name), stored, seen)
                                          : fmt::format("{}{} AS {}", separator, stored, seen);
    }
    if (rows_.kinds.empty()) columns = shown = "\"()\"";  // SQLite has no tables without columns
    database_.execute(fmt::format("CREATE TABLE {0} ({1}); CREATE VIEW {2} AS SELECT {3} FROM {0};", sql_name(table_),
                                  columns, sql_name(rows_.relation), shown));
  }

  static std::string_view type_name(value_kind kind) {
    switch (kind) {
      case value_kind::floating:
        return "REAL";
      case value_kind::record:
      case value_kind::adt:
        return "TEXT";
      default:
        return "INTEGER";
    }
  }

  void insert_rows() {
    const std::size_t arity = rows_.columns.size();
    std::string places = "?";
    for (std::size_t column = 1; column < arity; ++column) places += ",?";
    const stored_symbols stored(database_, symbols_, rows_);
    sqlite_statement insert(database_, fmt::format("INSERT INTO {} VALUES ({})", sql_name(table_), places));
    if (arity == 0) insert.bind(0, std::string_view("()"));
    std::vector<byte_buffer> texts;
    for (std::size_t column = 0; column < arity; ++column) texts.emplace_back(*rows_.memory);
    for_each_window(rows_, [&](const row_window& window, std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t row = first; row < last; ++row) {
        for (std::size_t column = 0; column < arity; ++column) {
          bind(insert, column, window.at(column, row), stored, texts[column]);
        }
        insert.run();
      }
    });
  }

  void bind(sqlite_statement& insert, std::size_t column, word value, const stored_symbols& stored,
            byte_buffer& text) const {
    const int place = static_cast<int>(column);
    const value_kind kind = rows_.kinds[column];
    const storage::wide_values* const wide = rows_.structured.wide;
    switch (kind) {
      case value_kind::number:
        return insert.bind(place, wide == nullptr ? std::int64_t{static_cast<std::int32_t>(value)}
                                                  : static_cast<std::int64_t>(wide->value(value)));
      case value_kind::unsigned_number:
        // Numbers from 2^63 on are stored as the negative number with the same bits: SQLite has signed integers only.
        return insert.bind(place, static_cast<std::int64_t>(storage::value_of(value, wide)));
      case value_kind::symbol:
        return insert.bind(place, stored.number(value));
      case value_kind::floating: {
        const double real = real_value(value, wide);
        if (!std::isnan(real)) return insert.bind(place, real);
        // SQLite stores NaN as NULL. The text keeps the sign.
        return insert.bind(place, std::string_view(std::signbit(real) ? "-nan" : "nan"));
      }
      case value_kind::record:
      case value_kind::adt:
        break;
    }
    text.clear();
    structured_printer(text, rows_.structured, true, symbols_).print(value, rows_.structured.type_of(column, kind));
    insert.bind(place, text.bytes());
  }

  sqlite_database& database_;
  const relation_rows& rows_;
  const storage::symbol_table& symbols_;
  std::string table_;
};

/// SQLite would parse a path that begins with "file:" as a URI.
std::string plain_path(const std::filesystem::path& path) {
  std::string text = path.string();
  return text.starts_with("file:") ? "./" + text : text;
}

/// Whether the path has a database already. @throws sqlite_failure for a directory, a device or a pipe
bool is_existing_database(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const bool is_other = exists && !std::filesystem::is_regular_file(path, ignored);
  if (is_other || is_written_in_place(path)) throw sqlite_failure("not a regular file");
  return exists;
}

/// Copies the existing database and its journals into the temporary file.
void copy_existing(const std::filesystem::path& path, sqlite_database& copy) {
  {
    // Opened for writing, as closing the connection then merges the journal into the database.
    sqlite_database existing(plain_path(path), SQLITE_OPEN_READWRITE);
    copy.copy_from(existing);
  }
  // A journal would be applied to the new database. A merged journal may remain, empty or with a zeroed header.
  for (const char* journal : {"-wal", "-journal"}) {
    std::ifstream file(path.string() + journal, std::ios::binary);
    if (char first = 0; file.get(first) && first != 0) throw sqlite_failure("the database is in use");
  }
}

class sqlite_writing {
 public:
  sqlite_writing(const relation_rows& rows, const storage::symbol_table& symbols) : rows_(rows), symbols_(symbols) {}

  void write_file(const std::filesystem::path& path, output_files& files) const {
    if (const output_file* shared = files.find(path)) return write_temporary(shared->temporary_path(), {});
    const bool exists = is_existing_database(path);
    output_file file(path);
    file.close();  // before SQLite opens the file: closing a file drops the locks of the process
    write_temporary(file.temporary_path(), exists ? path : std::filesystem::path());
    files.add(std::move(file));
  }

 private:
  void write_temporary(const std::filesystem::path& temporary, const std::filesystem::path& existing) const {
    const file_size_signal_block block;
    sqlite_database database(plain_path(temporary), SQLITE_OPEN_READWRITE);
    // A temporary file needs no journal, and no journal may appear in the output folder.
    database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;");
    if (!existing.empty()) copy_existing(existing, database);
    // The copy has the journal mode of the original.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF;");
    sqlite_relation(database, rows_, symbols_).write();
  }

  const relation_rows& rows_;
  const storage::symbol_table& symbols_;
};

}  // namespace

namespace {

/// Runs work(path) on the file of a directive.
template <class Work>
void with_file(const std::string& relation, const write_request& request, const Work& work) {
  const std::string name = output_name(relation, directive_parameters(request.parameters));
  try {
    work(request.output_directory / name);
  } catch (const sqlite_failure& problem) {
    throw output_error(fmt::format("Cannot write output file {}: {}", name, problem.what()));
  }
}

}  // namespace

void write_sqlite(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                  output_files& files) {
  with_file(rows.relation, request,
            [&](const std::filesystem::path& path) { sqlite_writing(rows, symbols).write_file(path, files); });
}

void check_sqlite(const std::string& relation, const write_request& request) {
  with_file(relation, request, [&](const std::filesystem::path& path) {
    const std::string name = is_existing_database(path) ? plain_path(path) : ":memory:";
    refuse_taken_names(sqlite_database(name, SQLITE_OPEN_READWRITE), relation);
  });
}

}  // namespace gpulog::io
