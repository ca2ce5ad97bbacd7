#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/passes/bodies/index_selection.hpp"
#include "plan/versions/version_builder.hpp"

namespace gpulog::plan {

class planning;
struct stratum_builder;

/// Finds variables that several atoms restrict. If a search binds one variable, and existence tests for the same
/// variable follow with all remaining values bound earlier, any relation of the group can be searched and the rest
/// tested. The search receives the alternatives (match::others), and the executor searches for each binding the
/// relation with the fewest rows. For a cycle of atoms, the work then equals that of a worst-case optimal join: an edge
/// of a triangle costs the smaller of two degrees, never the larger.
///
/// Alternatives are added only if the expected bindings are at least the rows of the relations, because each
/// alternative search needs a separate index. A relation that grows in the version's own recursive stratum is searched
/// only through an index that the loop maintains anyway: the number of rows per binding changes in each iteration, so
/// no fixed order is right for all iterations.
struct intersection_scope {
  const std::set<relation_id>& growing;    ///< relations of the version's own recursive stratum
  const std::set<searched_columns>& kept;  ///< searches of growing relations that the loop contains anyway
  const std::set<relation_id>& excluded;   ///< relations without indexes or without a tuple set
};

void find_intersections(version_builder& version, const cost_model& costs, const std::vector<std::uint32_t>& arities,
                        const intersection_scope& scope);

/// Applies the pass to all versions of a stratum.
/// @param without_set relations without a tuple set to test
void find_intersections(planning& shared, stratum_builder& stratum, const std::set<relation_id>& without_set);

/// Applies the pass to all strata.
void search_smallest_relations(planning& shared);

}  // namespace gpulog::plan
