#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "storage/factorized/adjacency.hpp"
#include "storage/factorized/factorized_values.hpp"
#include "storage/factorized/path_labels.hpp"
#include "storage/factorized/row_matrix.hpp"
#include "storage/factorized/tuple_places.hpp"

namespace gpulog::storage {

/// Rows represented by paths of a graph, and structures for searches by value, which are created on demand. All
/// functions except simple accessors throw backend::memory_exceeded.
class graph_rows final : public host_row_matrix {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  graph_rows(backend::memory_resource& resource, factorized_values values)
      : host_row_matrix(values.source_columns, values.value_columns),
        resource_(&resource),
        values_(std::move(values)) {}

  [[nodiscard]] const factorized_values& values() const { return values_; }
  [[nodiscard]] backend::memory_resource& resource() const { return *resource_; }

  [[nodiscard]] column_values values_of(std::uint32_t column) const override {
    const backend::array<word>& values = values_.column(column);
    return {values.data(), values.size()};
  }
  [[nodiscard]] std::uint64_t rows() const override { return values_.rows(); }
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> places_with_rows(bool of_sources) override;
  /// Pieces are strips.
  [[nodiscard]] std::span<const std::uint64_t> pieces() override {
    return {values_.rows_in_front.data(), values_.graph->strips() + std::size_t{1}};
  }
  [[nodiscard]] std::unique_ptr<row_piece> make_piece() override;
  [[nodiscard]] std::unique_ptr<matrix_reader> make_reader() override;

  /// Returns the vertex of a source, or `none` if no such source exists.
  /// @param value value(c) returns source column c
  template <class Value>
  [[nodiscard]] std::uint32_t vertex_of(const Value& value) {
    std::call_once(sources_made_, [this] { place_sources(); });
    const std::uint32_t place = source_places_.find(value);
    return place == tuple_places::none ? none : vertices_[place];
  }
  /// Returns the component of a value tuple, or `none` if no such value exists.
  template <class Value>
  [[nodiscard]] std::uint32_t component_of(const Value& value) {
    std::call_once(values_made_, [this] { place_values(); });
    const std::uint32_t place = value_places_.find(value);
    return place == tuple_places::none ? none : components_[place];
  }
  [[nodiscard]] const path_labels& labels() {
    std::call_once(labels_made_, [this] { make_labels(); });
    return *labels_;
  }
  /// Returns the vertices that lead to each component.
  [[nodiscard]] list_view predecessors() {
    std::call_once(predecessors_made_, [this] { turn_around(); });
    return predecessors_.view();
  }
  /// Returns the number of values that each vertex leads to; takes as long as counting all rows once.
  [[nodiscard]] const std::uint64_t* value_counts() {
    std::call_once(counts_made_, [this] { count_values(); });
    return value_counts_.data();
  }
  /// Returns whether counting all rows at once takes no longer than all reads so far.
  [[nodiscard]] bool counts_all() {
    std::call_once(count_steps_told_, [this] { tell_count_steps(); });
    return static_cast<double>(work()) >= count_steps_;
  }
  /// Returns whether each component has a value, so that a path to a component always leads to a value.
  [[nodiscard]] bool all_have_values() {
    std::call_once(values_made_, [this] { place_values(); });
    return all_have_values_;
  }

 private:
  void place_sources();
  void place_values();
  void make_labels();
  void turn_around();
  void count_values();
  void tell_count_steps();

  backend::memory_resource* resource_;
  const factorized_values values_;
  std::once_flag sources_made_;
  std::once_flag values_made_;
  std::once_flag labels_made_;
  std::once_flag predecessors_made_;
  std::once_flag counts_made_;
  std::once_flag count_steps_told_;
  tuple_places source_places_;
  tuple_places value_places_;
  backend::array<std::uint32_t> vertices_;    // by place of a source
  backend::array<std::uint32_t> components_;  // by place of a value
  bool all_have_values_ = false;
  std::optional<path_labels> labels_;
  adjacency predecessors_;                      // by component
  backend::array<std::uint64_t> value_counts_;  // by vertex
  double count_steps_ = 0;
};

}  // namespace gpulog::storage
