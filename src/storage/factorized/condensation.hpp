#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "storage/factorized/component_search.hpp"

namespace gpulog::storage {

/// The strongly connected components of a graph as a graph without cycles. A component leads to components with smaller
/// numbers only, so ascending numbers are a reverse topological order.
struct condensation {
  std::uint32_t components = 0;
  backend::array<std::uint32_t> component;   ///< by vertex; no_component: no start reaches it
  backend::array<std::uint32_t> lowest;      ///< by component: the lowest other one that it leads to, or no_component
  backend::array<std::uint8_t> is_cyclic;    ///< by component: whether its vertices reach themselves
  backend::array<std::uint32_t> first;       ///< by component, and one more at the end: where its successors begin
  backend::array<std::uint32_t> successors;  ///< ascending, each once, and never the component itself

  [[nodiscard]] list_view lists() const { return {first.data(), successors.data()}; }
};

/// Of what can be reached from some vertices, which may repeat. @throws backend::memory_exceeded
[[nodiscard]] condensation condense(const backend::piece_runner& workers, backend::memory_resource& resource,
                                    const list_view& graph, std::uint64_t vertices, const std::uint32_t* starts,
                                    std::uint64_t start_count);

}  // namespace gpulog::storage
