#pragma once

#include <variant>

#include "plan/plan.hpp"

namespace gpulog::exec {

/// Visits what a version reads: visit(relation, index or invalid, whether its tuple set is asked).
/// @param with_others whether the other searches of a match are made (plan::match::others)
template <class Visit>
void for_each_read(const plan::rule_version& version, Visit&& visit, bool with_others = false) {
  for (const plan::operation& operation : version.operations) {
    if (const auto* scan = std::get_if<plan::scan>(&operation)) visit(scan->relation, index_id{}, false);
    if (const auto* match = std::get_if<plan::match>(&operation)) {
      visit(match->relation, match->index, with_others && !match->others.empty());
      if (!with_others) continue;
      for (const plan::other_search& other : match->others) visit(other.relation, other.index, false);
    }
    if (const auto* exists = std::get_if<plan::exists>(&operation)) {
      visit(exists->relation, exists->index, !exists->index.valid() && !exists->keys.empty());
    }
  }
}

/// Visits all versions of a stratum, in the order of the plan.
template <class Visit>
void for_each_version(const plan::stratum& stratum, Visit&& visit) {
  for (const auto& version : stratum.once.versions) visit(version);
  for (const auto& phase : stratum.loop) {
    for (const auto& version : phase.versions) visit(version);
  }
  for (const auto& subsumption : stratum.subsumptions) visit(subsumption.version);
}

}  // namespace gpulog::exec
