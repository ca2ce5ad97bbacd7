#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace gpulog::io {

/// Input that could not be read to the end: what() gives the reason without the file's name.
class read_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An open file descriptor. The destructor closes every descriptor but standard input.
class file_descriptor {
 public:
  explicit file_descriptor(int number) : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_descriptor& operator=(file_descriptor&&) = delete;
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor();
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// A sequential source of bytes.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;
  /// Fills the buffer from its beginning with at least one byte; returns 0 at the end. @throws read_failure
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

/// The bytes of a file, pipe or terminal.
class descriptor_source : public byte_source {
 public:
  /// `first_bytes` were already read from the descriptor.
  explicit descriptor_source(file_descriptor descriptor, std::string first_bytes = {})
      : descriptor_(std::move(descriptor)), first_bytes_(std::move(first_bytes)) {}
  std::size_t read(char* buffer, std::size_t size) override;

 private:
  file_descriptor descriptor_;
  std::string first_bytes_;
};

/// Reads the bytes that identify the kind of a file; fewer in a shorter file. @throws read_failure
[[nodiscard]] std::string read_first_bytes(const file_descriptor& descriptor);

/// Names a kind of file that no format reads, as "compressed with xz"; empty for all other bytes.
[[nodiscard]] std::string_view unreadable_kind(std::string_view first_bytes);

/// A regular file mapped into memory.
class mapped_file {
 public:
  /// @param is_read_whole whether the system reads the whole file ahead
  /// @throws read_failure
  mapped_file(const file_descriptor& descriptor, std::size_t size, bool is_read_whole = true);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  void* memory_ = nullptr;
  std::size_t size_;
};

}  // namespace gpulog::io
