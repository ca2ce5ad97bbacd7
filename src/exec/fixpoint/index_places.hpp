#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Position of a planned index.
struct index_place {
  relation_id relation;
  std::size_t number = 0;  ///< within its relation
};

/// Numbers each planned index within its relation, in the order of the plan.
[[nodiscard]] std::vector<index_place> place_indexes(const plan::program& program);

/// Returns the layout of a planned index in the given storage mode.
[[nodiscard]] storage::index_layout make_layout(const plan::index& planned, storage::storage_mode mode);

}  // namespace gpulog::exec
