#include "plan/cost/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "plan/cost/calibration.hpp"

namespace gpulog::plan {
namespace {

/// Returns whether the recursion computes values, so that the relations it reads say little about the number of rows.
bool makes_values(const sema::program& source, const sema::stratum& stratum) {
  return stratum.recursive && std::any_of(stratum.rules.begin(), stratum.rules.end(), [&](rule_id id) {
           const sema::rule& rule = source[id];
           return std::any_of(rule.head.arguments.begin(), rule.head.arguments.end(),
                              [](const auto& argument) { return argument.is_operation() || argument.is_record(); });
         });
}

bool is_positive_atom(const sema::literal& literal) {
  const auto* atom = std::get_if<sema::atom>(&literal);
  return atom != nullptr && !atom->negated;
}

}  // namespace

cost_model::cost_model(const sema::program& source, const statistics& known) {
  std::vector<double> facts(source.relations.size());
  for (const sema::fact& fact : source.facts) facts[fact.relation.value] += 1;
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    const sema::relation& relation = source.relations[number];
    entry added;
    added.arity = relation.arity();
    if (number < known.relations.size()) {
      added.distinct_values = known.relations[number].distinct_values;
      added.is_known = known.relations[number].rows.has_value();
    }
    if (added.is_known) {
      added.rows = static_cast<double>(*known.relations[number].rows);
    } else {
      const bool loaded = relation.has_directive(sema::directive_kind::input);
      added.rows = std::max(loaded ? calibration::default_loaded_rows : 1.0, facts[number]);
    }
    added.loaded_rows = added.rows;
    added.loaded_values = added.distinct_values;
    relations_.push_back(std::move(added));
  }
  spread_statistics(source);
}

void cost_model::spread_statistics(const sema::program& source) {
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    if (source.relations[number].rules.empty()) largest_loaded_ = std::max(largest_loaded_, relations_[number].rows);
  }
  stratum_of_.resize(source.relations.size());
  for (std::size_t number = 0; number < source.strata.size(); ++number) {
    const sema::stratum& stratum = source.strata[number];
    if (stratum.rules.empty()) continue;
    for (const relation_id member : stratum.relations) stratum_of_[member.value] = number;
    spread_statistics(source, stratum);
  }
}

/// Estimates the derived relations of a stratum as a multiple of the largest relation that the stratum reads, bounded
/// by that multiple of the largest loaded relation.
void cost_model::spread_statistics(const sema::program& source, const sema::stratum& stratum) {
  double largest_read = 1;
  for (const relation_id member : stratum.relations) {
    largest_read = std::max(largest_read, relations_[member.value].rows);
  }
  for (const rule_id id : stratum.rules) {
    for (const sema::literal& literal : source[id].body) {
      const auto* atom = std::get_if<sema::atom>(&literal);
      if (atom != nullptr && !atom->negated) largest_read = std::max(largest_read, rows(atom->relation, row_part::all));
    }
  }
  const double grown_from = makes_values(source, stratum) ? largest_loaded_ : std::min(largest_read, largest_loaded_);
  const double most_rows = calibration::derived_growth * grown_from;
  const double derived_rows = std::min(rows_of_rules(source, stratum).value_or(most_rows), most_rows);
  spread_distinct_values(source, stratum);
  for (const relation_id member : stratum.relations) {
    entry& derived = relations_[member.value];
    if (!derived.is_known) derived.rows = std::max(derived.rows, derived_rows);
    bound_combinations(member);
  }
}

