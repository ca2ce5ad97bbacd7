#include "io/files/compression.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

constexpr std::size_t compressed_buffer_bytes = 256 * 1024;
/// zlib: a window of 15 bits, and the header of gzip only.
constexpr int gzip_window_bits = 15 + 16;

[[noreturn]] void refuse_end() { throw read_failure("Compressed data ends too early"); }
[[noreturn]] void refuse_damage() { throw read_failure("Compressed data is damaged"); }

/// Compressed bytes, one buffer at a time.
class compressed_input {
 public:
  explicit compressed_input(std::unique_ptr<byte_source> source) : source_(std::move(source)) {}
  /// Returns the next bytes; empty at the end.
  std::string_view next() { return {buffer_.data(), source_->read(buffer_.data(), buffer_.size())}; }

 private:
  std::unique_ptr<byte_source> source_;
  std::vector<char> buffer_ = std::vector<char>(compressed_buffer_bytes);
};

class gzip_source : public byte_source {
 public:
  explicit gzip_source(std::unique_ptr<byte_source> compressed) : input_(std::move(compressed)) {
    if (inflateInit2(&state_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_source() override { inflateEnd(&state_); }

  std::size_t read(char* buffer, std::size_t size) override {
    if (at_end_ || size == 0) return 0;
    state_.next_out = reinterpret_cast<Bytef*>(buffer);
    const auto room = static_cast<uInt>(std::min<std::size_t>(size, UINT_MAX));
    state_.avail_out = room;
    while (state_.avail_out == room) {
      if (state_.avail_in == 0 && !refill()) refuse_end();
      const int status = inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        at_end_ = !start_next_member();
        if (at_end_) break;
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        refuse_damage();
      }
    }
    return room - state_.avail_out;
  }

 private:
  bool refill() {
    const std::string_view bytes = input_.next();
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state_.avail_in = static_cast<uInt>(bytes.size());
    return !bytes.empty();
  }

  /// Returns false at the end of the file. Zeros after the last member are padding.
  bool start_next_member() {
    for (;;) {
      if (state_.avail_in == 0 && !refill()) return false;
      if (*state_.next_in != 0) break;
      ++state_.next_in;
      --state_.avail_in;
    }
    inflateReset(&state_);
    return true;
  }

  compressed_input input_;
  z_stream state_{};
  bool at_end_ = false;
};

class zstd_source : public byte_source {
 public:
  explicit zstd_source(std::unique_ptr<byte_source> compressed) : input_(std::move(compressed)) {
    if (state_ == nullptr) throw std::bad_alloc();
  }

  std::size_t read(char* buffer, std::size_t size) override {
    ZSTD_outBuffer room{buffer, size, 0};
    while (room.pos == 0 && size > 0) {
      // Bytes left from the last call come before new ones.
      if (bytes_.pos == bytes_.size && !has_more_ && !refill()) {
        if (in_frame_) refuse_end();
        break;
      }
      const std::size_t wanted = ZSTD_decompressStream(state_.get(), &room, &bytes_);
      if (ZSTD_isError(wanted) != 0U) refuse(ZSTD_getErrorCode(wanted));
      in_frame_ = wanted > 0;
      has_more_ = in_frame_ && room.pos == room.size;
    }
    return room.pos;
  }

 private:
  struct free_state {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };

  [[noreturn]] static void refuse(ZSTD_ErrorCode problem) {
    if (problem == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (problem == ZSTD_error_frameParameter_windowTooLarge) {
      throw read_failure("Compressed data needs a window of more than 128 MiB (zstd --long)");
    }
    refuse_damage();
  }

  bool refill() {
    const std::string_view bytes = input_.next();
    bytes_ = {bytes.data(), bytes.size(), 0};
    return !bytes.empty();
  }

  compressed_input input_;
  std::unique_ptr<ZSTD_DStream, free_state> state_{ZSTD_createDStream()};
  ZSTD_inBuffer bytes_{nullptr, 0, 0};
  bool in_frame_ = false;
  bool has_more_ = false;
};

}  // namespace

std::unique_ptr<byte_source> decompressed(std::unique_ptr<byte_source> bytes, compression how) {
  switch (how) {
    case compression::none:
      return bytes;
    case compression::gzip:
      return std::make_unique<gzip_source>(std::move(bytes));
    case compression::zstd:
      return std::make_unique<zstd_source>(std::move(bytes));
  }
  throw internal_error("no such compression");
}

}  // namespace gpulog::io
