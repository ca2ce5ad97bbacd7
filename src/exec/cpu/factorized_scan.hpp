#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "exec/calibration.hpp"
#include "kernels/join/pipeline.hpp"
#include "storage/factorized/factorized_lookup.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Whether a pipeline reads factorized relations: it takes strips, or may have to run again.
[[nodiscard]] bool reads_factorized(const kernels::pipeline& program,
                                    const kernels::relation_list<storage::relation>& relations);

/// The rows of a factorized relation for a pipeline that begins with a scan of it.
class factorized_scan {
 public:
  /// @param once whether it is enough that each combination of values that the scan binds comes once. Both outlive it.
  /// @throws backend::memory_exceeded
  factorized_scan(storage::factorized_lookup& lookup, const kernels::segment& scan, bool once);

  /// Whether the scan binds sources only, or values only, which are columns already. Else strips are made.
  [[nodiscard]] bool has_columns() const { return has_columns_; }
  /// Of what it gives; with columns those of one side only.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Where it has columns: one a column of the relation, nullptr for those that are not bound.
  [[nodiscard]] const word* const* columns() const { return columns_.data(); }

  /// Strips, as many at a time as there are workers: run(worker, columns, n) for n rows at a time.
  /// @throws backend::memory_exceeded
  template <class Backend, class Run>
  void for_each_piece(Backend& backend, unsigned workers, const Run& run) const {
    const storage::factorized_values& values = lookup_->values();
    const std::uint32_t strips = values.graph->strips();
    std::vector<std::unique_ptr<storage::strip_reader>> made(std::min(workers, strips));
    std::vector<buffer> buffers(workers);
    for (std::uint32_t strip = 0; strip < strips; strip += static_cast<std::uint32_t>(made.size())) {
      const std::uint64_t count = std::min<std::uint64_t>(made.size(), strips - strip);
      backend.for_each_tile(
          count, 1,
          [&](unsigned, std::uint64_t number, std::uint64_t) {
            auto& reader = made[number];
            if (reader == nullptr) reader = std::make_unique<storage::strip_reader>(lookup_->resource(), *values.graph);
            reader->make(strip + static_cast<std::uint32_t>(number));
            reader->prepare(values);
          },
          workers);
      const std::uint64_t first = values.rows_in_front[strip];
      const std::uint64_t rows = values.rows_in_front[strip + count] - first;
      const std::uint64_t piece = std::clamp<std::uint64_t>(rows / (workers * 16ULL), 1, calibration::strip_piece_rows);
      backend.for_each_tile(
          rows, piece,
          [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
            if (buffers[worker].columns.empty()) buffers[worker] = make_buffer();
            read_piece(first + begin, first + end, strip, made, buffers[worker],
                       [&](const word* const* columns, std::uint64_t n) { run(worker, columns, n); });
          },
          workers);
    }
  }

 private:
  struct buffer {
    std::vector<backend::array<word>> memory;
    std::vector<word*> columns;  ///< of the relation; nullptr: not bound
  };

  [[nodiscard]] buffer make_buffer() const;

  /// Rows [begin, end) of the relation, of strips that are made, from `strip` on.
  template <class Run>
  void read_piece(std::uint64_t begin, std::uint64_t end, std::uint32_t strip,
                  const std::vector<std::unique_ptr<storage::strip_reader>>& made, const buffer& into,
                  const Run& run) const {
    const storage::factorized_values& values = lookup_->values();
    for (std::size_t number = 0; begin < end; ++number) {
      const std::uint64_t in_front = values.rows_in_front[strip + number];
      const std::uint64_t behind = std::min(end, values.rows_in_front[strip + number + 1]);
      if (begin >= behind) continue;
      storage::strip_cursor cursor(*made[number], values);
      while (begin < behind) {
        const std::uint64_t n = std::min(calibration::written_strip_rows, behind - begin);
        cursor.write(begin - in_front, n, into.columns.data());
        run(into.columns.data(), n);
        begin += n;
      }
    }
  }

  void take_sources();

  storage::factorized_lookup* lookup_;
  std::vector<bool> is_bound_;  // by column of the relation
  bool has_columns_ = false;
  std::uint64_t rows_ = 0;
  std::vector<const word*> columns_;
  std::vector<backend::array<word>> sources_;  // that have a value
};

}  // namespace gpulog::exec