/// Estimates the rows of a rule in a stratum without recursion: the average result size of its joins, without
/// conditions.
std::optional<double> cost_model::rows_of_rule(const sema::rule& rule) const {
  std::vector<const sema::atom*> atoms;
  for (const sema::literal& literal : rule.body) {
    if (std::holds_alternative<sema::generator>(literal)) return std::nullopt;
    const auto* atom = std::get_if<sema::atom>(&literal);
    if (atom != nullptr && !atom->negated) atoms.push_back(atom);
  }
  std::vector<bool> bound(rule.variables.size());
  const auto bindings_each = [&](const sema::atom& atom) {
    std::vector<std::uint32_t> columns;
    for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
      const sema::expression& argument = atom.arguments[column];
      if (argument.is_constant() || (argument.is_variable() && bound[argument.variable])) columns.push_back(column);
    }
    return average_fan_out(atom.relation, row_part::all, columns).average;
  };
  double rows = 1;
  while (!atoms.empty()) {
    std::size_t next = 0;
    double fewest = std::numeric_limits<double>::infinity();
    for (std::size_t number = 0; number < atoms.size(); ++number) {
      const double bindings = bindings_each(*atoms[number]);
      if (bindings >= fewest) continue;
      next = number;
      fewest = bindings;
    }
    rows *= fewest;
    for (const sema::expression& argument : atoms[next]->arguments) {
      if (argument.is_variable()) bound[argument.variable] = true;
    }
    atoms.erase(atoms.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return rows;
}

/// Estimates the rows of the only relation of a stratum without recursion.
std::optional<double> cost_model::rows_of_rules(const sema::program& source, const sema::stratum& stratum) const {
  if (stratum.recursive || stratum.relations.size() != 1) return std::nullopt;
  double together = 0;
  for (const rule_id id : stratum.rules) {
    const std::optional<double> rows = rows_of_rule(source[id]);
    if (!rows) return std::nullopt;
    together += *rows;
  }
  return together;
}

/// Bounds the rows by the number of combinations of the columns' values.
void cost_model::bound_combinations(relation_id relation) {
  entry& derived = relations_[relation.value];
  double combinations = 1;
  for (const std::uint64_t values : derived.distinct_values) combinations *= static_cast<double>(values);
  if (combinations >= 1) derived.rows = std::min(derived.rows, combinations);  // 0: the count of some column is unknown
}

std::uint64_t cost_model::distinct_values_of(const sema::rule& rule, std::uint32_t head_column) const {
  const sema::expression& argument = rule.head.arguments[head_column];
  std::uint64_t fewest = 0;
  for (const sema::literal& literal : rule.body) {
    const auto* atom = std::get_if<sema::atom>(&literal);
    if (!argument.is_variable() || atom == nullptr || atom->negated) continue;
    for (std::uint32_t column = 0; column < atom->arguments.size(); ++column) {
      const sema::expression& joined = atom->arguments[column];
      if (!joined.is_variable() || joined.variable != argument.variable) continue;
      const std::uint64_t values = distinct_values({atom->relation, column});
      if (values != 0) fewest = fewest == 0 ? values : std::min(fewest, values);
    }
  }
  return fewest;
}

/// Estimates the distinct values of derived columns. A derived column holds at most the values of each column that its
/// variable occurs in. For several rules the estimate is the maximum, or the sum if each rule copies a relation;
/// recursion adds no values. Computed values are unknown, and constants are few.
void cost_model::spread_distinct_values(const sema::program& source, const sema::stratum& stratum) {
  const bool adds_up = !stratum.recursive && std::all_of(stratum.rules.begin(), stratum.rules.end(), [&](rule_id id) {
    return std::count_if(source[id].body.begin(), source[id].body.end(), is_positive_atom) <= 1;
  });
  constexpr int rounds = 8;
  bool changed = true;
  for (int round = 0; round < (stratum.recursive ? rounds : 1) && changed; ++round) {
    changed = false;
    for (const rule_id id : stratum.rules) {
      const sema::rule& rule = source[id];
      std::vector<std::uint64_t>& values = relations_[rule.head.relation.value].distinct_values;
      values.resize(rule.head.arguments.size());
      for (std::uint32_t column = 0; column < values.size(); ++column) {
        const std::uint64_t found = distinct_values_of(rule, column);
        const std::uint64_t together = adds_up ? values[column] + found : std::max(values[column], found);
        changed = changed || together != values[column];
        values[column] = together;
      }
    }
  }
}

double cost_model::rows(relation_id relation, row_part rows) const {
  const entry& known = relations_[relation.value];
  return std::max(1.0, rows == row_part::delta ? known.rows * calibration::delta_share : known.rows);
}

bool cost_model::has_key_among(const entry& known, const std::vector<std::uint32_t>& columns) {
  return std::any_of(columns.begin(), columns.end(), [&known](std::uint32_t column) {
    return static_cast<double>(known.distinct_values[column]) * calibration::almost_key >= known.rows;
  });
}

bool cost_model::knows_values(const entry& known, const std::vector<std::uint32_t>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&known](std::uint32_t column) {
    return column < known.distinct_values.size() && known.distinct_values[column] > 0;
  });
}

