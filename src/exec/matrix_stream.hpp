#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/piecewise_stream.hpp"
#include "storage/factorized/row_matrix.hpp"

namespace gpulog::exec {

/// Streams the rows of a matrix piece by piece.
class matrix_stream final : public piecewise_stream {
 public:
  /// @param rows must outlive this object
  /// @throws backend::memory_exceeded
  explicit matrix_stream(storage::row_matrix& rows)
      : piecewise_stream({rows.pieces().begin(), rows.pieces().end()}, rows.arity()), rows_(&rows) {}

 private:
  /// Pieces that were read completely: touching fresh memory takes about as long as making a piece.
  struct free_pieces {
    std::mutex access;
    std::vector<std::unique_ptr<storage::row_piece>> all;
  };

  class open_piece final : public piece {
   public:
    open_piece(std::shared_ptr<free_pieces> free, std::unique_ptr<storage::row_piece> rows)
        : free_(std::move(free)), rows_(std::move(rows)) {}
    ~open_piece() override {
      const std::lock_guard<std::mutex> alone(free_->access);
      free_->all.push_back(std::move(rows_));
    }
    void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
      rows_->cursor()->write(first, n, columns);
    }

   private:
    std::shared_ptr<free_pieces> free_;
    std::unique_ptr<storage::row_piece> rows_;
  };

  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override {
    std::unique_ptr<storage::row_piece> made;
    {
      const std::lock_guard<std::mutex> alone(free_->access);
      if (!free_->all.empty()) {
        made = std::move(free_->all.back());
        free_->all.pop_back();
      }
    }
    if (made == nullptr) made = rows_->make_piece();
    made->make(static_cast<std::uint32_t>(number));
    return std::make_shared<open_piece>(free_, std::move(made));
  }

  storage::row_matrix* rows_;
  std::shared_ptr<free_pieces> free_ = std::make_shared<free_pieces>();
};

}  // namespace gpulog::exec
