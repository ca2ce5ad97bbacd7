#pragma once

namespace gpulog::plan {

class planning;

/// Relations that no output, no size and no fact file depends on (sema/checks/needed_relations.hpp) are in no stratum
/// and have no facts. Says in planning::needed which ones are left.
void leave_out_unneeded_relations(planning& shared);

}  // namespace gpulog::plan
