#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/byte_buffer.hpp"
#include "io/files/byte_source.hpp"
#include "io/formats/text/row_layout.hpp"

namespace gpulog::io {

/// Whole rows of a stream of text, and their memory.
struct stream_piece {
  byte_buffer memory;
  std::string_view text;
  std::uint64_t first_line = 1;
  std::uint64_t rows = 0;
};

/// Splits a stream of bytes into pieces of whole rows.
class text_stream {
 public:
  /// @param memory for lines longer than a few megabytes
  text_stream(byte_source& source, const row_layout& layout, bool has_headers, std::size_t piece_bytes,
              backend::memory_resource& memory = backend::unlimited_memory());
  /// Returns nothing at the end, or if the source fails. @throws backend::memory_exceeded
  std::optional<stream_piece> next();
  /// The error that ended the stream early, and its line.
  struct failure {
    std::string what;
    std::uint64_t line;
  };
  [[nodiscard]] const std::optional<failure>& failed() const { return failure_; }

 private:
  void fill(std::size_t wanted);
  bool skip_headers();

  byte_source& source_;
  const row_layout& layout_;
  bool headers_pending_;
  std::size_t piece_bytes_;
  byte_buffer read_;  ///< bytes that are read but not returned yet
  std::uint64_t line_ = 1;
  bool at_end_ = false;
  std::optional<failure> failure_;
};

}  // namespace gpulog::io
