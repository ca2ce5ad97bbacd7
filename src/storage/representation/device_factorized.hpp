#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage::gpu {

struct kept_rows_view;
enum class kept_question : std::uint8_t;

/// Rows of a complete relation on a device in a form smaller than columns, like factorized_rows on the host. The rows
/// can be counted, and kernels find tuples in them; columns are created on demand or by piece.
class device_factorized {
 public:
  device_factorized() = default;
  device_factorized(const device_factorized&) = delete;
  device_factorized& operator=(const device_factorized&) = delete;
  virtual ~device_factorized() = default;

  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Returns all rows.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns() = 0;
  /// Returns the boundaries of pieces of some million rows each: the number of rows before each piece, with one extra
  /// entry.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual const std::vector<std::uint64_t>& pieces() = 0;
  /// Copies the rows of a piece to arrays on the host, one per column. Not thread-safe.
  /// @throws backend::memory_exceeded
  virtual void read(std::size_t piece, word* const* columns) = 0;
  /// Returns the view for kernels' lookups, in device memory; created once.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual const kept_rows_view* lookup(kept_question asked) = 0;
  /// Returns the same view on the host, after lookup().
  [[nodiscard]] virtual const kept_rows_view& view() const = 0;
  /// Returns the columns that identify the source of a row; node_columns() returns the columns that identify its node.
  [[nodiscard]] virtual std::vector<std::uint32_t> source_columns() const = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> node_columns() const = 0;
  /// The values in a column, or a superset: in device memory; null: all values below `count`.
  struct column_bounds {
    const word* values = nullptr;
    std::uint64_t count = 0;
  };
  [[nodiscard]] virtual column_bounds values_of(std::uint32_t column) const = 0;
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
  /// Returns the rows as columns, after lookup(); unwanted columns are empty.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns_of(const source_rows& wanted) = 0;

  /// Returns the cost of all lookups so far, in rows that could have been converted to columns.
  [[nodiscard]] double asked_work() const { return asked_work_; }
  void count_asked_work(double rows) { asked_work_ += rows; }

 private:
  double asked_work_ = 0;
};

}  // namespace gpulog::storage::gpu
