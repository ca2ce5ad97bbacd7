#include "plan/passes/bodies/index_selection.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "plan/cost/calibration.hpp"

namespace gpulog::plan {
namespace {

constexpr std::size_t unmatched = std::numeric_limits<std::size_t>::max();

bool is_proper_subset(const signature& inner, const signature& outer) {
  return inner.size() < outer.size() && std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

/// Maximum matching of each signature with a larger signature, by augmenting paths.
class subset_matching {
 public:
  explicit subset_matching(const std::vector<signature>& signatures)
      : signatures_(signatures), smaller_of_(signatures.size(), unmatched), larger_of_(signatures.size(), unmatched) {
    for (std::size_t inner = 0; inner < signatures.size(); ++inner) {
      std::vector<bool> visited(signatures.size());
      augment(inner, visited);
    }
  }

  [[nodiscard]] bool has_smaller(std::size_t number) const { return smaller_of_[number] != unmatched; }
  [[nodiscard]] std::size_t larger_of(std::size_t number) const { return larger_of_[number]; }

 private:
  bool augment(std::size_t inner, std::vector<bool>& visited) {
    for (std::size_t outer = 0; outer < signatures_.size(); ++outer) {
      if (visited[outer] || !is_proper_subset(signatures_[inner], signatures_[outer])) continue;
      visited[outer] = true;
      if (smaller_of_[outer] == unmatched || augment(smaller_of_[outer], visited)) {
        smaller_of_[outer] = inner;
        larger_of_[inner] = outer;
        return true;
      }
    }
    return false;
  }

  const std::vector<signature>& signatures_;
  std::vector<std::size_t> smaller_of_;
  std::vector<std::size_t> larger_of_;
};

/// A match, one of its alternative searches, or an exists that needs an index.
struct search {
  relation_id relation;
  const operator_builder* where = nullptr;
  const signature* key_columns = nullptr;
  std::vector<operand>* keys = nullptr;
  index_id* index = nullptr;
  std::vector<std::uint32_t> columns = {};  ///< columns that the version reads from the rows
};

std::vector<search> searches_of(version_builder& version, const index_scope& scope) {
  std::vector<search> result;
  for (operator_builder& candidate : version.operations) {
    if (auto* found = std::get_if<match>(&candidate.op)) {
      search& added = result.emplace_back();
      added = {found->relation, &candidate, &candidate.key_columns, &found->keys, &found->index};
      for (const column_binding& binding : found->bindings) added.columns.push_back(binding.column);
      for (std::size_t number = 0; number < found->others.size(); ++number) {
        other_search& other = found->others[number];
        result.push_back({other.relation,
                          &candidate,
                          &candidate.other_key_columns[number],
                          &other.keys,
                          &other.index,
                          {other.column}});
      }
    } else if (auto* test = std::get_if<exists>(&candidate.op)) {
      const bool by_set = test->rows == row_part::all && test->keys.size() == scope.arities[test->relation.value] &&
                          !scope.without_set.contains(test->relation);
      if (!test->keys.empty() && !by_set) {
        result.push_back({test->relation, &candidate, &candidate.key_columns, &test->keys, &test->index});
      }
    }
  }
  return result;
}

bool begins_with_one_off_search(const version_builder& version) {
  return version.once && !version.operations.empty() && std::holds_alternative<match>(version.operations.front().op);
}

/// Returns whether the index supports a search of these columns and contains the columns to read.
bool serves(const index& candidate, const searched_columns& wanted, const std::set<std::uint32_t>& read) {
  const signature& columns = wanted.columns;
  if (candidate.relation != wanted.relation) return false;
  const auto length = static_cast<std::uint32_t>(columns.size());
  if (std::find(candidate.key_lengths.begin(), candidate.key_lengths.end(), length) == candidate.key_lengths.end())
    return false;
  const auto key_end = candidate.order.begin() + static_cast<std::ptrdiff_t>(length);
  const bool has_key = std::all_of(columns.begin(), columns.end(), [&](std::uint32_t column) {
    return std::find(candidate.order.begin(), key_end, column) != key_end;
  });
  const auto longest_key = candidate.order.begin() + static_cast<std::ptrdiff_t>(candidate.key_lengths.back());
  return has_key && std::all_of(read.begin(), read.end(), [&](std::uint32_t column) {
           return std::find(candidate.order.begin(), longest_key, column) != longest_key ||
                  std::find(candidate.payload.begin(), candidate.payload.end(), column) != candidate.payload.end();
         });
}

/// Returns an existing index that supports a search.
std::optional<index_id> index_that_serves(const std::vector<index>& indexes, const index_scope& scope,
                                          const searched_columns& wanted, const std::set<std::uint32_t>& read) {
  for (std::uint32_t number = 0; number < scope.usable.size(); ++number) {
    if (scope.usable[number] && serves(indexes[number], wanted, read)) return index_id(number);
  }
  return std::nullopt;
}

/// Replaces one-off searches with scans: an index for a single search costs more than the scan that it saves.
void replace_one_off_searches(const std::vector<version_builder*>& builders, const std::vector<index>& indexes,
                              const index_scope& scope) {
  std::set<searched_columns> wanted;
  std::map<searched_columns, std::size_t> one_off;
  for (version_builder* version : builders) {
    const bool begins = begins_with_one_off_search(*version);
    for (const search& found : searches_of(*version, scope)) {
      const searched_columns key{found.relation, *found.key_columns};
      const bool is_one_off = begins && found.where == &version->operations.front();
      if (is_one_off && !index_that_serves(indexes, scope, key, {found.columns.begin(), found.columns.end()})) {
        ++one_off[key];
      } else {
        wanted.insert(key);
      }
    }
  }
  for (version_builder* version : builders) {
    if (!begins_with_one_off_search(*version)) continue;
    const operator_builder& first = version->operations.front();
    const searched_columns key{std::get<match>(first.op).relation, first.key_columns};
    if (!wanted.contains(key) && one_off[key] < calibration::one_off_searches_for_an_index &&
        !scope.found_without_index.contains(key.relation)) {
      scan_instead_of_search(*version);
    } else {
      test_instead_of_search(*version);
    }
  }
}

/// Returns the order for a chain: the smallest signature, then the additional columns of each larger signature, then
/// the rest.
std::vector<std::uint32_t> order_of(const std::vector<signature>& chain, std::uint32_t arity) {
  std::vector<std::uint32_t> order;
  const auto append = [&order](std::uint32_t column) {
    if (std::find(order.begin(), order.end(), column) == order.end()) order.push_back(column);
  };
  for (const signature& searched : chain) std::for_each(searched.begin(), searched.end(), append);
  for (std::uint32_t column = 0; column < arity; ++column) append(column);
  return order;
}

}  // namespace

void append_searches(version_builder& version, const index_scope& scope, std::set<searched_columns>& searches) {
  for (const search& found : searches_of(version, scope)) searches.insert({found.relation, *found.key_columns});
}

std::vector<std::vector<signature>> cover_by_chains(std::vector<signature> signatures) {
  // Sorted by size, then by columns, so that the result does not depend on the order of rules.
  std::sort(signatures.begin(), signatures.end(), [](const signature& left, const signature& right) {
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  });
  const subset_matching matching(signatures);
  std::vector<std::vector<signature>> chains;
  for (std::size_t start = 0; start < signatures.size(); ++start) {
    if (matching.has_smaller(start)) continue;
    std::vector<signature>& chain = chains.emplace_back();
    for (std::size_t number = start; number != unmatched; number = matching.larger_of(number)) {
      chain.push_back(signatures[number]);
    }
  }
  return chains;
}

std::vector<index> select_indexes(const std::vector<version_builder*>& builders,
                                  const std::vector<std::uint32_t>& arities,
                                  const std::set<relation_id>& found_without_index) {
  std::vector<index> indexes;
  add_indexes(builders, {arities, found_without_index}, indexes);
  return indexes;
}

void add_indexes(const std::vector<version_builder*>& builders, const index_scope& scope, std::vector<index>& indexes) {
  replace_one_off_searches(builders, indexes, scope);

  std::vector<search> searches;
  std::map<searched_columns, std::set<std::uint32_t>> read;
  for (version_builder* version : builders) {
    for (search& found : searches_of(*version, scope)) {
      read[{found.relation, *found.key_columns}].insert(found.columns.begin(), found.columns.end());
      searches.push_back(std::move(found));
    }
  }

  const std::size_t first_added = indexes.size();
  std::map<searched_columns, index_id> serving;
  std::map<relation_id, std::vector<signature>> signatures;
  for (const auto& [wanted, columns] : read) {
    if (const std::optional<index_id> there = index_that_serves(indexes, scope, wanted, columns)) {
      serving.emplace(wanted, *there);
    } else {
      signatures[wanted.relation].push_back(wanted.columns);
    }
  }
  for (const auto& [relation, wanted] : signatures) {
    for (const std::vector<signature>& chain : cover_by_chains(wanted)) {
      const index_id id(static_cast<std::uint32_t>(indexes.size()));
      index& added = indexes.emplace_back();
      added.relation = relation;
      added.order = order_of(chain, scope.arities[relation.value]);
      for (const signature& served : chain) {
        added.key_lengths.push_back(static_cast<std::uint32_t>(served.size()));
        serving.emplace(searched_columns{relation, served}, id);
      }
    }
  }

  for (const search& found : searches) {
    const index_id id = serving.at({found.relation, *found.key_columns});
    index& used = indexes[id.value];
    *found.index = id;
    const signature& columns = *found.key_columns;
    std::vector<operand> keys;
    for (std::size_t number = 0; number < columns.size(); ++number) {
      const auto place = std::find(columns.begin(), columns.end(), used.order[number]);
      keys.push_back((*found.keys)[static_cast<std::size_t>(place - columns.begin())]);
    }
    *found.keys = std::move(keys);
    if (id.value < first_added) continue;
    const auto key_end = used.order.begin() + static_cast<std::ptrdiff_t>(used.key_lengths.back());
    for (const std::uint32_t column : found.columns) {
      if (std::find(used.order.begin(), key_end, column) == key_end) used.payload.push_back(column);
    }
  }
  for (std::size_t number = first_added; number < indexes.size(); ++number) {
    std::vector<std::uint32_t>& payload = indexes[number].payload;
    std::sort(payload.begin(), payload.end());
    payload.erase(std::unique(payload.begin(), payload.end()), payload.end());
  }
}

}  // namespace gpulog::plan
