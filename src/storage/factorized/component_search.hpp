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

/// What is no component: of a vertex that no start reaches, and of a component that leads to no other.
constexpr std::uint32_t no_component = UINT32_MAX;

struct numbered_components {
  std::uint32_t components = 0;
  backend::array<std::uint32_t> component;  ///< by vertex, or no_component
  backend::array<std::uint32_t> lowest;     ///< by component: the lowest other one that it leads to, or no_component
  backend::array<std::uint32_t> first;      ///< by component, and one more at the end: where its vertices begin
  backend::array<std::uint32_t> vertices;   ///< by component
};

/// The strongly connected components of what some vertices reach, which may repeat. Components get numbers as a
/// depth-first search leaves them that begins at one start after the other: they lead to smaller numbers only. Tarjan
/// 1972, with a stack of its own, as paths may be long. @param vertices fewer than 2^32 - 1
/// @throws backend::memory_exceeded
[[nodiscard]] numbered_components find_components(const backend::piece_runner& workers,
                                                  backend::memory_resource& resource, const list_view& graph,
                                                  std::uint64_t vertices, const std::uint32_t* starts,
                                                  std::uint64_t start_count);

}  // namespace gpulog::storage
