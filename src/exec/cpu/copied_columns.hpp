#pragma once

#include <optional>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Columns of a relation that a pipeline passes on as they are; nothing where it does anything else.
[[nodiscard]] std::optional<std::vector<const word*>> copied_columns(
    const kernels::pipeline& program, const kernels::relation_list<storage::relation>& relations);

}  // namespace gpulog::exec
