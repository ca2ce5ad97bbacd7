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

/// Values that several atoms restrict: where a search finds the values of one variable and existence tests of other
/// relations follow that ask for the same variable, with everything else bound before, any of these relations can be
/// searched instead and the others be tested. The search gets the others (match::others), so that the executor may read
/// for each binding the relation with the fewest rows. Over a cycle of atoms the work is then that of a worst-case
/// optimal join: a triangle's edge costs the smaller degree of its two ends, never the larger one.
///
/// Only where the bindings expected are as many as the rows of the relations, as each other search needs an index of
/// its own. Relations that grow in the version's own recursive stratum are searched only by an index that other
/// searches of the loop keep up to date anyway: how many rows a binding has there changes with every iteration, which
/// no order chosen before can follow.
struct intersection_scope {
  const std::set<relation_id>& growing;    ///< relations of the version's own recursive stratum
  const std::set<searched_columns>& kept;  ///< searches of them that the loop makes anyway
  const std::set<relation_id>& excluded;   ///< relations that have no indexes, or no tuple set
};

void find_intersections(version_builder& version, const cost_model& costs, const std::vector<std::uint32_t>& arities,
                        const intersection_scope& scope);

/// The same in all versions of a stratum. @param without_set relations whose tuple sets cannot be asked
void find_intersections(planning& shared, stratum_builder& stratum, const std::set<relation_id>& without_set);

/// The same in those of all strata.
void search_smallest_relations(planning& shared);

}  // namespace gpulog::plan
