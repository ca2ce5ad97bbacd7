#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Writes the rows of a piece, one part after another: it may keep data for the next part.
class row_cursor {
 public:
  row_cursor() = default;
  row_cursor(const row_cursor&) = delete;
  row_cursor& operator=(const row_cursor&) = delete;
  virtual ~row_cursor() = default;

  /// Writes rows [first, first + n) of the piece.
  /// @param columns one per column of the relation; nullptr: column not wanted
  virtual void write(std::uint64_t first, std::uint64_t n, word* const* columns) = 0;
};

/// Access to the rows of one piece at a time.
class row_piece {
 public:
  row_piece() = default;
  row_piece(const row_piece&) = delete;
  row_piece& operator=(const row_piece&) = delete;
  virtual ~row_piece() = default;

  /// @throws backend::memory_exceeded
  virtual void make(std::uint32_t number) = 0;
  /// Returns a cursor for the current piece, valid until the next call of make(). Several cursors may exist at a time.
  [[nodiscard]] virtual std::unique_ptr<row_cursor> cursor() const = 0;
};

/// Rows of a complete relation in a form smaller than columns: for each source, the set of its targets. A source and a
/// target have one or more columns each. Host and device have one kind each, with different lookups.
class row_matrix {
 public:
  row_matrix(std::vector<std::uint32_t> source_columns, std::vector<std::uint32_t> target_columns)
      : source_columns_(std::move(source_columns)), target_columns_(std::move(target_columns)) {}
  row_matrix(const row_matrix&) = delete;
  row_matrix& operator=(const row_matrix&) = delete;
  virtual ~row_matrix() = default;

  /// Returns the relation's columns that hold sources. target_columns() is analogous.
  [[nodiscard]] const std::vector<std::uint32_t>& source_columns() const { return source_columns_; }
  [[nodiscard]] const std::vector<std::uint32_t>& target_columns() const { return target_columns_; }
  [[nodiscard]] std::size_t arity() const { return source_columns_.size() + target_columns_.size(); }
  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Values of a column, in the memory of the machine; null: all values below `count`.
  struct column_values {
    const word* values = nullptr;
    std::uint64_t count = 0;
  };
  /// Returns the values of all sources, of which some may have no row, or of all targets.
  [[nodiscard]] virtual column_values values_of(std::uint32_t column) const = 0;

  /// Returns the number of rows before each piece, with one extra entry.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::span<const std::uint64_t> pieces() = 0;
  /// Returns a piece, which the matrix must outlive. Call pieces() first.
  [[nodiscard]] virtual std::unique_ptr<row_piece> make_piece() = 0;

  /// Returns the cost of all lookups so far, in units of the machine. A relation gets columns when its lookups cost
  /// more than columns.
  [[nodiscard]] std::uint64_t work() const { return work_.load(std::memory_order_relaxed); }
  void add_work(std::uint64_t units) { work_.fetch_add(units, std::memory_order_relaxed); }

 private:
  std::vector<std::uint32_t> source_columns_;
  std::vector<std::uint32_t> target_columns_;
  std::atomic<std::uint64_t> work_ = 0;
};

/// Places in the columns of targets, or of sources, of a matrix.
struct found_places {
  const std::vector<std::uint32_t>* numbers = nullptr;
  /// By number, with one extra entry: start of its places; null: each number is a place itself.
  const std::uint32_t* first = nullptr;

  /// Calls action(begin, end) for each range of places.
  template <class Action>
  void for_each_range(const Action& action) const {
    if (first == nullptr) {
      for (const std::uint32_t number : *numbers) action(number, number + 1ULL);
    } else {
      for (const std::uint32_t number : *numbers) action(first[number], first[number + 1ULL]);
    }
  }
};

class host_row_matrix;

/// Lookups of a single thread in a matrix. All functions throw backend::memory_exceeded.
class matrix_reader {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  matrix_reader() = default;
  matrix_reader(const matrix_reader&) = delete;
  matrix_reader& operator=(const matrix_reader&) = delete;
  virtual ~matrix_reader() = default;

  [[nodiscard]] virtual const host_row_matrix& matrix() const = 0;

  /// Sets found[i] to whether tuple i is a row.
  /// @param values one array per column of the relation
  virtual void contains(const word* const* values, std::uint32_t n, std::uint8_t* found) = 0;
  /// Returns the number of the source (or target) with the given keys, in the order of source_columns (or
  /// target_columns), or `none` if it occurs in no row. A numbered source may occur in no row, too.
  [[nodiscard]] virtual std::uint32_t source_number(const word* const* keys, std::uint32_t i) = 0;
  [[nodiscard]] virtual std::uint32_t target_number(const word* const* keys, std::uint32_t i) = 0;
  /// Returns the targets of the source; valid until the next call. sources_of() is analogous.
  [[nodiscard]] virtual found_places targets_of(std::uint32_t source) = 0;
  [[nodiscard]] virtual found_places sources_of(std::uint32_t target) = 0;
  [[nodiscard]] virtual std::uint64_t count_targets(std::uint32_t source) = 0;
  [[nodiscard]] virtual std::uint64_t count_sources(std::uint32_t target) = 0;
  [[nodiscard]] virtual bool has_targets(std::uint32_t source) = 0;
};

/// A matrix on the host: as paths of a graph (graph_rows.hpp) or as words (word_rows.hpp). A unit of work is a step
/// along an edge, or a row tested for a target. Threads may read concurrently if each has a separate reader, piece and
/// cursor.
class host_row_matrix : public row_matrix {
 public:
  using row_matrix::row_matrix;

  /// Returns the places of sources, or of targets, that occur in a row; nothing if all do.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::optional<std::vector<std::uint32_t>> places_with_rows(bool of_sources) = 0;
  [[nodiscard]] virtual std::unique_ptr<matrix_reader> make_reader() = 0;

  /// Returns whether lookups have exceeded their limit. Set only while no thread reads.
  [[nodiscard]] bool is_over_limit() const { return work() > limit_; }
  void limit_work(std::uint64_t units) { limit_ = units; }

 private:
  std::uint64_t limit_ = UINT64_MAX;
};

}  // namespace gpulog::storage
