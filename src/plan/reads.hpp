#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Visits the relations that a version reads: visit(relation, index or invalid, whether the tuple set is searched). A
/// retired version reads no relation.
/// @param with_others whether alternative searches of a match are visited (match::others)
template <class Visit>
void for_each_read(const rule_version& version, Visit&& visit, bool with_others = false) {
  if (version.is_retired) return;
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

/// Returns the relations that a version reads positively outside aggregates. If any of the relations is empty, the
/// version finds no tuples.
[[nodiscard]] inline std::vector<relation_id> needed_relations(const rule_version& version) {
  std::vector<relation_id> needed;
  std::size_t folds = 0;
  const auto need = [&](relation_id relation) {
    if (folds == 0 && std::find(needed.begin(), needed.end(), relation) == needed.end()) needed.push_back(relation);
  };
  for (const operation& one : version.operations) {
    if (std::holds_alternative<fold_begin>(one)) ++folds;
    if (std::holds_alternative<fold_end>(one)) --folds;
    if (const auto* const all = std::get_if<scan>(&one)) need(all->relation);
    if (const auto* const search = std::get_if<match>(&one)) need(search->relation);
    if (const auto* const test = std::get_if<exists>(&one); test != nullptr && !test->negated) need(test->relation);
  }
  return needed;
}

/// A read of columns, indexes or tuple sets; excludes requests for the number of rows and tests for emptiness.
struct column_read {
  relation_id relation;
  enum class kind : std::uint8_t {
    first_scan,  ///< all rows, by the first operator
    tuple,       ///< a membership test
    key,         ///< rows with values in key columns
    key_test,    ///< a test for such rows
    other
  } how = kind::other;
  std::vector<std::uint32_t> key;  ///< columns, for `key` and `key_test`
};

/// Calls visit for all column reads of a version.
template <class Visit>
void for_each_column_read(const program& planned, const rule_version& version, Visit&& visit) {
  using kind = column_read::kind;
  if (version.is_retired) return;
  const auto key_of = [&planned](index_id index, std::size_t length) {
    const std::vector<std::uint32_t>& order = planned.indexes[index.value].order;
    return std::vector<std::uint32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(length));
  };
  for (std::size_t number = 0; number < version.operations.size(); ++number) {
    const operation& one = version.operations[number];
    if (const auto* all = std::get_if<scan>(&one); all != nullptr && !all->bindings.empty()) {
      const bool starts_match = !version.first_matches.empty() && version.first_matches.front().begin == 0;
      visit(column_read{all->relation, number == 0 && !starts_match ? kind::first_scan : kind::other, {}});
    }
    if (const auto* search = std::get_if<match>(&one))
      visit(column_read{search->relation, kind::key, key_of(search->index, search->keys.size())});
    if (const auto* test = std::get_if<exists>(&one); test != nullptr && !test->keys.empty()) {
      if (test->index.valid()) {
        visit(column_read{test->relation, kind::key_test, key_of(test->index, test->keys.size())});
      } else {
        visit(column_read{test->relation, kind::tuple, {}});
      }
    }
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
