#pragma once

#include <cstdint>
#include <vector>

namespace gpulog::sema {

/// The successors of each node.
using graph = std::vector<std::vector<std::uint32_t>>;

/// The strongly connected components, each in ascending order, with the ones that they lead to first.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> strong_components(const graph& successors);

}  // namespace gpulog::sema
