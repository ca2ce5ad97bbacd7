#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// What a restriction leaves to other strata (plan/passes/demand/magic_sets.hpp).
struct restriction {
  relation_id relation;                 ///< as written
  relation_id restricted;               ///< in its place in the stratum
  std::vector<relation_id> values;      ///< by column of the demand: unary, what is asked for
  std::vector<normalized_rule> before;  ///< of relations that are complete before the stratum begins, in order
  std::vector<normalized_rule> full;    ///< of the relation, behind the stratum
  std::vector<std::vector<restricted_read>> reads;  ///< as watched_restriction::rules
};

/// The rules of a stratum on their way through the passes.
struct stratum_rules {
  std::vector<normalized_rule> plain;
  std::vector<normalized_rule> other;     ///< with aggregates or ranges
  std::vector<normalized_rule> patterns;  ///< of supplementary relations, each reads one member
  std::vector<relation_id> members;
  bool recursive = false;
  /// Steps of its rules may become relations: no tuple leaves it or is counted while it grows.
  bool may_factor = false;
  std::vector<restriction> restrictions = {};
  /// With restrictions: the stratum without them, one.
  std::vector<stratum_rules> unrestricted = {};
};

/// Whether results tell in which order, or how often, tuples are found: counters, functors of libraries,
/// choice-domains, size limits. @param relations of the plan
[[nodiscard]] bool notices_order(const stratum_rules& stratum, const std::vector<relation>& relations);

}  // namespace gpulog::plan
