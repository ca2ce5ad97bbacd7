#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/strategies/search/device_numbering.hpp"
#include "kernels/products/products.hpp"
#include "kernels/search/graph_builder.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// kernels::numbered_graph in device memory.
struct device_graph : kernels::task_graph<device_numbering> {
  storage::adjacency lists;  ///< by number: steps; then by source: starts

  [[nodiscard]] const std::uint32_t* first_steps() const { return lists.first.data(); }
  [[nodiscard]] const std::uint32_t* first_starts() const { return lists.first.data() + numbers; }
};

/// The operations of kernels/search/graph_builder.hpp on a device. All functions throw backend::memory_exceeded.
struct device_numbers {
  using graph = device_graph;
  using dictionary = device_numbering;
  /// Lists, and the range of each number's list as one word pair for kernels.
  struct lists {
    storage::adjacency sorted;
    backend::array<kernels::gpu::number_list> ranges;
  };

  const backend::gpu::device_context* context;
  backend::memory_resource* resource;

  [[nodiscard]] std::optional<device_numbering> number(std::size_t arity,
                                                       const std::vector<kernels::numbered_tuples>& tuples) const;
  static void find(const device_numbering& in, const kernels::numbered_tuples& tuples);
  [[nodiscard]] static std::vector<const word*> columns(const device_numbering& of);
  void number_keys(std::uint32_t first, kernels::number_pairs& pairs) const;
  void list(device_graph& made, const std::vector<kernels::number_pairs>& steps,
            const kernels::number_pairs& starts) const;
  [[nodiscard]] lists lists_of(const std::uint32_t* keys, const word* values, std::uint64_t pairs,
                               std::uint64_t numbers) const;
};

/// @return nothing if numbers exceed 32 bits, or if there are too few invariants
/// @throws backend::memory_exceeded
[[nodiscard]] inline std::optional<device_graph> make_device_graph(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const row_equations& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, std::uint64_t least_invariants) {
  return kernels::build_graph(device_numbers{&context, &resource}, resource, task, relations, least_invariants);
}

/// The same for a task with one binary member, whose values serve directly as numbers.
/// @param bound exclusive bound of the values
[[nodiscard]] device_graph make_graph_of_values(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                const kernels::relation_list<storage::gpu::device_relation>& relations,
                                                std::uint64_t bound);

}  // namespace gpulog::exec
