#pragma once

#include <vector>

#include "exec/fixpoint/index_places.hpp"
#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::exec {

/// What a pipeline's steps look up.
struct pipeline_tables {
  storage::symbol_table* symbols;
  storage::record_tables* records;       ///< needed by rules with records only
  storage::wide_values* wide = nullptr;  ///< nullptr: words have 32 bits
  bool counts_steps = false;             ///< the pipeline gets counts (kernels::step_counts)
};

/// Cuts a rule version into segments at its expansions, and finds out which registers each part still reads.
/// @param places as place_indexes gives them
/// @param for_device steps that need the host's texts, look up records, or work on values of 64 bits become segments of
/// their own
/// @param with_choices matches with other searches choose among them for each binding, and scans know which of their
/// rows the filters behind them can keep
[[nodiscard]] kernels::pipeline build_pipeline(const plan::rule_version& version, const plan::program& program,
                                               const std::vector<index_place>& places, storage::storage_mode mode,
                                               const pipeline_tables& tables, bool for_device = false,
                                               bool with_choices = false);

}  // namespace gpulog::exec
