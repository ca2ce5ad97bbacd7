#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/gpu/device.hpp"
#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

/// A few pinned buffers between this machine's memory and a device's, and a stream that copies from and to them, so
/// that copies over the bus go on while the host fills or reads the other buffers.
class staging_ring {
 public:
  static constexpr std::size_t slots = 4;
  static constexpr std::uint64_t slot_bytes = 2u << 20;

  /// @throws device_error
  explicit staging_ring(const device_context& context);
  ~staging_ring();
  staging_ring(const staging_ring&) = delete;
  staging_ring& operator=(const staging_ring&) = delete;

  /// Copies to the device; few bytes directly. The source may go when this returns; the context's stream waits for the
  /// copy.
  void upload(const void* from, void* to, std::uint64_t bytes);

 private:
  friend class column_download;

  /// The copies of this ring begin behind all work of the context's stream so far.
  void begin();

  const device_context* context_;
  stream_handle stream_ = nullptr;
  std::uint8_t* memory_ = nullptr;  // pinned: [slot][slot_bytes]
  std::array<event_handle, slots> copied_{};
  event_handle before_ = nullptr;
  std::size_t next_ = 0;
};

/// Rows of columns in device memory on their way to this machine: pieces are copied ahead while others are read. Every
/// row has to be read once, in about ascending order. One at a time uses a ring.
class column_download {
 public:
  /// @param columns in device memory, `rows` words each, that stay as they are meanwhile
  column_download(staging_ring& ring, std::vector<const std::uint32_t*> columns, std::uint64_t rows);
  column_download(const column_download&) = delete;
  column_download& operator=(const column_download&) = delete;
  ~column_download();

  /// Writes rows [first, first + n) to one array a column. Any number of threads at a time, if each waits for no row
  /// behind those that it has read. @throws device_error
  void read(std::uint64_t first, std::uint64_t n, std::uint32_t* const* columns);

 private:
  /// What a slot holds, or is being copied to it.
  struct piece {
    std::uint64_t number = UINT64_MAX;
    std::uint64_t unread = 0;  // rows
  };

  [[nodiscard]] std::uint64_t rows_of(std::uint64_t number) const;
  void request(std::uint64_t number);

  staging_ring& ring_;
  std::vector<const std::uint32_t*> columns_;
  std::uint64_t rows_;
  std::uint64_t piece_rows_;
  std::mutex access_;
  std::condition_variable changed_;
  std::array<piece, staging_ring::slots> pieces_;
};

/// Copies a column of device memory to this machine's, and waits.
void download(const device_context& context, const std::uint32_t* from, std::uint32_t* to, std::uint64_t rows);

}  // namespace gpulog::backend::gpu
