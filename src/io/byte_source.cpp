#include "io/byte_source.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

namespace gpulog::io {
namespace {

constexpr std::size_t compressed_buffer_bytes = 256 * 1024;
/// zlib: 15 bits of window, and the header of gzip and no other.
constexpr int gzip_window_bits = 15 + 16;

}  // namespace

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

bool is_gzip(std::string_view first_bytes) { return first_bytes.starts_with("\x1f\x8b"); }

std::string_view unreadable_kind(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> beginnings[] = {
      {"\x28\xb5\x2f\xfd"sv, "compressed with zstd"}, {"\xfd\x37\x7a\x58"sv, "compressed with xz"},
      {"\x04\x22\x4d\x18"sv, "compressed with lz4"},  {"PK\x03\x04"sv, "a ZIP archive"},
      {"\xff\xfe\0\0"sv, "text in UTF-32"},
  };
  for (const auto& [beginning, kind] : beginnings) {
    if (first_bytes.starts_with(beginning)) return kind;
  }
  // A byte order mark, and a character of ASCII: without that it may be text in another encoding.
  const bool has_mark = first_bytes.starts_with("\xff\xfe"sv) || first_bytes.starts_with("\xfe\xff"sv);
  return has_mark && first_bytes.find('\0') != std::string_view::npos ? "text in UTF-16" : "";
}

struct gzip_source::stream {
  z_stream state{};
  std::vector<Bytef> input = std::vector<Bytef>(compressed_buffer_bytes);
};

gzip_source::gzip_source(std::unique_ptr<byte_source> compressed)
    : compressed_(std::move(compressed)), stream_(std::make_unique<stream>()) {
  if (inflateInit2(&stream_->state, gzip_window_bits) != Z_OK) throw std::bad_alloc();
}

gzip_source::~gzip_source() { inflateEnd(&stream_->state); }

bool gzip_source::refill() {
  const std::size_t count = compressed_->read(reinterpret_cast<char*>(stream_->input.data()), stream_->input.size());
  stream_->state.next_in = stream_->input.data();
  stream_->state.avail_in = static_cast<uInt>(count);
  return count > 0;
}

/// False at the end of the file. Zeros behind the last member are padding.
bool gzip_source::start_next_member() {
  z_stream& state = stream_->state;
  for (;;) {
    if (state.avail_in == 0 && !refill()) return false;
    if (*state.next_in != 0) break;
    ++state.next_in;
    --state.avail_in;
  }
  inflateReset(&state);
  return true;
}

std::size_t gzip_source::read(char* buffer, std::size_t size) {
  if (at_end_ || size == 0) return 0;
  z_stream& state = stream_->state;
  state.next_out = reinterpret_cast<Bytef*>(buffer);
  const auto room = static_cast<uInt>(std::min<std::size_t>(size, UINT_MAX));
  state.avail_out = room;
  while (state.avail_out == room) {
    if (state.avail_in == 0 && !refill()) throw read_failure("Compressed data ends too early");
    const int status = inflate(&state, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      at_end_ = !start_next_member();
      if (at_end_) break;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw read_failure("Compressed data is damaged");
    }
  }
  return room - state.avail_out;
}

mapped_file::mapped_file(const file_descriptor& descriptor, std::size_t size) : size_(size) {
  if (size == 0) return;
  memory_ = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
  if (memory_ == MAP_FAILED) throw read_failure(std::strerror(errno));
  ::madvise(memory_, size, MADV_WILLNEED);
}

mapped_file::~mapped_file() {
  if (size_ > 0) ::munmap(memory_, size_);
}

}  // namespace gpulog::io
