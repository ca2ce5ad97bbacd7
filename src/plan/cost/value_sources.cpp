#include "plan/cost/value_sources.hpp"

#include <algorithm>
#include <utility>

#include "plan/cost/calibration.hpp"

namespace gpulog::plan {

const std::vector<normalized_rule>& value_sources::rules_of(relation_id relation) {
  const auto [known, is_new] = rules_.try_emplace(relation);
  if (is_new) {
    for (const rule_id id : source_[relation].rules) {
      normalized_rule rule = normalize(source_[id], source_.words);
      if (!rule.unsatisfiable) known->second.push_back(std::move(rule));
    }
  }
  return known->second;
}

/// Follows one of the columns that bind the head's value; each of these columns contains the value. A column that is
/// already followed adds nothing, and a column without rules ends the search.
bool value_sources::follow(const normalized_rule& rule, std::uint32_t head_column, std::set<column_place>& found,
                           std::vector<column_place>& open) const {
  const sema::expression& value = rule.head_arguments[head_column];
  if (value.is_constant()) return true;
  if (!value.is_variable()) return false;
  std::optional<column_place> chosen;
  for (const body_atom& atom : rule.atoms) {
    for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
      const term& argument = atom.arguments[column];
      if (!argument.is_variable() || argument.value != value.variable) continue;
      const column_place place{atom.relation, column};
      if (found.contains(place)) return true;
      if (!chosen || source_[atom.relation].rules.empty()) chosen = place;
    }
  }
  if (!chosen) return false;
  found.insert(*chosen);
  open.push_back(*chosen);
  return true;
}

std::optional<std::set<column_place>> value_sources::find(column_place column) {
  std::set<column_place> found = {column};
  std::vector<column_place> open = {column};
  while (!open.empty()) {
    const column_place next = open.back();
    open.pop_back();
    if (next.relation.value >= source_.relations.size()) return std::nullopt;
    if (source_[next.relation].structure == sema::representation::eqrel) {
      const column_place other{next.relation, 1 - next.column};
      if (found.insert(other).second) open.push_back(other);
    }
    for (const normalized_rule& rule : rules_of(next.relation)) {
      if (!follow(rule, next.column, found, open)) return std::nullopt;
    }
  }
  return found;
}

std::optional<double> value_sources::share_of_values(column_place column, const std::vector<column_place>& given,
                                                     double constants) {
  if (!known_.compare_values) return std::nullopt;
  const auto own = find(column);
  if (!own) return std::nullopt;
  std::set<column_place> others;
  for (const column_place one : given) {
    const auto values = find(one);
    if (!values) return std::nullopt;
    others.insert(values->begin(), values->end());
  }
  const shared_values found = known_.compare_values({own->begin(), own->end()}, {others.begin(), others.end()});
  if (found.values < calibration::least_demanded_values) return std::nullopt;
  // A few values may cover most tuples.
  return std::min(1.0, std::max((found.shared + constants) / found.values, found.share_of_rows));
}

}  // namespace gpulog::plan
