#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/gpu/staging_ring.hpp"
#include "exec/calibration.hpp"
#include "exec/executor.hpp"
#include "exec/piecewise_stream.hpp"
#include "storage/representation/device_factorized.hpp"

namespace gpulog::exec {

/// Streams the rows of a relation from device memory: copies ahead of the reader.
class device_rows final : public row_stream {
 public:
  device_rows(backend::gpu::staging_ring& ring, std::vector<const word*> columns, std::uint64_t rows)
      : download_(ring, std::move(columns), rows) {}
  void read(std::uint64_t first, std::uint64_t n, word* const* columns) override { download_.read(first, n, columns); }

 private:
  backend::gpu::column_download download_;
};

/// Streams factorized rows: the device materializes the columns of a piece, then copies the piece.
class factorized_device_rows final : public piecewise_stream {
 public:
  /// The rows must outlive the stream.
  factorized_device_rows(storage::gpu::device_factorized& rows, std::size_t arity)
      : piecewise_stream(rows.pieces().data(), rows.pieces().size() - 1, arity),
        rows_(rows),
        pool_(std::make_shared<buffer_pool>(arity, largest_piece(rows.pieces()))) {}

 private:
  using buffers = std::vector<std::unique_ptr<word[]>>;  ///< by column, sized for the largest piece

  /// Reuses buffers of pieces that have been read, because touching fresh memory takes about as long as the copy.
  class buffer_pool {
   public:
    buffer_pool(std::size_t arity, std::uint64_t rows) : arity_(arity), rows_(rows) {}
    [[nodiscard]] buffers take() {
      const std::lock_guard<std::mutex> alone(access_);
      if (!free_.empty()) {
        buffers taken = std::move(free_.back());
        free_.pop_back();
        return taken;
      }
      buffers made;
      for (std::size_t c = 0; c < arity_; ++c) made.push_back(std::make_unique_for_overwrite<word[]>(rows_));
      return made;
    }
    void give_back(buffers columns) {
      const std::lock_guard<std::mutex> alone(access_);
      free_.push_back(std::move(columns));
    }

   private:
    std::size_t arity_;
    std::uint64_t rows_;
    std::mutex access_;
    std::vector<buffers> free_;
  };

  class copied_piece final : public piece {
   public:
    explicit copied_piece(std::shared_ptr<buffer_pool> pool) : pool_(std::move(pool)), columns_(pool_->take()) {}
    ~copied_piece() override { pool_->give_back(std::move(columns_)); }
    void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
      for (std::size_t c = 0; c < columns_.size(); ++c) std::copy_n(columns_[c].get() + first, n, columns[c]);
    }

    [[nodiscard]] std::vector<word*> columns() const {
      std::vector<word*> pointers;
      for (const auto& column : columns_) pointers.push_back(column.get());
      return pointers;
    }

   private:
    std::shared_ptr<buffer_pool> pool_;
    buffers columns_;
  };

  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override {
    const std::lock_guard<std::mutex> alone(reading_);
    auto made = std::make_shared<copied_piece>(pool_);
    rows_.read(number, made->columns().data());
    return made;
  }

  [[nodiscard]] static std::uint64_t largest_piece(const std::vector<std::uint64_t>& begins) {
    std::uint64_t largest = 0;
    for (std::size_t piece = 0; piece + 1 < begins.size(); ++piece)
      largest = std::max(largest, begins[piece + 1] - begins[piece]);
    return largest;
  }

  storage::gpu::device_factorized& rows_;
  std::shared_ptr<buffer_pool> pool_;
  std::mutex reading_;
};

/// Returns nullptr for few rows, where one copy takes negligible time.
template <class Relation>
[[nodiscard]] std::unique_ptr<row_stream> stream_device_rows(const backend::gpu::device_context& context,
                                                             const Relation& source) {
  if (source.rows() < calibration::least_streamed_rows || source.arity() == 0) return nullptr;
  std::vector<const word*> columns;
  for (std::uint32_t c = 0; c < source.arity(); ++c) columns.push_back(source.column(c));
  return std::make_unique<device_rows>(context.staging(), std::move(columns), source.rows());
}

template <class Relation>
[[nodiscard]] columns_on_device device_columns_of(const backend::gpu::device_context& context, const Relation& source) {
  context.synchronize();
  columns_on_device found{{}, context.stream()};
  for (std::uint32_t c = 0; c < source.arity(); ++c) found.columns.push_back(source.column(c));
  return found;
}

}  // namespace gpulog::exec
