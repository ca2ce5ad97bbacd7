#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "exec/calibration.hpp"
#include "kernels/join/pipeline.hpp"
#include "storage/factorized/row_matrix.hpp"
#include "storage/relation/relation.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {

/// Returns whether a pipeline reads matrices: such a pipeline processes pieces, or may have to run again.
[[nodiscard]] bool reads_matrix(const kernels::pipeline& program,
                                const kernels::relation_list<storage::relation>& relations);

/// The rows of a matrix, for a pipeline that begins with a scan of the relation.
class matrix_scan {
 public:
  /// @param resource must outlive this object
  /// @param matrix must outlive this object
  /// @param once whether each combination of the bound values is needed only once
  /// @throws backend::memory_exceeded
  matrix_scan(backend::memory_resource& resource, storage::host_row_matrix& matrix, const kernels::segment& scan,
              bool once);

  /// Returns whether the scan binds only sources or only targets, which already are columns. Otherwise the scan builds
  /// pieces.
  [[nodiscard]] bool has_columns() const { return has_columns_; }
  /// Returns the number of rows of the scan; with columns, the rows of one side only.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// If has_columns(): one entry per column of the relation, nullptr for columns that are not bound.
  [[nodiscard]] const word* const* columns() const { return columns_.data(); }

  /// Builds pieces, one per worker at a time, and calls run(worker, columns, n) for n rows at a time.
  /// @throws backend::memory_exceeded
  template <class Backend, class Run>
  void for_each_piece(Backend& backend, unsigned workers, const Run& run) const {
    const std::uint32_t pieces = static_cast<std::uint32_t>(matrix_->pieces().size() - 1);
    long_vector<std::unique_ptr<storage::row_piece>> made(std::min(workers, pieces));
    std::vector<buffer> buffers(workers);
    for (std::uint32_t piece = 0; piece < pieces; piece += static_cast<std::uint32_t>(made.size())) {
      const std::size_t count = std::min<std::size_t>(made.size(), pieces - piece);
      backend.for_each_tile(
          count, 1,
          [&](unsigned, std::uint64_t number, std::uint64_t) {
            if (made[number] == nullptr) made[number] = matrix_->make_piece();
            made[number]->make(piece + static_cast<std::uint32_t>(number));
          },
          workers);
      const std::uint64_t first = matrix_->pieces()[piece];
      const std::uint64_t rows = matrix_->pieces()[piece + count] - first;
      const std::uint64_t part = std::clamp<std::uint64_t>(rows / (workers * 16ULL), 1, calibration::read_piece_rows);
      backend.for_each_tile(
          rows, part,
          [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
            if (buffers[worker].columns.empty()) buffers[worker] = make_buffer();
            read_rows(first + begin, first + end, piece, made, buffers[worker],
                      [&](const word* const* columns, std::uint64_t n) { run(worker, columns, n); });
          },
          workers);
    }
  }

 private:
  struct buffer {
    std::vector<backend::array<word>> memory;
    std::vector<word*> columns;  ///< by column of the relation; nullptr: not bound
  };

  [[nodiscard]] buffer make_buffer() const;

  /// Reads rows [begin, end) of the relation from the built pieces, which start at number `piece`.
  template <class Run>
  void read_rows(std::uint64_t begin, std::uint64_t end, std::uint32_t piece,
                 const std::vector<std::unique_ptr<storage::row_piece>>& made, const buffer& into,
                 const Run& run) const {
    for (std::size_t number = 0; begin < end; ++number) {
      const std::uint64_t in_front = matrix_->pieces()[piece + number];
      const std::uint64_t behind = std::min(end, matrix_->pieces()[piece + number + 1]);
      if (begin >= behind) continue;
      const std::unique_ptr<storage::row_cursor> cursor = made[number]->cursor();
      while (begin < behind) {
        const std::uint64_t n = std::min(calibration::written_piece_rows, behind - begin);
        cursor->write(begin - in_front, n, into.columns.data());
        run(into.columns.data(), n);
        begin += n;
      }
    }
  }

  void take_side(bool of_sources);

  backend::memory_resource* resource_;
  storage::host_row_matrix* matrix_;
  std::vector<bool> is_bound_;  // by column of the relation
  bool has_columns_ = false;
  std::uint64_t rows_ = 0;
  std::vector<const word*> columns_;
  std::vector<backend::array<word>> taken_;  // columns of the side, without values that occur in no row
};

}  // namespace gpulog::exec
