#pragma once

#include <cstdint>
#include <vector>

namespace gpulog::sema {

/// The successors of each node.
using graph = std::vector<std::vector<std::uint32_t>>;

/// Returns the strongly connected components, each in ascending order, after the components that they lead to.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> strong_components(const graph& successors);

}  // namespace gpulog::sema
