#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Where an index of the plan is kept.
struct index_place {
  relation_id relation;
  std::size_t number = 0;  ///< in its relation
};

/// Numbers every planned index within its relation, in the order of the plan.
[[nodiscard]] std::vector<index_place> place_indexes(const plan::program& program);

/// The layout of a planned index in the given storage mode.
[[nodiscard]] storage::index_layout make_layout(const plan::index& planned, storage::storage_mode mode);

}  // namespace gpulog::exec
