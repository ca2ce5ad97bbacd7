#pragma once

namespace gpulog::plan {

class planning;

/// Removes relations that no output, no size and no fact file depends on (sema/checks/needed_relations.hpp) from the
/// strata, and drops their facts. Sets planning::needed.
void leave_out_unneeded_relations(planning& shared);

}  // namespace gpulog::plan
