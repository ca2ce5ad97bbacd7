#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/plan.hpp"
#include "plan/versions/version_builder.hpp"

/// Which sorted orders are kept: as few as serve every search.
namespace gpulog::plan {

/// Columns of a search, ascending.
using signature = std::vector<std::uint32_t>;

/// Partition of the signatures into as few chains as possible, each chain ascending by inclusion: one order serves a
/// chain, as each signature is a prefix of it. By Dilworth's theorem from a maximum matching of "is a proper subset of"
/// (Subotic, Jordan, Chang, Fekete, Scholz: Automatic Index Selection for Large-Scale Datalog Computation, VLDB 2018).
/// The signatures have to be different from each other.
[[nodiscard]] std::vector<std::vector<signature>> cover_by_chains(std::vector<signature> signatures);

/// What a search looks for: columns of a relation.
struct searched_columns {
  relation_id relation;
  signature columns;
  friend auto operator<=>(const searched_columns&, const searched_columns&) = default;
};
/// What is known when indexes are chosen.
struct index_scope {
  const std::vector<std::uint32_t>& arities;         ///< by relation
  const std::set<relation_id>& found_without_index;  ///< relations that need none
  std::vector<bool> usable = {};                     ///< by index: it may serve further searches
  std::set<relation_id> without_set = {};            ///< their tuples are looked for in an index of all columns
};
/// Adds those that a version needs an index for.
void append_searches(version_builder& version, const index_scope& scope, std::set<searched_columns>& searches);

/// Chooses the indexes of all relations; sets the index of each search in the versions and puts its keys into the
/// index's order. One-off searches for constants that would need an index of their own become scans, but not those of
/// `found_without_index`, the relations that need none.
[[nodiscard]] std::vector<index> select_indexes(const std::vector<version_builder*>& builders,
                                                const std::vector<std::uint32_t>& arities,
                                                const std::set<relation_id>& found_without_index = {});

/// The same for some of a plan's versions: where no index of the scope serves a search, others are added behind them.
void add_indexes(const std::vector<version_builder*>& builders, const index_scope& scope, std::vector<index>& indexes);

}  // namespace gpulog::plan
