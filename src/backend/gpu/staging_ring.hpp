#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/gpu/device.hpp"
#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

/// Pinned buffers between host memory and device memory, with a copy stream: copies over the bus continue while the
/// host fills or reads further buffers.
class staging_ring {
 public:
  static constexpr std::size_t slots = 4;
  static constexpr std::uint64_t slot_bytes = 2u << 20;

  /// @throws device_error
  explicit staging_ring(const device_context& context);
  ~staging_ring();
  staging_ring(const staging_ring&) = delete;
  staging_ring& operator=(const staging_ring&) = delete;

  /// Copies to the device; small copies bypass the ring. The caller may free the source when this returns; the
  /// context's stream waits for the copy.
  void upload(const void* from, void* to, std::uint64_t bytes);

 private:
  friend class column_download;

  /// Makes the copies of this ring wait for all work queued so far in the context's stream.
  void begin();

  const device_context* context_;
  stream_handle stream_ = nullptr;
  std::uint8_t* memory_ = nullptr;  // pinned: [slot][slot_bytes]
  std::array<event_handle, slots> copied_{};
  event_handle before_ = nullptr;
  std::size_t next_ = 0;
};

/// Downloads rows of device columns: copies pieces ahead while the host reads earlier pieces. Every row must be read
/// once, in roughly ascending order. A ring serves one download at a time.
class column_download {
 public:
  /// @param columns in device memory, `rows` words each, unchanged during the download
  column_download(staging_ring& ring, std::vector<const std::uint32_t*> columns, std::uint64_t rows);
  column_download(const column_download&) = delete;
  column_download& operator=(const column_download&) = delete;
  ~column_download();

  /// Writes rows [first, first + n) to one array per column. Thread-safe, if no thread waits for rows after the rows
  /// that it has read.
  /// @throws device_error
  void read(std::uint64_t first, std::uint64_t n, std::uint32_t* const* columns);

 private:
  /// The content of a slot, complete or still being copied.
  struct piece {
    std::uint64_t number = UINT64_MAX;
    std::uint64_t unread = 0;  // number of rows
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

/// Copies a column from device memory to host memory, and waits.
void download(const device_context& context, const std::uint32_t* from, std::uint32_t* to, std::uint64_t rows);

}  // namespace gpulog::backend::gpu
