#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/strategies/search/device_numbering.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// kernels::numbered_graph in device memory.
struct device_graph {
  std::vector<std::unique_ptr<device_numbering>> nodes;  ///< by member; empty: values serve directly as numbers
  std::vector<std::uint32_t> begins;                     ///< by member, with one extra entry
  std::uint64_t numbers = 0;
  std::unique_ptr<device_numbering> invariants;  ///< null: values serve directly as numbers
  std::uint64_t sources = 0;                     ///< number of invariants
  device_lists lists;                            ///< by number: steps; then by source: starts

  [[nodiscard]] const std::uint32_t* first_steps() const { return lists.first.data(); }
  [[nodiscard]] const std::uint32_t* first_starts() const { return lists.first.data() + numbers; }
};

/// @return nothing if numbers exceed 32 bits, or if there are too few invariants
/// @throws backend::memory_exceeded
[[nodiscard]] std::optional<device_graph> make_device_graph(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const row_equations& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, std::uint64_t least_invariants);

/// The same for a task with one binary member, whose values serve directly as numbers.
/// @param bound exclusive bound of the values
[[nodiscard]] device_graph make_graph_of_values(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                const kernels::relation_list<storage::gpu::device_relation>& relations,
                                                std::uint64_t bound);

}  // namespace gpulog::exec
