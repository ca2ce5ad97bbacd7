#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "storage/factorized/adjacency.hpp"

namespace gpulog::storage {

/// Marks a vertex that no start reaches, and the absence of a lowest component.
constexpr std::uint32_t no_component = UINT32_MAX;

struct numbered_components {
  std::uint32_t components = 0;
  backend::array<std::uint32_t> component;  ///< by vertex, or no_component
  backend::array<std::uint32_t> lowest;     ///< by component: the lowest different component reachable, or no_component
  backend::array<std::uint32_t> first;      ///< by component, with one extra entry: start of its vertices
  backend::array<std::uint32_t> vertices;   ///< by component
};

/// Finds the strongly connected components reachable from the starts, which may contain duplicates. Components are
/// numbered in the order in which a depth-first search completes them: edges lead to smaller numbers only. Uses
/// Tarjan's algorithm (1972) with an explicit stack, as paths may be long.
/// @param vertices fewer than 2^32 - 1
/// @throws backend::memory_exceeded
[[nodiscard]] numbered_components find_components(const backend::piece_runner& workers,
                                                  backend::memory_resource& resource, const list_view& graph,
                                                  std::uint64_t vertices, const std::uint32_t* starts,
                                                  std::uint64_t start_count);

}  // namespace gpulog::storage
