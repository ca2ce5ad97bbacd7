#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "storage/factorized/row_matrix.hpp"

namespace gpulog::storage::gpu {

struct kept_rows_view;
enum class kept_question : std::uint8_t;

/// A matrix on a device, in which kernels find tuples. A unit of work is a row materialized for a lookup.
class device_row_matrix : public row_matrix {
 public:
  using row_matrix::row_matrix;

  /// Returns all rows.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns() = 0;
  /// Returns the view for kernels' lookups, in device memory; created once.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual const kept_rows_view* lookup(kept_question asked) = 0;
  /// Returns the same view on the host, after lookup().
  [[nodiscard]] virtual const kept_rows_view& view() const = 0;
  /// The rows of some sources.
  struct source_rows {
    /// By source, with one extra entry: number of earlier rows; a missing entry equals the next one.
    const std::uint64_t* places = nullptr;
    const std::uint32_t* listed = nullptr;  ///< sources; null: all
    std::uint64_t first = 0;                ///< places [first, last) of these
    std::uint64_t last = 0;
    std::uint64_t first_row = 0;                ///< number of rows before these
    std::uint64_t rows = 0;                     ///< number of rows
    std::uint64_t wanted_columns = UINT64_MAX;  ///< bits by column of the relation
  };
  /// Returns the rows as columns; unwanted columns are empty.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns_of(const source_rows& wanted) = 0;
};

}  // namespace gpulog::storage::gpu
