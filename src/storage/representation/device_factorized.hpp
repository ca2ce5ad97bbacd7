#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage::gpu {

struct kept_rows_view;
enum class kept_question : std::uint8_t;

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
  /// For kernels that ask, in device memory; made once. @throws backend::memory_exceeded
  [[nodiscard]] virtual const kept_rows_view* lookup(kept_question asked) = 0;
  /// The same on the host, behind lookup().
  [[nodiscard]] virtual const kept_rows_view& view() const = 0;
  /// A row is that of a source, which these columns tell, and has nodes, which these do.
  [[nodiscard]] virtual std::vector<std::uint32_t> source_columns() const = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> node_columns() const = 0;
  /// Values that a column has, or more: in device memory; null: those below `count`.
  struct column_bounds {
    const word* values = nullptr;
    std::uint64_t count = 0;
  };
  [[nodiscard]] virtual column_bounds values_of(std::uint32_t column) const = 0;
  /// Rows of some sources.
  struct source_rows {
    /// By source, and one behind: rows in front; left out: the next is the same.
    const std::uint64_t* places = nullptr;
    const std::uint32_t* listed = nullptr;  ///< sources; null: all
    std::uint64_t first = 0;                ///< of these, places [first, last)
    std::uint64_t last = 0;
    std::uint64_t first_row = 0;                ///< in front of these
    std::uint64_t rows = 0;                     ///< of these
    std::uint64_t wanted_columns = UINT64_MAX;  ///< bits by column of the relation
  };
  /// As columns, behind lookup(); those that are not wanted are empty. @throws backend::memory_exceeded
  [[nodiscard]] virtual std::vector<backend::array<word>> columns_of(const source_rows& wanted) = 0;

  /// What rules have asked so far costs about as much as making columns of so many rows.
  [[nodiscard]] double asked_work() const { return asked_work_; }
  void count_asked_work(double rows) { asked_work_ += rows; }

 private:
  double asked_work_ = 0;
};

}  // namespace gpulog::storage::gpu
