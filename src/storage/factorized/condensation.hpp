#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"

namespace gpulog::storage {

/// Lists of numbers, side by side.
struct list_view {
  const std::uint32_t* first;  ///< by list, and one more at the end: where it begins
  const std::uint32_t* all;
};

/// The strongly connected components of a graph as a graph without cycles. A component leads to components with smaller
/// numbers only, so ascending numbers are a reverse topological order.
struct condensation {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t components = 0;
  backend::array<std::uint32_t> component;   ///< by vertex; none: no start reaches it
  backend::array<std::uint8_t> is_cyclic;    ///< by component: whether its vertices reach themselves
  backend::array<std::uint32_t> first;       ///< by component, and one more at the end: where its successors begin
  backend::array<std::uint32_t> successors;  ///< ascending, each once, and never the component itself

  [[nodiscard]] list_view lists() const { return {first.data(), successors.data()}; }
};

/// Of what can be reached from some vertices, which may repeat. Tarjan 1972, with a stack of its own, as paths may be
/// long; workers share what follows the search. @throws backend::memory_exceeded
[[nodiscard]] condensation condense(const backend::piece_runner& workers, backend::memory_resource& resource,
                                    const list_view& graph, std::uint64_t vertices, const std::uint32_t* starts,
                                    std::uint64_t start_count);

}  // namespace gpulog::storage
