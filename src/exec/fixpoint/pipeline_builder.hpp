#pragma once

#include <vector>

#include "exec/fixpoint/index_places.hpp"
#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::exec {

/// Tables that a pipeline's steps access.
struct pipeline_tables {
  storage::symbol_table* symbols;
  storage::record_tables* records;       ///< needed only by rules with records
  storage::wide_values* wide = nullptr;  ///< nullptr: words have 32 bits
  bool counts_steps = false;             ///< the pipeline counts bindings (kernels::step_counts)
};

/// Splits a rule version into segments at its expansions, and determines the registers that each part still reads.
/// @param places result of place_indexes
/// @param for_device steps that need the host's texts, look up records, or process values of 64 bits become separate
///   segments
/// @param with_choices matches choose among alternative searches for each binding, and scans read only the rows that
///   later filters can keep
[[nodiscard]] kernels::pipeline build_pipeline(const plan::rule_version& version, const plan::program& program,
                                               const std::vector<index_place>& places, storage::storage_mode mode,
                                               const pipeline_tables& tables, bool for_device = false,
                                               bool with_choices = false);

}  // namespace gpulog::exec
