#include "io/formats/text/gzip_text.hpp"

#include <zlib.h>

#include <climits>
#include <new>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// zlib: 15 bits of window; negative: no header.
constexpr int raw_window_bits = -15;
constexpr int memory_level = 8;

void append_little_endian(std::string& bytes, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
}

}  // namespace

compressed_piece compress_piece(std::string_view plain) {
  ensure(plain.size() <= UINT_MAX / 2, "a piece to compress is small");
  compressed_piece piece;
  piece.plain_bytes = plain.size();
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window_bits, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  constexpr std::size_t flush_marker = 16;
  piece.bytes.resize(deflateBound(&stream, plain.size()) + flush_marker);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(piece.bytes.data());
  stream.avail_out = static_cast<uInt>(piece.bytes.size());
  // Ends at a byte boundary, without ending the data.
  const int status = deflate(&stream, Z_SYNC_FLUSH);
  const bool complete = status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0;
  piece.bytes.resize(stream.total_out);
  deflateEnd(&stream);
  ensure(complete, "the bound of a compressed piece holds");
  piece.checksum = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(plain.data()), static_cast<uInt>(plain.size())));
  return piece;
}

std::string gzip_beginning() {
  // Magic, deflate, no flags, no time, no extra flags, Unix.
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
}

void gzip_ending::add(const compressed_piece& piece) {
  checksum_ =
      static_cast<std::uint32_t>(crc32_combine(checksum_, piece.checksum, static_cast<z_off_t>(piece.plain_bytes)));
  plain_bytes_ += piece.plain_bytes;
}

std::string gzip_ending::bytes() const {
  std::string bytes("\x03\0", 2);  // an empty last block
  append_little_endian(bytes, checksum_);
  append_little_endian(bytes, static_cast<std::uint32_t>(plain_bytes_));
  return bytes;
}

}  // namespace gpulog::io
