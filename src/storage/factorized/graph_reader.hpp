#pragma once

#include <cstdint>
#include <vector>

#include "storage/factorized/graph_rows.hpp"

namespace gpulog::storage {

/// Finds rows of a graph by searches if labels are inconclusive. Sources are represented by vertices, values by
/// components.
class graph_reader final : public matrix_reader {
 public:
  /// @param rows must outlive the reader
  explicit graph_reader(graph_rows& rows) : rows_(&rows) {}

  [[nodiscard]] const host_row_matrix& matrix() const override { return *rows_; }
  void contains(const word* const* values, std::uint32_t n, std::uint8_t* found) override;
  [[nodiscard]] std::uint32_t source_number(const word* const* keys, std::uint32_t i) override {
    return rows_->vertex_of([keys, i](std::size_t c) { return keys[c][i]; });
  }
  /// Returns the component of a value; components that no source leads to have no number.
  [[nodiscard]] std::uint32_t target_number(const word* const* keys, std::uint32_t i) override {
    return rows_->component_of([keys, i](std::size_t c) { return keys[c][i]; });
  }
  /// Returns the values of components reachable from the vertex.
  [[nodiscard]] found_places targets_of(std::uint32_t vertex) override;
  /// Returns the sources of vertices that lead to the component.
  [[nodiscard]] found_places sources_of(std::uint32_t component) override;
  [[nodiscard]] std::uint64_t count_targets(std::uint32_t vertex) override;
  [[nodiscard]] std::uint64_t count_sources(std::uint32_t component) override;
  [[nodiscard]] bool has_targets(std::uint32_t vertex) override;

 private:
  /// All components reachable from a vertex, or all vertices that lead to a component.
  struct search {
    std::uint32_t begin = none;  ///< start of the search; none: no search yet
    std::vector<std::uint32_t> found;
    backend::array<std::uint64_t> marks;  ///< a bit for each number found
    std::uint64_t steps = 0;              ///< steps of the search

    [[nodiscard]] bool has(std::uint32_t number) const { return (marks[number / 64] >> number % 64 & 1) != 0; }
  };

  [[nodiscard]] const std::vector<std::uint32_t>& reached_from(std::uint32_t vertex);
  [[nodiscard]] const std::vector<std::uint32_t>& leading_to(std::uint32_t component);
  [[nodiscard]] bool leads(std::uint32_t vertex, std::uint32_t component);
  [[nodiscard]] bool search_for(std::uint32_t vertex, std::uint32_t component);
  void run(search& from, std::uint32_t begin, std::uint64_t numbers, const list_view& lists);
  void find_all_from(std::uint32_t vertex);
  void find_all_to(std::uint32_t component);

  graph_rows* rows_;
  search forward_;
  search backward_;
  // Steps of successive searches for single pairs with the same vertex or component.
  std::uint32_t last_vertex_ = none;
  std::uint32_t last_component_ = none;
  std::uint64_t vertex_steps_ = 0;
  std::uint64_t component_steps_ = 0;
  std::vector<std::uint32_t> queue_;  // of a search for a single pair
  backend::array<std::uint64_t> seen_;
  std::uint64_t steps_ = 0;  // steps not yet added to the matrix
};

}  // namespace gpulog::storage
