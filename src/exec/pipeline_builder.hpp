#pragma once

#include <memory>
#include <vector>

#include "kernels/pipeline.hpp"
#include "plan/plan.hpp"
#include "storage/relation.hpp"

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

/// What a pipeline's steps look up.
struct pipeline_tables {
  storage::symbol_table* symbols;
  storage::record_tables* records;       ///< needed by rules with records only
  storage::wide_values* wide = nullptr;  ///< nullptr: words have 32 bits
};

/// Cuts a rule version into segments at its expansions, and finds out which registers each part still reads.
/// @param places as place_indexes gives them
/// @param for_device steps that need the host's texts, or look up records, become segments of their own
/// @param with_choices matches with other searches choose among them for each binding, and scans know which of their
/// rows the filters behind them can keep
[[nodiscard]] kernels::pipeline build_pipeline(const plan::rule_version& version, const plan::program& program,
                                               const std::vector<index_place>& places, storage::storage_mode mode,
                                               const pipeline_tables& tables, bool for_device = false,
                                               bool with_choices = false);

}  // namespace gpulog::exec
