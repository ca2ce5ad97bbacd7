#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage::gpu {

struct kept_rows_view;

/// Rows of a relation that is complete, kept on a device in a smaller form than columns, as factorized_rows on the
/// host. They can be counted, and kernels find tuples in them; columns are made of them when something needs these, or
/// a piece at a time.
class device_factorized {
 public:
  device_factorized() = default;
  device_factorized(const device_factorized&) = delete;
  device_factorized& operator=(const device_factorized&) = delete;
  virtual ~device_factorized() = default;

  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// All rows. @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns() = 0;
  /// Pieces of some million rows: the rows in front of each, and one behind. @throws backend::memory_exceeded
  [[nodiscard]] virtual const std::vector<std::uint64_t>& pieces() = 0;
  /// Copies the rows of a piece to arrays of the host, one a column; one thread at a time. @throws
  /// backend::memory_exceeded
  virtual void read(std::size_t piece, word* const* columns) = 0;
  /// For kernels that ask for tuples, in device memory; made once. @throws backend::memory_exceeded
  [[nodiscard]] virtual const kept_rows_view* lookup() = 0;
  /// A row is that of a source, which these columns tell.
  [[nodiscard]] virtual std::vector<std::uint32_t> source_columns() const = 0;
  [[nodiscard]] virtual std::uint64_t sources() const = 0;
  /// Values that a column has, or more: in device memory; null: those below `count`.
  struct column_bounds {
    const word* values = nullptr;
    std::uint64_t count = 0;
  };
  [[nodiscard]] virtual column_bounds values_of(std::uint32_t column) const = 0;
  /// Rows of some sources.
  struct source_rows {
    const std::uint64_t* places =
        nullptr;              ///< by source, and one behind: rows in front; left out: the next is the same
    std::uint64_t first = 0;  ///< sources [first, last)
    std::uint64_t last = 0;
    std::uint64_t first_row = 0;  ///< in front of these
    std::uint64_t rows = 0;       ///< of these
  };
  /// As columns, behind lookup(). @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns_of(const source_rows& wanted) = 0;
};

}  // namespace gpulog::storage::gpu