cost_model::average_rows cost_model::average_fan_out(relation_id relation, row_part part_read,
                                                     const std::vector<std::uint32_t>& bound_columns) const {
  const entry& known = relations_[relation.value];
  const double total = rows(relation, part_read);
  if (bound_columns.empty() || known.arity == 0) return {total, false};
  if (const std::optional<double> measured = measured_fan_out(relation, bound_columns))
    return {*measured * total / rows(relation, row_part::all), false};
  if (!knows_values(known, bound_columns)) return {bounded_fan_out(known, total, bound_columns), false};
  const double average = total / std::min(combinations_of(known, bound_columns), rows(relation, row_part::all));
  return {average, !has_key_among(known, bound_columns)};
}

/// Estimates the combinations of values. Columns depend on each other (a method's name and its signature), so each
/// further column counts with a smaller power.
double cost_model::combinations_of(const entry& known, const std::vector<std::uint32_t>& columns) {
  std::vector<double> counts;
  for (const std::uint32_t column : columns) counts.push_back(static_cast<double>(known.distinct_values[column]));
  std::sort(counts.rbegin(), counts.rend());
  double combinations = 1;
  double power = 1;
  for (const double count : counts) {
    combinations *= std::pow(count, power);
    power /= 2;
  }
  return combinations;
}

/// Bounds the fan-out without assuming independent columns: more bound columns leave no more rows, and rows that agree
/// in the bound columns differ in the unbound columns, as in the bound of Atserias, Grohe and Marx (FOCS 2008).
double cost_model::bounded_fan_out(const entry& known, double total,
                                   const std::vector<std::uint32_t>& bound_columns) const {
  const auto bound = static_cast<double>(bound_columns.size());
  double fan_out = std::pow(total, 1 - bound / static_cast<double>(known.arity));
  std::vector<std::uint32_t> counted;
  double others = 1;
  for (std::uint32_t column = 0; column < known.arity; ++column) {
    const bool is_bound = std::find(bound_columns.begin(), bound_columns.end(), column) != bound_columns.end();
    if (is_bound && knows_values(known, {column})) counted.push_back(column);
    if (is_bound) continue;
    others *= knows_values(known, {column}) ? static_cast<double>(known.distinct_values[column]) : total;
  }
  fan_out = std::min(fan_out, others);
  if (!counted.empty()) fan_out = std::min(fan_out, total / std::min(combinations_of(known, counted), total));
  return fan_out;
}

void cost_model::charge_indexes(const std::vector<index>& there, std::set<relation_id> without_set) {
  indexed_.emplace();
  without_set_ = std::move(without_set);
  for (const index& one : there) {
    for (const std::uint32_t length : one.key_lengths) {
      std::vector<std::uint32_t> columns(one.order.begin(), one.order.begin() + static_cast<std::ptrdiff_t>(length));
      std::sort(columns.begin(), columns.end());
      (*indexed_)[one.relation].push_back(std::move(columns));
    }
  }
}

void cost_model::expect_index(relation_id relation, const std::vector<std::uint32_t>& columns) {
  if (indexed_) (*indexed_)[relation].push_back(columns);
}

double cost_model::index_cost(relation_id relation, const std::vector<std::uint32_t>& columns) const {
  if (!indexed_ || columns.empty()) return 0;
  const bool has_all = columns.size() == relations_[relation.value].arity;
  if (has_all && !without_set_.contains(relation)) return 0;
  const auto there = indexed_->find(relation);
  const bool is_there =
      there != indexed_->end() && std::find(there->second.begin(), there->second.end(), columns) != there->second.end();
  if (is_there) return 0;
  const relation_measures* const measures = relations_[relation.value].measures;
  if (measures != nullptr && measures->is_searched(relation, columns)) return 0;
  const double factor = has_all ? calibration::all_columns_factor : 1;
  return factor * rows(relation, row_part::all) * calibration::host_index_row_seconds /
         calibration::host_binding_seconds;
}

double cost_model::fan_out(relation_id relation, row_part part_read,
                           const std::vector<std::uint32_t>& bound_columns) const {
  const average_rows found = average_fan_out(relation, part_read, bound_columns);
  return found.may_be_skewed ? found.average * calibration::skew : found.average;
}

std::optional<double> cost_model::measured_fan_out(relation_id relation,
                                                   const std::vector<std::uint32_t>& bound_columns) const {
  const entry& known = relations_[relation.value];
  if (known.measures == nullptr || bound_columns.empty()) return std::nullopt;
  for (const told_fan_out& told : known.told_fan_outs) {
    if (told.columns == bound_columns) return told.rows_per_key;
  }
  const std::optional<double> rows_per_key = known.measures->rows_per_key(relation, bound_columns);
  known.told_fan_outs.push_back({bound_columns, rows_per_key});
  return rows_per_key;
}

