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

/// Rows of a relation in device memory, copied while they are read.
class device_rows final : public row_stream {
 public:
  device_rows(backend::gpu::staging_ring& ring, std::vector<const word*> columns, std::uint64_t rows)
      : download_(ring, std::move(columns), rows) {}
  void read(std::uint64_t first, std::uint64_t n, word* const* columns) override { download_.read(first, n, columns); }

 private:
  backend::gpu::column_download download_;
};

/// Factorized rows of a device: it makes the columns of a piece, and they are copied.
class factorized_device_rows final : public piecewise_stream {
 public:
  /// The rows outlive it.
  factorized_device_rows(storage::gpu::device_factorized& rows, std::size_t arity)
      : piecewise_stream(rows.pieces().data(), rows.pieces().size() - 1, arity), rows_(rows), arity_(arity) {}

 private:
  class copied_piece final : public piece {
   public:
    copied_piece(std::uint64_t rows, std::size_t arity) {
      for (std::size_t c = 0; c < arity; ++c) columns_.push_back(std::make_unique_for_overwrite<word[]>(rows));
    }
    void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
      for (std::size_t c = 0; c < columns_.size(); ++c) std::copy_n(columns_[c].get() + first, n, columns[c]);
    }
    [[nodiscard]] std::vector<word*> columns() const {
      std::vector<word*> pointers;
      for (const auto& column : columns_) pointers.push_back(column.get());
      return pointers;
    }

   private:
    std::vector<std::unique_ptr<word[]>> columns_;
  };

  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override {
    auto made = std::make_shared<copied_piece>(rows_.pieces()[number + 1] - rows_.pieces()[number], arity_);
    const std::lock_guard<std::mutex> alone(reading_);
    rows_.read(number, made->columns().data());
    return made;
  }

  storage::gpu::device_factorized& rows_;
  std::size_t arity_;
  std::mutex reading_;
};

/// Nothing where copying all at once takes no time.
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
