#include "io/files/byte_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace gpulog::io {
namespace {

/// Buffers up to this size are not counted: each thread has a few megabytes beside the limit.
constexpr std::size_t most_uncounted = std::size_t{4} << 20;

}  // namespace

void byte_buffer::grow(std::size_t bytes) {
  constexpr std::size_t smallest = 4096;
  const std::size_t capacity = std::max({smallest, 2 * capacity_, size_ + bytes});
  if (capacity <= most_uncounted) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), data_, size_);
    small_ = std::move(larger);
    data_ = small_.get();
  } else if (large_.size() > 0) {
    large_.resize(capacity);
    data_ = large_.data();
  } else {
    backend::array<char> larger(*memory_, capacity, backend::fresh_memory::anything);
    if (size_ > 0) std::memcpy(larger.data(), data_, size_);
    large_ = std::move(larger);
    small_.reset();
    data_ = large_.data();
  }
  capacity_ = capacity;
}

void byte_buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  size_ += bytes.size();
}

void byte_buffer::drop_front(std::size_t bytes) {
  size_ -= bytes;
  if (size_ > 0) std::memmove(data_, data_ + bytes, size_);
}

}  // namespace gpulog::io
