#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/factorized/factorized_form.hpp"
#include "storage/factorized/factorized_graph.hpp"
#include "storage/factorized/strip_rows.hpp"

namespace gpulog::storage {

/// One relation over a factorized graph, which several may share: its values, and in which columns they and the sources
/// stand. Rows go by strip, and in a strip by row of bits.
struct factorized_values {
  std::shared_ptr<const factorized_graph> graph;
  backend::array<std::uint32_t> first;        ///< by component, and one more at the end: where its values begin
  std::vector<backend::array<word>> values;   ///< columns, by component
  std::vector<std::uint32_t> source_columns;  ///< of the relation
  std::vector<std::uint32_t> value_columns;   ///< of the relation
  backend::array<std::uint64_t>
      rows_in_front;  ///< by strip, and one more at the end: rows of the relation in strips before it

  /// What stands in a column of the relation: its sources, of which some may have no row, or its values.
  [[nodiscard]] const backend::array<word>& column(std::uint32_t column) const;
  [[nodiscard]] std::uint64_t rows() const { return rows_in_front[graph->strips()]; }
  [[nodiscard]] std::uint64_t bytes() const;
};

/// component: by value, or none, where no source leads to it. columns: by value. rows_in_front stays empty.
/// @throws backend::memory_exceeded
[[nodiscard]] factorized_values place_values(const backend::piece_runner& workers, backend::memory_resource& resource,
                                             std::shared_ptr<const factorized_graph> graph,
                                             const std::uint32_t* component, const std::vector<const word*>& columns,
                                             std::uint64_t value_count);

/// The rows of one strip at a time, counted and written.
class strip_reader {
 public:
  strip_reader(backend::memory_resource& resource, const factorized_graph& graph)
      : graph_(&graph), rows_(resource, graph) {}

  /// @throws backend::memory_exceeded
  void make(std::uint32_t strip);
  /// Of the strip that was made.
  [[nodiscard]] std::uint64_t count(const factorized_values& of) const;
  /// Adds to the counts, one a vertex, how many values of the strip it leads to.
  void add_counts(const factorized_values& of, std::uint64_t* counts) const;
  /// In front of write().
  void prepare(const factorized_values& of);
  /// Rows [first, first + n) of what was prepared, of the strip. columns: one a column of the relation. Any number of
  /// threads at a time.
  void write(const factorized_values& of, std::uint64_t first, std::uint64_t n, word* const* columns) const;

 private:
  friend class strip_cursor;

  [[nodiscard]] bool has_one_value_each(const factorized_values& of) const;
  /// Calls action(first, one behind) for the places of the values of each component of a row.
  template <class Action>
  void for_each_range(const factorized_values& of, std::uint32_t row, const Action& action) const;
  [[nodiscard]] std::uint64_t values_of(const factorized_values& of, std::uint32_t row) const;

  const factorized_graph* graph_;
  strip_rows rows_;
  std::vector<std::uint64_t> first_source_;  // by row, and one more at the end: where its sources begin
  std::vector<std::uint32_t> sources_;       // places, by row
  std::vector<std::uint64_t> first_pair_;    // by row, and one more at the end: rows of the relation in front of it
};

/// Writes pieces of a prepared strip one after another. What it knows of a row of bits serves the next piece.
class strip_cursor final : public factorized_cursor {
 public:
  /// Both outlive it.
  strip_cursor(const strip_reader& strip, const factorized_values& of) : strip_(&strip), of_(&of) {}

  void write(std::uint64_t first, std::uint64_t n, word* const* columns) override;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void list_values(std::uint32_t row);

  const strip_reader* strip_;
  const factorized_values* of_;
  std::uint32_t row_ = none;           // whose values are listed
  std::vector<std::uint32_t> places_;  // of these values
};

}  // namespace gpulog::storage
