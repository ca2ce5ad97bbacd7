#pragma once

#include <cstdint>
#include <vector>

#include "storage/factorized/factorized_graph.hpp"

namespace gpulog::storage {

/// For one strip of components at a time: the components reachable from each vertex, as rows of bits. Vertices with
/// equal sets share a row.
class strip_rows {
 public:
  /// @param graph must outlive the object
  strip_rows(backend::memory_resource& resource, const factorized_graph& graph);

  /// @throws backend::memory_exceeded
  void make(std::uint32_t strip);

  /// Returns the first component of the strip; end() returns the end.
  [[nodiscard]] std::uint32_t begin() const { return begin_; }
  [[nodiscard]] std::uint32_t end() const { return end_; }
  /// Returns the number of rows. Row 0 is empty; each further row differs from its successors' rows.
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::uint32_t row_of(std::uint32_t vertex) const { return vertex < begin_ ? 0 : row_of_[vertex]; }
  [[nodiscard]] const std::uint64_t* words(std::uint32_t row) const {
    return blocks_[row / rows_per_block].data() + std::uint64_t{row % rows_per_block} * graph_->strip_words;
  }
  /// Returns the number of bits set in a row.
  [[nodiscard]] std::uint32_t size(std::uint32_t row) const { return sizes_[row]; }

 private:
  static constexpr std::uint32_t rows_per_block = 256;

  [[nodiscard]] std::uint32_t make_row(std::uint32_t vertex);
  /// Appends a row: the union of `base` and the vertex's successors from index `first` on.
  [[nodiscard]] std::uint32_t unite(std::uint32_t vertex, std::uint32_t first, std::uint32_t base);
  [[nodiscard]] std::uint64_t* place_of(std::uint32_t row);

  backend::memory_resource* resource_;
  const factorized_graph* graph_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t rows_ = 1;
  backend::array<std::uint32_t> row_of_;  // by vertex
  backend::array<std::uint32_t> sizes_;   // by row
  std::vector<backend::array<std::uint64_t>> blocks_;
};

}  // namespace gpulog::storage
