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
  const std::uint32_t* first = nullptr;  ///< by number, and one more at the end: its places; null: it is one itself

  /// action(first, one behind)
  template <class Action>
  void for_each_range(const Action& action) const {
    if (first == nullptr) {
      for (const std::uint32_t number : *numbers) action(number, number + 1ULL);
    } else {
      for (const std::uint32_t number : *numbers) action(first[number], first[number + 1ULL]);
    }
  }
};

/// One thread's questions about the rows of a factorized relation. All throw backend::memory_exceeded.
class factorized_reader {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  factorized_reader() = default;
  factorized_reader(const factorized_reader&) = delete;
  factorized_reader& operator=(const factorized_reader&) = delete;
  virtual ~factorized_reader() = default;

  [[nodiscard]] virtual const factorized_form& form() const = 0;

  /// found[i] = whether tuple i is a row; values: one array a column of the relation.
  virtual void contains(const word* const* values, std::uint32_t n, std::uint8_t* found) = 0;
  /// Number of the source, or value, whose columns stand in keys, in the order of source_columns or value_columns;
  /// none: it is in no row. A source that has a number may be in none, too.
  [[nodiscard]] virtual std::uint32_t source_of(const word* const* keys, std::uint32_t i) = 0;
  [[nodiscard]] virtual std::uint32_t value_of(const word* const* keys, std::uint32_t i) = 0;
  /// What is in a row with it; valid until the next call.
  [[nodiscard]] virtual found_places values_with(std::uint32_t source) = 0;
  [[nodiscard]] virtual found_places sources_with(std::uint32_t value) = 0;
  [[nodiscard]] virtual std::uint64_t count_values(std::uint32_t source) = 0;
  [[nodiscard]] virtual std::uint64_t count_sources(std::uint32_t value) = 0;
  [[nodiscard]] virtual bool has_values(std::uint32_t source) = 0;
};

/// Writes rows of a piece, one part after another: it may remember what the next part needs.
class factorized_cursor {
 public:
  factorized_cursor() = default;
  factorized_cursor(const factorized_cursor&) = delete;
  factorized_cursor& operator=(const factorized_cursor&) = delete;
  virtual ~factorized_cursor() = default;

  /// Rows [first, first + n) of the piece. columns: one a column of the relation; nullptr: it is not wanted
  virtual void write(std::uint64_t first, std::uint64_t n, word* const* columns) = 0;
};

/// The rows of one piece at a time.
class factorized_piece {
 public:
  factorized_piece() = default;
  factorized_piece(const factorized_piece&) = delete;
  factorized_piece& operator=(const factorized_piece&) = delete;
  virtual ~factorized_piece() = default;

  /// @throws backend::memory_exceeded
  virtual void make(std::uint32_t number) = 0;
  /// Of the piece that was made, until the next one is; any number of them at a time.
  [[nodiscard]] virtual std::unique_ptr<factorized_cursor> cursor() const = 0;
};

/// Rows of a complete relation, known by source, in a smaller form than columns: as paths of a graph (graph_rows.hpp),
/// or as words (word_rows.hpp). A row is a source and a value that belong together; each may have several columns. Any
/// number of threads read it, each with a reader, piece and cursor of its own.
class factorized_form {
 public:
  factorized_form() = default;
  factorized_form(const factorized_form&) = delete;
  factorized_form& operator=(const factorized_form&) = delete;
  virtual ~factorized_form() = default;

  /// Of the relation.
  [[nodiscard]] virtual const std::vector<std::uint32_t>& source_columns() const = 0;
  [[nodiscard]] virtual const std::vector<std::uint32_t>& value_columns() const = 0;
  /// What stands in a column of the relation: its sources, of which some may have no row, or its values.
  [[nodiscard]] virtual const backend::array<word>& column(std::uint32_t column) const = 0;
  [[nodiscard]] virtual std::uint64_t rows() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;

  /// Places of sources, or of values, that are in a row; nothing: all are. @throws backend::memory_exceeded
  [[nodiscard]] virtual std::optional<std::vector<std::uint32_t>> places_with_rows(bool of_sources) = 0;

  /// Rows in front of each piece, and one behind: pieces() + 1 of them.
  [[nodiscard]] virtual const std::uint64_t* rows_in_front() const = 0;
  [[nodiscard]] virtual std::uint32_t pieces() const = 0;
  /// The form outlives what it makes.
  [[nodiscard]] virtual std::unique_ptr<factorized_piece> make_piece() const = 0;
  [[nodiscard]] virtual std::unique_ptr<factorized_reader> make_reader() = 0;

  /// Steps along edges, and rows that were asked for a value, since it was made: what reading has cost so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// Until when reading this way is thought to cost less than columns would. Set while nobody reads.
  [[nodiscard]] std::uint64_t most_steps() const { return most_steps_; }
  void grant(std::uint64_t steps) { most_steps_ = steps; }
  void add_steps(std::uint64_t steps) { steps_.fetch_add(steps, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> steps_ = 0;
  std::uint64_t most_steps_ = UINT64_MAX;
};

}  // namespace gpulog::storage
