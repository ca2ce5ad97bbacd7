#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

class factorized_form;

/// Places in the columns of values, or of sources, of a factorized relation.
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

/// Queries of a single thread on the rows of a factorized relation. All functions throw backend::memory_exceeded.
class factorized_reader {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  factorized_reader() = default;
  factorized_reader(const factorized_reader&) = delete;
  factorized_reader& operator=(const factorized_reader&) = delete;
  virtual ~factorized_reader() = default;

  [[nodiscard]] virtual const factorized_form& form() const = 0;

  /// Sets found[i] to whether tuple i is a row.
  /// @param values one array per column of the relation
  virtual void contains(const word* const* values, std::uint32_t n, std::uint8_t* found) = 0;
  /// Returns the number of the source (or value) with the given keys, in the order of source_columns (or
  /// value_columns), or `none` if it occurs in no row. A numbered source may occur in no row, too.
  [[nodiscard]] virtual std::uint32_t source_of(const word* const* keys, std::uint32_t i) = 0;
  [[nodiscard]] virtual std::uint32_t value_of(const word* const* keys, std::uint32_t i) = 0;
  /// Returns the values that share a row with the source; valid until the next call. sources_with() is analogous.
  [[nodiscard]] virtual found_places values_with(std::uint32_t source) = 0;
  [[nodiscard]] virtual found_places sources_with(std::uint32_t value) = 0;
  [[nodiscard]] virtual std::uint64_t count_values(std::uint32_t source) = 0;
  [[nodiscard]] virtual std::uint64_t count_sources(std::uint32_t value) = 0;
  [[nodiscard]] virtual bool has_values(std::uint32_t source) = 0;
};

/// Writes the rows of a piece, one part after another: it may keep data for the next part.
class factorized_cursor {
 public:
  factorized_cursor() = default;
  factorized_cursor(const factorized_cursor&) = delete;
  factorized_cursor& operator=(const factorized_cursor&) = delete;
  virtual ~factorized_cursor() = default;

  /// Writes rows [first, first + n) of the piece.
  /// @param columns one per column of the relation; nullptr: column not wanted
  virtual void write(std::uint64_t first, std::uint64_t n, word* const* columns) = 0;
};

/// Access to the rows of one piece at a time.
class factorized_piece {
 public:
  factorized_piece() = default;
  factorized_piece(const factorized_piece&) = delete;
  factorized_piece& operator=(const factorized_piece&) = delete;
  virtual ~factorized_piece() = default;

  /// @throws backend::memory_exceeded
  virtual void make(std::uint32_t number) = 0;
  /// Returns a cursor for the current piece, valid until the next call of make(). Several cursors may exist at a time.
  [[nodiscard]] virtual std::unique_ptr<factorized_cursor> cursor() const = 0;
};

/// Rows of a complete relation in a form smaller than columns, indexed by source: as paths of a graph (graph_rows.hpp)
/// or as words (word_rows.hpp). A row consists of a source and a value, each with one or more columns. Threads may read
/// concurrently if each has a separate reader, piece and cursor.
class factorized_form {
 public:
  factorized_form() = default;
  factorized_form(const factorized_form&) = delete;
  factorized_form& operator=(const factorized_form&) = delete;
  virtual ~factorized_form() = default;

  /// Returns the relation's columns that hold sources. value_columns() is analogous.
  [[nodiscard]] virtual const std::vector<std::uint32_t>& source_columns() const = 0;
  [[nodiscard]] virtual const std::vector<std::uint32_t>& value_columns() const = 0;
  /// Returns the contents of a column of the relation: all sources, of which some may have no row, or all values.
  [[nodiscard]] virtual const backend::array<word>& column(std::uint32_t column) const = 0;
  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;

  /// Returns the places of sources, or of values, that occur in a row; nothing if all do.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual std::optional<std::vector<std::uint32_t>> places_with_rows(bool of_sources) = 0;

  /// Returns the number of rows before each piece: pieces() + 1 entries.
  [[nodiscard]] virtual const std::uint64_t* rows_in_front() const = 0;
  [[nodiscard]] virtual std::uint32_t pieces() const = 0;
  /// Returns a piece, which the form must outlive.
  [[nodiscard]] virtual std::unique_ptr<factorized_piece> make_piece() const = 0;
  [[nodiscard]] virtual std::unique_ptr<factorized_reader> make_reader() = 0;

  /// Returns the cost of all reads so far: steps along edges plus rows tested for a value.
  [[nodiscard]] std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// Returns the number of steps up to which reading factorized rows is expected to cost less than columns. Set only
  /// while no thread reads.
  [[nodiscard]] std::uint64_t most_steps() const { return most_steps_; }
  void grant(std::uint64_t steps) { most_steps_ = steps; }
  void add_steps(std::uint64_t steps) { steps_.fetch_add(steps, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> steps_ = 0;
  std::uint64_t most_steps_ = UINT64_MAX;
};

}  // namespace gpulog::storage
