#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// Relations and rules that a restriction creates for this and other strata (plan/passes/demand/magic_sets.hpp).
struct restriction {
  relation_id relation;                 ///< the original relation
  relation_id restricted;               ///< replaces `relation` in the stratum
  std::vector<relation_id> values;      ///< by column of the demand: unary relation of the demanded values
  std::vector<normalized_rule> before;  ///< rules of relations that are complete before the stratum begins, in order
  std::vector<normalized_rule> full;    ///< rules of the full relation, evaluated after the stratum
};

/// The rules of a stratum during the passes.
struct stratum_rules {
  std::vector<normalized_rule> plain;
  std::vector<normalized_rule> other;     ///< rules with aggregates or ranges
  std::vector<normalized_rule> patterns;  ///< rules of supplementary relations; each reads members
  std::vector<relation_id> members;
  bool recursive = false;
  /// Whether steps of the rules may become relations: no tuple is removed or counted during the recursion.
  bool may_factor = false;
  std::vector<restriction> restrictions = {};
  /// Heads of patterns that a run may abandon; rules that read them have an original.
  std::vector<relation_id> reduced = {};
};

/// Returns whether results depend on the order or number of derivations: counters, functors of libraries,
/// choice-domains, size limits.
/// @param relations relations of the plan
[[nodiscard]] bool notices_order(const stratum_rules& stratum, const std::vector<relation>& relations);

}  // namespace gpulog::plan
