#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "backend/array.hpp"
#include "backend/memory_resource.hpp"

namespace gpulog::io {

/// A growing text. Growing initialises nothing. A buffer that is larger than usual (a long line, a large record) takes
/// memory of the run, which has a limit.
class byte_buffer {
 public:
  explicit byte_buffer(backend::memory_resource& memory = backend::unlimited_memory()) : memory_(&memory) {}
  byte_buffer(byte_buffer&& other) noexcept : memory_(other.memory_) { swap(other); }
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    byte_buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  byte_buffer(const byte_buffer&) = delete;
  byte_buffer& operator=(const byte_buffer&) = delete;
  ~byte_buffer() = default;

  /// Reserves room for `bytes` more bytes and returns its beginning. @throws backend::memory_exceeded, like every
  /// function that appends
  char* reserve(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return data_ + size_;
  }
  /// Marks reserved bytes up to `end` as written.
  void advance_to(const char* end) { size_ = static_cast<std::size_t>(end - data_); }
  void append(std::string_view bytes);
  void append(char byte) {
    *reserve(1) = byte;
    ++size_;
  }
  void drop_front(std::size_t bytes);
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }
  [[nodiscard]] backend::memory_resource& memory() const { return *memory_; }

 private:
  void grow(std::size_t bytes);
  void swap(byte_buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(small_, other.small_);
    large_.swap(other.large_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  backend::memory_resource* memory_;
  // Exactly one of the two has the bytes.
  std::unique_ptr<char[]> small_;
  backend::array<char> large_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace gpulog::io
