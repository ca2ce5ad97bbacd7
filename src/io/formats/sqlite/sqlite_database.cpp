#include "io/formats/sqlite/sqlite_database.hpp"

#include <new>

namespace gpulog::io {
namespace {

/// Time for another process to release the database.
constexpr int longest_wait_ms = 2000;

}  // namespace

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char byte : name) text.append(byte == '"' ? 2 : 1, byte);
  return text += '"';
}

sqlite_database::sqlite_database(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_URI, nullptr);
  handle_.reset(handle);
  if (handle == nullptr) throw std::bad_alloc();
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(handle, longest_wait_ms);
}

void sqlite_database::execute(const std::string& statements) {
  if (sqlite3_exec(handle(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void sqlite_database::copy_from(sqlite_database& source) {
  sqlite3_backup* copying = sqlite3_backup_init(handle(), "main", source.handle(), "main");
  if (copying == nullptr) fail();
  const int code = sqlite3_backup_step(copying, -1);
  sqlite3_backup_finish(copying);
  if (code != SQLITE_DONE) throw sqlite_failure(sqlite3_errstr(code));
}

void sqlite_database::fail() const { throw sqlite_failure(sqlite3_errmsg(handle())); }

sqlite_statement::sqlite_statement(const sqlite_database& database, const std::string& text) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  check(sqlite3_prepare_v2(database.handle(), text.c_str(), static_cast<int>(text.size()), &handle, nullptr));
  handle_.reset(handle);
}

void sqlite_statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), parameter + 1, value));
}

void sqlite_statement::bind(int parameter, double value) {
  check(sqlite3_bind_double(handle_.get(), parameter + 1, value));
}

void sqlite_statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL instead of an empty text.
  const char* bytes = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(handle_.get(), parameter + 1, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

bool sqlite_statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
  return code == SQLITE_ROW;
}

void sqlite_statement::run() {
  while (step()) {
  }
  reset();
}

std::string_view sqlite_statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (bytes == nullptr) throw std::bad_alloc();
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void sqlite_statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail();
}

}  // namespace gpulog::io
