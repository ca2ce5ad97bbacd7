#include "plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

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
  spread_distinct_values(source);
  bound_copies(source);
}

/// A relation whose rules read one atom each, of relations before it, has at most as many rows as these together.
void cost_model::bound_copies(const sema::program& source) {
  for (const sema::stratum& stratum : source.strata) {
    if (stratum.recursive || stratum.relations.size() != 1 || stratum.rules.empty()) continue;
    entry& derived = relations_[stratum.relations.front().value];
    double most = 0;
    bool is_bounded = true;
    for (const rule_id id : stratum.rules) {
      std::size_t atoms = 0;
      double rows = 1;
      for (const sema::literal& literal : source[id].body) {
        is_bounded = is_bounded && !std::holds_alternative<sema::generator>(literal);
        const auto* atom = std::get_if<sema::atom>(&literal);
        if (atom == nullptr || atom->negated) continue;
        ++atoms;
        rows = relations_[atom->relation.value].rows;
      }
      is_bounded = is_bounded && atoms <= 1;
      most += rows;
    }
    if (is_bounded) derived.rows = std::min(derived.rows, most);
  }
}

/// A derived column holds no more values than each column that its variable stands in. Of several rules the largest
/// number is taken; what recursion passes on adds no values. Nothing is known of values that are computed, and
/// constants are few.
void cost_model::spread_distinct_values(const sema::program& source) {
  constexpr int rounds = 8;
  bool changed = true;
  for (int round = 0; round < rounds && changed; ++round) {
    changed = false;
    for (const sema::rule& rule : source.rules) {
      entry& head = relations_[rule.head.relation.value];
      for (std::uint32_t column = 0; column < rule.head.arguments.size(); ++column) {
        const sema::expression& argument = rule.head.arguments[column];
        std::uint64_t most = 0;  // unknown
        for (const sema::literal& literal : rule.body) {
          const auto* atom = std::get_if<sema::atom>(&literal);
          if (!argument.is_variable() || atom == nullptr || atom->negated) continue;
          const std::vector<std::uint64_t>& known = relations_[atom->relation.value].distinct_values;
          for (std::uint32_t other = 0; other < atom->arguments.size() && other < known.size(); ++other) {
            const sema::expression& joined = atom->arguments[other];
            if (!joined.is_variable() || joined.variable != argument.variable || known[other] == 0) continue;
            most = most == 0 ? known[other] : std::min(most, known[other]);
          }
        }
        head.distinct_values.resize(head.arity);
        if (most <= head.distinct_values[column]) continue;
        head.distinct_values[column] = most;
        changed = true;
      }
    }
  }
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    entry& derived = relations_[number];
    if (source.relations[number].rules.empty()) continue;
    double combinations = 1;
    for (const std::uint64_t values : derived.distinct_values) combinations *= static_cast<double>(values);
    if (combinations >= 1) derived.rows = std::min(derived.rows, combinations);  // 0: some column is unknown
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
  // Columns depend on each other (a method's name and its signature): each further one counts by a smaller power.
  std::vector<double> counts;
  for (const std::uint32_t column : bound_columns) counts.push_back(static_cast<double>(known.distinct_values[column]));
  std::sort(counts.rbegin(), counts.rend());
  double combinations = 1;
  double power = 1;
  for (const double count : counts) {
    combinations *= std::pow(count, power);
    power /= 2;
  }
  return total / std::min(combinations, rows(relation, part::all));
}

void cost_model::add_relation(std::uint32_t arity, double rows) { relations_.push_back({rows, arity, {}}); }

}  // namespace gpulog::plan
