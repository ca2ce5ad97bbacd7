#include "io/formats/text/text_stream.hpp"

#include <algorithm>
#include <cstring>

#include "io/formats/text/row_parser.hpp"

namespace gpulog::io {

text_stream::text_stream(byte_source& source, const row_layout& layout, bool has_headers, std::size_t piece_bytes)
    : source_(source),
      layout_(layout),
      headers_pending_(has_headers),
      piece_bytes_(std::max<std::size_t>(piece_bytes, 1)) {}

void text_stream::grow(std::size_t capacity) {
  if (capacity <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
  memory_ = std::move(larger);
  capacity_ = capacity;
}

/// Reads until there are `wanted` bytes, or the source ends or fails.
void text_stream::fill(std::size_t wanted) {
  grow(wanted);
  try {
    while (size_ < wanted && !at_end_ && !failure_) {
      const std::size_t count = source_.read(memory_.get() + size_, wanted - size_);
      size_ += count;
      at_end_ = count == 0;
    }
  } catch (const read_failure& problem) {
    failure_ = failure{problem.what(), 0};
  }
}

/// Drops the first line; false when its end has not been read yet.
bool text_stream::skip_headers() {
  const void* line_break = size_ == 0 ? nullptr : std::memchr(memory_.get(), '\n', size_);
  if (line_break == nullptr && !at_end_ && !failure_) return false;
  const std::size_t header = line_break == nullptr
                                 ? size_
                                 : static_cast<std::size_t>(static_cast<const char*>(line_break) - memory_.get()) + 1;
  size_ -= header;
  std::memmove(memory_.get(), memory_.get() + header, size_);
  ++line_;
  headers_pending_ = false;
  return true;
}

std::optional<stream_piece> text_stream::next() {
  for (std::size_t wanted = std::max(piece_bytes_, size_);; wanted *= 2) {
    fill(wanted);
    if (headers_pending_ && !skip_headers()) continue;
    const row_count count = count_rows({memory_.get(), size_}, layout_, at_end_);
    if (count.whole_bytes == 0) {
      if (at_end_) return std::nullopt;
      if (failure_) {
        failure_->line = line_;
        return std::nullopt;
      }
      continue;
    }
    stream_piece piece;
    piece.text = {memory_.get(), count.whole_bytes};
    piece.first_line = line_;
    piece.rows = count.rows;
    line_ += count.lines;
    piece.memory = std::move(memory_);
    // What follows the last whole row begins the next piece.
    const std::size_t left = size_ - count.whole_bytes;
    capacity_ = std::max(piece_bytes_, left);
    memory_ = std::make_unique_for_overwrite<char[]>(capacity_);
    if (left > 0) std::memcpy(memory_.get(), piece.text.data() + count.whole_bytes, left);
    size_ = left;
    return piece;
  }
}

read_ahead::read_ahead(text_stream& stream, std::size_t limit)
    : stream_(stream), limit_(limit), thread_([this] { produce(); }) {}

read_ahead::~read_ahead() {
  {
    const std::lock_guard lock(access_);
    abandoned_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void read_ahead::produce() {
  try {
    while (auto piece = stream_.next()) {
      std::unique_lock lock(access_);
      changed_.wait(lock, [&] { return ready_.size() < limit_ || abandoned_; });
      if (abandoned_) return;
      ready_.push_back(std::move(*piece));
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(access_);
    broken_ = std::current_exception();
  }
  const std::lock_guard lock(access_);
  finished_ = true;
  changed_.notify_all();
}

std::deque<stream_piece> read_ahead::take() {
  std::unique_lock lock(access_);
  changed_.wait(lock, [&] { return !ready_.empty() || finished_; });
  if (ready_.empty() && broken_) std::rethrow_exception(broken_);
  std::deque<stream_piece> taken = std::move(ready_);
  ready_.clear();
  changed_.notify_all();
  return taken;
}

}  // namespace gpulog::io
