#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

/// A thin layer over the C interface of SQLite: ownership, and errors as exceptions.
namespace gpulog::io {

/// An error message of SQLite.
class sqlite_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Quotes a name as SQL text.
[[nodiscard]] std::string sql_name(std::string_view name);

class sqlite_database {
 public:
  /// @param flags SQLITE_OPEN_...
  /// @throws sqlite_failure
  sqlite_database(const std::string& name, int flags);

  /// Runs statements without result rows.
  /// @throws sqlite_failure
  void execute(const std::string& statements);
  /// Copies another database and its journal into this database. @throws sqlite_failure
  void copy_from(sqlite_database& source);

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail() const;

 private:
  struct closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, closer> handle_;
};

/// A prepared statement; parameters and columns are numbered from 0. The database must outlive the statement.
class sqlite_statement {
 public:
  /// @throws sqlite_failure
  sqlite_statement(const sqlite_database& database, const std::string& text);

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  /// The text must stay valid until the next bind() or reset().
  void bind(int parameter, std::string_view text);

  /// Returns true if the step gave a row. @throws sqlite_failure
  bool step();
  /// Resets the statement for a new run.
  void reset() { sqlite3_reset(handle_.get()); }
  /// Runs a statement without result rows, and resets it.
  /// @throws sqlite_failure
  void run();

  [[nodiscard]] int columns() const { return sqlite3_column_count(handle_.get()); }
  /// Returns SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL; call before a conversion.
  [[nodiscard]] int type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  /// Valid until the next step().
  /// @throws std::bad_alloc
  [[nodiscard]] std::string_view text(int column) const;

 private:
  void check(int code) const;

  struct finalizer {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  const sqlite_database& database_;
  std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

}  // namespace gpulog::io
