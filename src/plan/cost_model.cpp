#include "plan/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace gpulog::plan {
namespace {

/// Of a loaded relation whose size is not known.
constexpr double default_loaded_rows = 1e5;
/// A derived relation against the largest loaded one.
constexpr double derived_growth = 10;
/// Part of a recursive relation that is new in an iteration.
constexpr double delta_share = 0.1;

}  // namespace

cost_model::cost_model(const sema::program& source, const statistics& known) {
  std::vector<double> facts(source.relations.size());
  for (const sema::fact& fact : source.facts) facts[fact.relation.value] += 1;
  double largest_loaded = 1;
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    const sema::relation& relation = source.relations[number];
    entry added;
    added.arity = relation.arity();
    if (number < known.relations.size()) {
      added.distinct_values = known.relations[number].distinct_values;
      if (known.relations[number].rows) added.rows = static_cast<double>(*known.relations[number].rows);
    }
    const bool is_known = number < known.relations.size() && known.relations[number].rows.has_value();
    if (!is_known) {
      const bool loaded = relation.has_directive(sema::directive_kind::input);
      added.rows = std::max(loaded ? default_loaded_rows : 1.0, facts[number]);
    }
    if (relation.rules.empty()) largest_loaded = std::max(largest_loaded, added.rows);
    relations_.push_back(std::move(added));
  }
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    const bool is_known = number < known.relations.size() && known.relations[number].rows.has_value();
    if (source.relations[number].rules.empty() || is_known) continue;
    relations_[number].rows = std::max(relations_[number].rows, largest_loaded * derived_growth);
  }
}

double cost_model::rows(relation_id relation, part rows) const {
  const entry& known = relations_[relation.value];
  return std::max(1.0, rows == part::delta ? known.rows * delta_share : known.rows);
}

double cost_model::fan_out(relation_id relation, part part_read,
                           const std::vector<std::uint32_t>& bound_columns) const {
  const entry& known = relations_[relation.value];
  const double total = rows(relation, part_read);
  if (bound_columns.empty() || known.arity == 0) return total;
  const bool distinct_known = std::all_of(bound_columns.begin(), bound_columns.end(), [&known](std::uint32_t column) {
    return column < known.distinct_values.size() && known.distinct_values[column] > 0;
  });
  if (!distinct_known) {
    return std::pow(total, 1 - static_cast<double>(bound_columns.size()) / static_cast<double>(known.arity));
  }
  double combinations = 1;
  for (const std::uint32_t column : bound_columns) combinations *= static_cast<double>(known.distinct_values[column]);
  return total / std::min(combinations, rows(relation, part::all));
}

void cost_model::add_relation(std::uint32_t arity, double rows) { relations_.push_back({rows, arity, {}}); }

}  // namespace gpulog::plan
