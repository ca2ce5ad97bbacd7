#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/indexes/sorted_index.hpp"
#include "storage/relation/relation_options.hpp"

namespace gpulog::storage::gpu {

/// Rows in columns in device memory, like storage::column_store: the common part of device relations. All work is
/// ordered on the device's stream.
class device_columns {
 public:
  device_columns(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t arity);

  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t old_rows() const { return old_rows_; }
  [[nodiscard]] std::uint64_t delta_rows() const { return rows_ - old_rows_; }
  /// Returns the number of appended rows; exact after settle().
  [[nodiscard]] std::uint64_t appended_rows() const { return tail_ - rows_; }
  [[nodiscard]] const word* column(std::uint32_t c) const { return columns_[c].data(); }
  [[nodiscard]] column_pointers columns() const;
  /// Returns zero times: phases are measured on the stream (backend::gpu::phase_clock) instead of by the host's clock.
  [[nodiscard]] static phase_times times() { return {}; }

  void advance() {
    old_rows_ = rows_;
    rows_ = tail_;
  }
  void complete() { old_rows_ = rows_ = tail_; }
  void restart() {
    old_rows_ = 0;
    rows_ = tail_;
  }

  /// Returns the rows on the host; copies them once.
  [[nodiscard]] std::vector<const word*> host_columns();
  void forget_host_columns() { host_rows_ = UINT64_MAX, host_.clear(); }

 protected:
  [[nodiscard]] std::uint64_t column_bytes() const;
  /// Updates the table through which kernels access the columns.
  void show_columns();
  /// Copies rows from the host into columns of exactly this size.
  void upload(const std::vector<const word*>& host_columns, std::uint64_t rows);

  const backend::gpu::device_context* context_;
  memory_resource* resource_;
  std::uint32_t arity_;
  std::vector<array<word>> columns_;
  array<word*> column_table_;  // for kernels
  // A pipeline may read a relation that it extends: replaced columns stay valid until the pipeline ends.
  std::vector<array<word>> outgrown_columns_;
  std::uint64_t old_rows_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t tail_ = 0;

 private:
  std::vector<word*> shown_columns_;
  std::vector<std::unique_ptr<word[]>> host_;
  std::uint64_t host_rows_ = UINT64_MAX;
};

}  // namespace gpulog::storage::gpu
