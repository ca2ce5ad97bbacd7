#pragma once

#include <memory>
#include <vector>

#include "kernels/pipeline.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// Where an index of the plan is kept.
struct index_place {
  relation_id relation;
  std::size_t number = 0;  ///< in its relation
};

/// What plan ids stand for in a running program.
struct bound_program {
  const plan::program* plan = nullptr;
  std::vector<std::unique_ptr<storage::relation>> relations;  ///< by relation_id
  std::vector<index_place> indexes;                           ///< by index_id
  storage::symbol_table* symbols = nullptr;
};

/// The layout of a planned index in the given storage mode.
[[nodiscard]] storage::index_layout make_layout(const plan::index& planned, storage::storage_mode mode);

/// Binds a rule version to the relations: cuts it into segments at its expansions, and finds out which registers each
/// part still reads.
[[nodiscard]] kernels::pipeline build_pipeline(const plan::rule_version& version, const bound_program& program);

}  // namespace gpulog::exec
