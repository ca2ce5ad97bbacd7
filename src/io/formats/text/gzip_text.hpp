#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Gzip files from pieces compressed in parallel: a single member, readable by every decompressor.
namespace gpulog::io {

struct compressed_piece {
  std::string bytes;
  std::uint32_t checksum = 0;
  std::uint64_t plain_bytes = 0;
};

/// Compresses a piece that can be joined with other pieces.
compressed_piece compress_piece(std::string_view plain);

/// The header of a gzip file.
std::string gzip_beginning();

/// Accumulates the checksum and size of the pieces for the trailer of the file.
class gzip_ending {
 public:
  void add(const compressed_piece& piece);
  [[nodiscard]] std::string bytes() const;

 private:
  std::uint32_t checksum_ = 0;
  std::uint64_t plain_bytes_ = 0;
};

}  // namespace gpulog::io
