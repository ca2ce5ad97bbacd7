#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/plan.hpp"
#include "plan/versions/version_builder.hpp"

/// Selects the fewest sorted orders that serve every search.
namespace gpulog::plan {

/// The columns of a search, ascending.
using signature = std::vector<std::uint32_t>;

/// Partitions the signatures into the fewest chains, each ascending by inclusion. One order serves a chain because each
/// signature of the chain is a prefix of the order. Uses Dilworth's theorem and a maximum matching of "is a proper
/// subset of" (Subotic, Jordan, Chang, Fekete, Scholz: Automatic Index Selection for Large-Scale Datalog Computation,
/// VLDB 2018). The signatures must be distinct.
[[nodiscard]] std::vector<std::vector<signature>> cover_by_chains(std::vector<signature> signatures);

/// A relation and the columns that a search binds.
struct searched_columns {
  relation_id relation;
  signature columns;
  friend auto operator<=>(const searched_columns&, const searched_columns&) = default;
};
/// Input of the selection.
struct index_scope {
  const std::vector<std::uint32_t>& arities;         ///< by relation
  const std::set<relation_id>& found_without_index;  ///< relations that need no index
  std::vector<bool> usable = {};                     ///< by index: whether more searches may use the index
  std::set<relation_id> without_set = {};            ///< relations whose tuples are searched in an index of all columns
};
/// Adds the searches of a version that need an index.
void append_searches(version_builder& version, const index_scope& scope, std::set<searched_columns>& searches);

/// Chooses the indexes of all relations, sets the index of each search in the versions, and sorts the keys of each
/// search in the order of its index. One-off searches for constants that would need a separate index become scans,
/// except searches of `found_without_index`.
/// @param found_without_index relations that need no index
[[nodiscard]] std::vector<index> select_indexes(const std::vector<version_builder*>& builders,
                                                const std::vector<std::uint32_t>& arities,
                                                const std::set<relation_id>& found_without_index = {});

/// Does the same for some versions of a plan. If no index of the scope supports a search, appends an index.
void add_indexes(const std::vector<version_builder*>& builders, const index_scope& scope, std::vector<index>& indexes);

}  // namespace gpulog::plan
