#pragma once

#include <variant>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Visits what a version reads: visit(relation, index or invalid, whether its tuple set is asked).
/// @param with_others whether the other searches of a match are made (match::others)
template <class Visit>
void for_each_read(const rule_version& version, Visit&& visit, bool with_others = false) {
  for (const operation& one : version.operations) {
    if (const auto* all = std::get_if<scan>(&one)) visit(all->relation, index_id{}, false);
    if (const auto* search = std::get_if<match>(&one)) {
      visit(search->relation, search->index, with_others && !search->others.empty());
      if (!with_others) continue;
      for (const other_search& other : search->others) visit(other.relation, other.index, false);
    }
    if (const auto* test = std::get_if<exists>(&one)) {
      visit(test->relation, test->index, !test->index.valid() && !test->keys.empty());
    }
  }
}

/// Visits the relations whose columns, indexes or tuple sets a version reads: not those of which it only asks how many
/// rows there are, or whether there is one.
template <class Visit>
void for_each_column_read(const rule_version& version, Visit&& visit) {
  for (const operation& one : version.operations) {
    if (const auto* all = std::get_if<scan>(&one); all != nullptr && !all->bindings.empty()) visit(all->relation);
    if (const auto* search = std::get_if<match>(&one)) {
      visit(search->relation);
      for (const other_search& other : search->others) visit(other.relation);
    }
    if (const auto* test = std::get_if<exists>(&one); test != nullptr && !test->keys.empty()) visit(test->relation);
  }
}

/// Visits all versions of a stratum, in the order of the plan.
template <class Visit>
void for_each_version(const stratum& stratum, Visit&& visit) {
  for (const auto& version : stratum.once.versions) visit(version);
  for (const auto& phase : stratum.loop) {
    for (const auto& version : phase.versions) visit(version);
  }
  for (const auto& subsumption : stratum.subsumptions) visit(subsumption.version);
}

}  // namespace gpulog::plan
