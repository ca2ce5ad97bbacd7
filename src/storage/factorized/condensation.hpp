#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "storage/factorized/component_search.hpp"

namespace gpulog::storage {

/// The strongly connected components of a graph as an acyclic graph. Edges lead to components with smaller numbers
/// only, so ascending numbers are a reverse topological order.
struct condensation {
  std::uint32_t components = 0;
  backend::array<std::uint32_t> component;  ///< by vertex; no_component: no start reaches it
  /// By component: the lowest different component reachable, or no_component.
  backend::array<std::uint32_t> lowest;
  backend::array<std::uint8_t> is_cyclic;    ///< by component: whether its vertices reach themselves
  backend::array<std::uint32_t> first;       ///< by component, with one extra entry: start of its successors
  backend::array<std::uint32_t> successors;  ///< ascending, without duplicates and without the component itself

  [[nodiscard]] list_view lists() const { return {first.data(), successors.data()}; }
};

/// Condenses the subgraph reachable from the starts, which may contain duplicates.
/// @throws backend::memory_exceeded
[[nodiscard]] condensation condense(const backend::piece_runner& workers, backend::memory_resource& resource,
                                    const list_view& graph, std::uint64_t vertices, const std::uint32_t* starts,
                                    std::uint64_t start_count);

}  // namespace gpulog::storage
