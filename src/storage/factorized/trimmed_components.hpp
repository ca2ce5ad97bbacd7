#pragma once

#include <cstdint>

#include "backend/piece_runner.hpp"
#include "storage/calibration.hpp"
#include "storage/factorized/component_search.hpp"

namespace gpulog::storage {

/// As find_components() of one worker, but workers put aside what leads to nothing but vertices that are put aside, in
/// rounds: such a vertex is a component of its own. What is left, the core, is searched by one. Then vertices that were
/// put aside get numbers just in front of the first component of the core that leads to them, those of earlier rounds
/// first, so that numbers stay near each other as a search would leave them. They do not depend on the workers, but for
/// one worker, who searches all.
/// @param least_vertices of a graph that workers share
[[nodiscard]] numbered_components find_components(const backend::piece_runner& workers,
                                                  backend::memory_resource& resource, const list_view& graph,
                                                  std::uint64_t vertices, const std::uint32_t* starts,
                                                  std::uint64_t start_count,
                                                  std::uint64_t least_vertices = calibration::least_trimmed_vertices);

}  // namespace gpulog::storage
