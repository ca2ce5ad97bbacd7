#include <fmt/format.h>

#include <utility>

#include "io/files/compression.hpp"
#include "io/formats/sqlite/sqlite_reader.hpp"
#include "io/formats/sqlite/sqlite_writer.hpp"
#include "io/formats/text/gzip_text.hpp"
#include "io/formats/text/zstd_text.hpp"
#include "support/error.hpp"

/// The formats of libraries that a build for WebAssembly lacks: clear errors.
namespace gpulog::io {
namespace {

[[noreturn]] void refuse(const char* kind) {
  throw user_error(fmt::format("This build of gpulog was made without {}", kind));
}

constexpr const char* gzip_library = "zlib: gzip files are neither read nor written";
constexpr const char* zstd_library = "libzstd: zstd files are neither read nor written";
constexpr const char* sqlite_library = "SQLite: databases are neither read nor written";

}  // namespace

std::unique_ptr<byte_source> decompressed(std::unique_ptr<byte_source> bytes, compression how) {
  if (how == compression::none) return bytes;
  refuse(how == compression::gzip ? gzip_library : zstd_library);
}

compressed_piece compress_piece(std::string_view /*plain*/) { refuse(gzip_library); }
std::string gzip_beginning() { refuse(gzip_library); }
void gzip_ending::add(const compressed_piece& /*piece*/) {}
std::string gzip_ending::bytes() const { return {}; }

struct zstd_text::state {};
zstd_text::zstd_text(unsigned /*threads*/, std::function<void(std::string_view)> /*sink*/) { refuse(zstd_library); }
zstd_text::~zstd_text() = default;
void zstd_text::write(std::string_view /*text*/) {}
void zstd_text::end() {}

std::uint64_t read_sqlite(const read_request& /*request*/, storage::symbol_table& /*symbols*/,
                          const row_allocator& /*allocate*/) {
  refuse(sqlite_library);
}
void write_sqlite(const relation_rows& /*rows*/, const write_request& /*request*/,
                  const storage::symbol_table& /*symbols*/, output_files& /*files*/) {
  refuse(sqlite_library);
}
void check_sqlite(const std::string& /*relation*/, const write_request& /*request*/) { refuse(sqlite_library); }

}  // namespace gpulog::io
