#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "storage/factorized/row_matrix.hpp"
#include "storage/representation/representation.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// Rows of a complete relation as a matrix, which counts rows and finds rows by values. For access to columns, an
/// order, an index or insertions, the rows must be converted to columns first.
class factorized_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.has_columns = false};
  factorized_rows(column_store& rows, std::unique_ptr<host_row_matrix> matrix)
      : row_representation(rows), matrix_(std::move(matrix)) {}

  [[nodiscard]] static const char* name() { return "factorized"; }
  [[nodiscard]] std::uint64_t bytes() const { return matrix_->bytes(); }

  [[nodiscard]] host_row_matrix& matrix() const { return *matrix_; }

  /// Returns all rows; workers share the pieces.
  /// @throws memory_exceeded
  template <class Backend>
  [[nodiscard]] std::vector<array<word>> columns(Backend& backend) const {
    std::vector<array<word>> made;
    for (std::uint32_t c = 0; c < rows_->arity(); ++c)
      made.emplace_back(*rows_->resource, matrix_->rows(), backend::fresh_memory::anything);
    const std::span<const std::uint64_t> in_front = matrix_->pieces();
    std::vector<std::unique_ptr<row_piece>> pieces(backend.workers());
    backend.for_each_tile(in_front.size() - 1, 1, [&](unsigned worker, std::uint64_t task, std::uint64_t) {
      const auto number = static_cast<std::size_t>(task);
      auto& piece = pieces[worker];
      if (piece == nullptr) piece = matrix_->make_piece();
      std::vector<word*> begins;
      for (auto& column : made) begins.push_back(column.data() + in_front[number]);
      piece->make(static_cast<std::uint32_t>(number));
      piece->cursor()->write(0, in_front[number + 1] - in_front[number], begins.data());
    });
    return made;
  }

  template <class>
  [[noreturn]] std::uint32_t insert(const word* const*, std::uint32_t, insert_scratch&, unsigned) {
    throw internal_error("factorized rows are inserted into");
  }
  /// Looks up tuples. Frequent callers should keep a reader instead, which caches its results.
  void contains(const word* const* values, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    matrix_->make_reader()->contains(values, n, found);
  }

 private:
  std::unique_ptr<host_row_matrix> matrix_;
};
static_assert(representation<factorized_rows>);

}  // namespace gpulog::storage
