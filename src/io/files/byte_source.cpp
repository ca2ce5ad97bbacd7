#include "io/files/byte_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace gpulog::io {
file_descriptor::~file_descriptor() {
  if (number_ > STDIN_FILENO) ::close(number_);
}

std::size_t descriptor_source::read(char* buffer, std::size_t size) {
  if (!first_bytes_.empty()) {
    const std::size_t count = std::min(size, first_bytes_.size());
    std::memcpy(buffer, first_bytes_.data(), count);
    first_bytes_.erase(0, count);
    return count;
  }
  for (;;) {
    const ssize_t count = ::read(descriptor_.number(), buffer, std::min<std::size_t>(size, SSIZE_MAX));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw read_failure(std::strerror(errno));
  }
}

std::string read_first_bytes(const file_descriptor& descriptor) {
  std::array<char, 4> bytes{};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(descriptor.number(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw read_failure(std::strerror(errno));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return {bytes.data(), size};
}

std::string_view unreadable_kind(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> beginnings[] = {
      {"\xfd\x37\x7a\x58"sv, "compressed with xz"},
      {"\x04\x22\x4d\x18"sv, "compressed with lz4"},
      {"PK\x03\x04"sv, "a ZIP archive"},
      {"\xff\xfe\0\0"sv, "text in UTF-32"},
  };
  for (const auto& [beginning, kind] : beginnings) {
    if (first_bytes.starts_with(beginning)) return kind;
  }
  // A byte order mark and an ASCII character: without the character, the text may have another encoding.
  const bool has_mark = first_bytes.starts_with("\xff\xfe"sv) || first_bytes.starts_with("\xfe\xff"sv);
  return has_mark && first_bytes.find('\0') != std::string_view::npos ? "text in UTF-16" : "";
}

mapped_file::mapped_file(const file_descriptor& descriptor, std::size_t size, bool is_read_whole) : size_(size) {
  if (size == 0) return;
  memory_ = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
  if (memory_ == MAP_FAILED) throw read_failure(std::strerror(errno));
  if (is_read_whole) ::madvise(memory_, size, MADV_WILLNEED);
}

mapped_file::~mapped_file() {
  if (size_ > 0) ::munmap(memory_, size_);
}

}  // namespace gpulog::io
