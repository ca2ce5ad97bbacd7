#pragma once

#include <cstdint>
#include <vector>

#include "storage/factorized/factorized_lookup.hpp"

namespace gpulog::storage {

/// One thread's questions about the rows of a factorized relation. All throw backend::memory_exceeded.
class factorized_reader {
 public:
  static constexpr std::uint32_t none = factorized_lookup::none;

  /// The lookup outlives it.
  explicit factorized_reader(factorized_lookup& lookup) : lookup_(&lookup) {}

  [[nodiscard]] const factorized_lookup& lookup() const { return *lookup_; }

  /// found[i] = whether tuple i is a row; values: one array a column of the relation.
  void contains(const word* const* values, std::uint32_t n, std::uint8_t* found);

  /// Vertex of the source whose columns stand in keys, in the order of source_columns; none: it is no source.
  [[nodiscard]] std::uint32_t vertex_of(const word* const* keys, std::uint32_t i) {
    return lookup_->vertex_of([keys, i](std::size_t c) { return keys[c][i]; });
  }
  [[nodiscard]] std::uint32_t component_of(const word* const* keys, std::uint32_t i) {
    return lookup_->component_of([keys, i](std::size_t c) { return keys[c][i]; });
  }

  /// The components that a vertex leads to; valid until the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& reached_from(std::uint32_t vertex);
  /// The vertices that lead to a component; valid until the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& leading_to(std::uint32_t component);

  [[nodiscard]] std::uint64_t count_values(std::uint32_t vertex);
  [[nodiscard]] std::uint64_t count_sources(std::uint32_t component);
  [[nodiscard]] bool has_values(std::uint32_t vertex);

 private:
  /// What one vertex leads to, or what leads to it.
  struct search {
    std::uint32_t begin = none;  ///< of what is here; none: nothing is
    std::vector<std::uint32_t> found;
    backend::array<std::uint64_t> marks;  ///< a bit for each of what was found
    std::uint64_t steps = 0;              ///< that it took

    [[nodiscard]] bool has(std::uint32_t number) const { return (marks[number / 64] >> number % 64 & 1) != 0; }
  };

  [[nodiscard]] bool leads(std::uint32_t vertex, std::uint32_t component);
  [[nodiscard]] bool search_for(std::uint32_t vertex, std::uint32_t component);
  void run(search& from, std::uint32_t begin, std::uint64_t numbers, const list_view& lists);
  void find_all_from(std::uint32_t vertex);
  void find_all_to(std::uint32_t component);

  factorized_lookup* lookup_;
  search forward_;
  search backward_;
  // Steps of searches for single pairs one after another with the same vertex, or component.
  std::uint32_t last_vertex_ = none;
  std::uint32_t last_component_ = none;
  std::uint64_t vertex_steps_ = 0;
  std::uint64_t component_steps_ = 0;
  std::vector<std::uint32_t> queue_;  // of a search for one pair
  backend::array<std::uint64_t> seen_;
  std::uint64_t steps_ = 0;  // that the lookup was not told of
};

}  // namespace gpulog::storage