std::optional<measured_join> cost_model::join_of(column_place probing, column_place searched) const {
  const entry& known = relations_[searched.relation.value];
  if (known.measures == nullptr || relations_[probing.relation.value].measures == nullptr) return std::nullopt;
  if (known.told_at != measured_times_) known.told_joins.clear();
  known.told_at = measured_times_;
  for (const told_join& told : known.told_joins) {
    if (told.searched_column == searched.column && told.probing == probing) return told.join;
  }
  const std::optional<measured_join> join = known.measures->join_of(probing, searched);
  known.told_joins.push_back({probing, searched.column, join});
  return join;
}

std::optional<double> cost_model::joined_fan_out(column_place probing, column_place searched,
                                                 row_part part_read) const {
  if (probing == searched) return std::nullopt;
  const std::optional<measured_join> join = join_of(probing, searched);
  if (!join) return std::nullopt;
  return join->rows * rows(searched.relation, part_read) / rows(searched.relation, row_part::all);
}

double cost_model::found_share(column_place probing, column_place searched) const {
  if (probing == searched) return 1;
  if (const std::optional<measured_join> join = join_of(probing, searched)) return join->found_share;
  const std::uint64_t values = distinct_values(probing);
  const std::uint64_t found = distinct_values(searched);
  if (values == 0 || found == 0 || found >= values) return 1;
  return static_cast<double>(found) / static_cast<double>(values);
}

std::uint64_t cost_model::distinct_values(column_place column) const {
  const entry& known = relations_[column.relation.value];
  if (known.measures != nullptr) {
    if (const auto rows = measured_fan_out(column.relation, {column.column}))
      return static_cast<std::uint64_t>(std::max(1.0, known.rows / *rows));
  }
  return column.column < known.distinct_values.size() ? known.distinct_values[column.column] : 0;
}

void cost_model::set_rows(relation_id relation, double rows) { relations_[relation.value].rows = std::max(1.0, rows); }

void cost_model::add_relation(std::uint32_t arity, relation_id head) {
  entry& added = relations_.emplace_back();
  added.rows = rows(head, row_part::all);
  added.arity = arity;
  added.head = head;
}

void cost_model::measure(relation_id relation, const relation_measures& measures) {
  entry& measured = relations_[relation.value];
  measured.measures = &measures;
  measured.rows = std::max(1.0, static_cast<double>(measures.rows(relation)));
  measured.is_known = true;
  measured.told_fan_outs.clear();
  ++measured_times_;
}

void cost_model::estimate_again(const sema::program& source, const std::vector<relation_id>& members) {
  for (const relation_id member : members) {
    if (member.value >= stratum_of_.size() || !stratum_of_[member.value]) continue;
    const sema::stratum& stratum = source.strata[*stratum_of_[member.value]];
    for (const relation_id one : stratum.relations) {
      entry& estimated = relations_[one.value];
      if (estimated.is_known) continue;
      estimated.rows = estimated.loaded_rows;
      estimated.distinct_values = estimated.loaded_values;
    }
    spread_statistics(source, stratum);
    break;
  }
  for (const relation_id member : members) {
    entry& added = relations_[member.value];
    if (added.head && !added.is_known) added.rows = rows(*added.head, row_part::all);
  }
}

void cost_model::learn_distinct_values(const normalized_rule& rule) {
  std::vector<std::uint64_t> learned(rule.head_arguments.size());  // 0: unknown
  for (std::uint32_t column = 0; column < learned.size(); ++column) {
    const sema::expression& argument = rule.head_arguments[column];
    for (const body_atom& atom : rule.atoms) {
      const std::vector<std::uint64_t>& known = relations_[atom.relation.value].distinct_values;
      for (std::uint32_t other = 0; other < atom.arguments.size() && other < known.size(); ++other) {
        const term& joined = atom.arguments[other];
        if (!argument.is_variable() || !joined.is_variable() || joined.value != argument.variable) continue;
        if (known[other] != 0 && (learned[column] == 0 || known[other] < learned[column])) {
          learned[column] = known[other];
        }
      }
    }
  }
  std::vector<std::uint64_t>& values = relations_[rule.head.value].distinct_values;
  values.resize(learned.size());
  for (std::uint32_t column = 0; column < learned.size(); ++column) {
    values[column] = std::max(values[column], learned[column]);
  }
}

}  // namespace gpulog::plan
