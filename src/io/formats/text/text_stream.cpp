#include "io/formats/text/text_stream.hpp"

#include <algorithm>
#include <utility>

#include "io/formats/text/row_parser.hpp"

namespace gpulog::io {

text_stream::text_stream(byte_source& source, const row_layout& layout, bool has_headers, std::size_t piece_bytes,
                         backend::memory_resource& memory)
    : source_(source),
      layout_(layout),
      headers_pending_(has_headers),
      piece_bytes_(std::max<std::size_t>(piece_bytes, 1)),
      read_(memory) {}

/// Reads until the buffer has `wanted` bytes, or the source ends or fails.
void text_stream::fill(std::size_t wanted) {
  try {
    while (read_.size() < wanted && !at_end_ && !failure_) {
      const std::size_t missing = wanted - read_.size();
      char* const room = read_.reserve(missing);
      const std::size_t count = source_.read(room, missing);
      read_.advance_to(room + count);
      at_end_ = count == 0;
    }
  } catch (const read_failure& problem) {
    failure_ = failure{problem.what(), 0};
  }
}

/// Drops the first line; returns false if the end of the line has not been read yet.
bool text_stream::skip_headers() {
  const std::size_t line_break = read_.bytes().find('\n');
  if (line_break == std::string_view::npos && !at_end_ && !failure_) return false;
  read_.drop_front(line_break == std::string_view::npos ? read_.size() : line_break + 1);
  ++line_;
  headers_pending_ = false;
  return true;
}

std::optional<stream_piece> text_stream::next() {
  for (std::size_t wanted = std::max(piece_bytes_, read_.size());; wanted *= 2) {
    fill(wanted);
    if (headers_pending_ && !skip_headers()) continue;
    const row_count count = count_rows(read_.bytes(), layout_, at_end_);
    if (count.whole_bytes == 0) {
      if (at_end_) return std::nullopt;
      if (failure_) {
        failure_->line = line_;
        return std::nullopt;
      }
      continue;
    }
    // The bytes after the last whole row begin the next piece.
    const std::string_view left = read_.bytes().substr(count.whole_bytes);
    byte_buffer next_piece(read_.memory());
    next_piece.reserve(std::max(piece_bytes_, left.size()));
    next_piece.append(left);
    stream_piece piece{std::exchange(read_, std::move(next_piece)), {}, line_, count.rows};
    piece.text = piece.memory.bytes().substr(0, count.whole_bytes);
    line_ += count.lines;
    return piece;
  }
}

}  // namespace gpulog::io
