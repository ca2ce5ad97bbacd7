#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/factorized/factorized_graph.hpp"
#include "storage/factorized/row_matrix.hpp"
#include "storage/factorized/strip_rows.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {

/// A relation over a factorized graph, which several relations may share: its values, and the relation's columns that
/// hold sources and values. Rows are ordered by strip, and within a strip by row of bits.
struct factorized_values {
  std::shared_ptr<const factorized_graph> graph;
  backend::array<std::uint32_t> first;        ///< by component, with one extra entry: start of its values
  std::vector<backend::array<word>> values;   ///< columns, by component
  std::vector<std::uint32_t> source_columns;  ///< columns of the relation
  std::vector<std::uint32_t> value_columns;   ///< columns of the relation
  backend::array<std::uint64_t>
      rows_in_front;  ///< by strip, with one extra entry: rows of the relation in earlier strips

  /// Returns the contents of a column of the relation: all sources, of which some may have no row, or all values.
  [[nodiscard]] const backend::array<word>& column(std::uint32_t column) const;
  [[nodiscard]] std::uint64_t rows() const { return rows_in_front[graph->strips()]; }
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Assigns values to components. `rows_in_front` remains empty.
/// @param component by value, or `none` if no source leads to the value
/// @param columns by value
/// @throws backend::memory_exceeded
[[nodiscard]] factorized_values place_values(const backend::piece_runner& workers, backend::memory_resource& resource,
                                             std::shared_ptr<const factorized_graph> graph,
                                             const std::uint32_t* component, const std::vector<const word*>& columns,
                                             std::uint64_t value_count);

/// Counts and writes the rows of one strip at a time.
class strip_reader {
 public:
  strip_reader(backend::memory_resource& resource, const factorized_graph& graph)
      : graph_(&graph), rows_(resource, graph) {}

  /// @throws backend::memory_exceeded
  void make(std::uint32_t strip);
  /// Returns the number of rows in the current strip.
  [[nodiscard]] std::uint64_t count(const factorized_values& of) const;
  /// Adds the number of values in the strip to the count of each vertex that leads to them.
  void add_counts(const factorized_values& of, std::uint64_t* counts) const;
  /// Prepares the current strip for write().
  void prepare(const factorized_values& of);
  /// Writes rows [first, first + n) of the prepared strip. Thread-safe.
  /// @param columns one per column of the relation
  void write(const factorized_values& of, std::uint64_t first, std::uint64_t n, word* const* columns) const;

 private:
  friend class strip_cursor;

  [[nodiscard]] bool has_one_value_each(const factorized_values& of) const;
  /// Calls action(begin, end) for the places of each component's values in a row.
  template <class Action>
  void for_each_range(const factorized_values& of, std::uint32_t row, const Action& action) const;
  [[nodiscard]] std::uint64_t values_of(const factorized_values& of, std::uint32_t row) const;

  const factorized_graph* graph_;
  strip_rows rows_;
  std::vector<std::uint64_t> first_source_;  // by row, with one extra entry: start of its sources
  long_vector<std::uint32_t> sources_;       // places, by row
  std::vector<std::uint64_t> first_pair_;    // by row, with one extra entry: rows of the relation before it
};

/// Writes successive pieces of a prepared strip. Data about the current row of bits is kept for the next piece.
class strip_cursor final : public row_cursor {
 public:
  /// The arguments must outlive the cursor.
  strip_cursor(const strip_reader& strip, const factorized_values& of) : strip_(&strip), of_(&of) {}

  void write(std::uint64_t first, std::uint64_t n, word* const* columns) override;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void list_values(std::uint32_t row);

  const strip_reader* strip_;
  const factorized_values* of_;
  std::uint32_t row_ = none;           // the row whose values are listed
  long_vector<std::uint32_t> places_;  // places of its values
};

}  // namespace gpulog::storage
