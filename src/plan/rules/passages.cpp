#include "plan/rules/passages.hpp"

#include <algorithm>
#include <optional>

namespace gpulog::plan {
namespace {

constexpr std::uint32_t unknown = UINT32_MAX;

/// Follows a column of the first relation to one column of each relation.
/// @param taken by relation and column
std::optional<std::vector<std::uint32_t>> follow(std::uint32_t first, std::size_t relations,
                                                 const std::vector<passage>& passages,
                                                 const std::vector<std::vector<bool>>& taken) {
  std::vector<std::uint32_t> column(relations, unknown);
  if (taken[0][first]) return std::nullopt;
  column[0] = first;
  for (bool changed = true; changed;) {
    changed = false;
    for (const passage& one : passages) {
      if (column[one.from] == unknown || column[one.to] != unknown) continue;
      const auto passed = std::find_if(one.columns.begin(), one.columns.end(), [&](const auto& pair) {
        return pair.first == column[one.from] && !taken[one.to][pair.second];
      });
      if (passed == one.columns.end()) return std::nullopt;
      column[one.to] = passed->second;
      changed = true;
    }
  }
  const bool reaches_all = std::find(column.begin(), column.end(), unknown) == column.end();
  const bool passed_by_all = std::all_of(passages.begin(), passages.end(), [&](const passage& one) {
    return std::find(one.columns.begin(), one.columns.end(), std::pair(column[one.from], column[one.to])) !=
           one.columns.end();
  });
  if (!reaches_all || !passed_by_all) return std::nullopt;
  return column;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> find_invariant_columns(const std::vector<std::uint32_t>& arities,
                                                               const std::vector<passage>& passages) {
  std::vector<std::vector<std::uint32_t>> invariants(arities.size());
  std::vector<std::vector<bool>> taken;
  for (const std::uint32_t arity : arities) taken.emplace_back(arity, false);
  for (std::uint32_t column = 0; column < arities.front(); ++column) {
    const auto found = follow(column, arities.size(), passages, taken);
    if (!found) continue;
    for (std::size_t relation = 0; relation < arities.size(); ++relation) {
      invariants[relation].push_back((*found)[relation]);
      taken[relation][(*found)[relation]] = true;
    }
  }
  const bool leaves_columns =
      std::equal(invariants.begin(), invariants.end(), arities.begin(),
                 [](const auto& columns, std::uint32_t arity) { return columns.size() < arity; });
  if (invariants.front().empty() || !leaves_columns) return {};
  return invariants;
}

}  // namespace gpulog::plan
