#include "plan/passes/bodies/smallest_relation_first.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "plan/cost/calibration.hpp"
#include "plan/pass.hpp"
#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

class smallest_search_finder {
 public:
  smallest_search_finder(version_builder& version, const cost_model& costs, const std::vector<std::uint32_t>& arities,
                         const intersection_scope& scope)
      : version_(version), costs_(costs), arities_(arities), scope_(scope) {}

  void run() {
    const std::vector<operator_builder>& operations = version_.operations;
    std::set<slot_id> bound;
    for (std::size_t position = 0; position < operations.size(); ++position) {
      const operation& op = operations[position].op;
      // Estimates inside an aggregate are per binding before the aggregate.
      if (std::holds_alternative<fold_begin>(op)) around_.push_back(bindings_behind(position));
      if (std::holds_alternative<fold_end>(op)) around_.pop_back();
      if (position != 0 && std::holds_alternative<match>(op)) extend(position, bound);
      for (const slot_id slot : slots_written(op)) bound.insert(slot);
    }
  }

 private:
  /// Returns the estimated bindings after an operator, over all bindings before the enclosing aggregates.
  [[nodiscard]] double bindings_behind(std::size_t position) const {
    return version_.operations[position].bindings * (around_.empty() ? 1 : around_.back());
  }
  [[nodiscard]] double bindings_before(std::size_t position) const {
    const operator_builder& before = version_.operations[position - 1];
    return std::holds_alternative<fold_begin>(before.op) ? around_.back() : bindings_behind(position - 1);
  }
  [[nodiscard]] bool can_search(relation_id relation, row_part rows) const {
    return rows == row_part::all && !scope_.excluded.contains(relation);
  }
  [[nodiscard]] bool is_worth(const searched_columns& search, double bindings) const {
    if (scope_.growing.contains(search.relation)) return scope_.kept.contains(search);
    return bindings >= costs_.rows(search.relation, row_part::all);
  }

  /// Finds existence tests that could replace the search at `position`, up to the next loop.
  void extend(std::size_t position, const std::set<slot_id>& bound) {
    std::vector<operator_builder>& operations = version_.operations;
    operator_builder& searching = operations[position];
    auto& search = std::get<match>(searching.op);
    // Every column except the bound column is a key, so the tuple set can test a value of the bound column.
    const bool binds_one = search.bindings.size() == 1 && search.keys.size() + 1 == arities_[search.relation.value];
    const double before = bindings_before(position);
    const double found = bindings_behind(position);
    if (!binds_one || !can_search(search.relation, search.rows)) return;
    if (found < calibration::least_fan_out * before || !is_worth({search.relation, searching.key_columns}, found))
      return;
    const slot_id value = search.bindings.front().slot;
    for (std::size_t at = position + 1; at < operations.size() && !is_loop(operations[at].op); ++at) {
      const auto* const test = std::get_if<exists>(&operations[at].op);
      if (test == nullptr || test->negated || !can_search(test->relation, test->rows)) continue;
      if (search.others.size() < calibration::most_other_searches)
        add_other(searching, operations[at], {at, value, found}, bound);
    }
  }

  struct wanted_search {
    std::size_t test = 0;  ///< position of the operator
    slot_id value;         ///< slot with the searched value
    double bindings = 0;   ///< after the search
  };
  void add_other(operator_builder& searching, const operator_builder& testing, const wanted_search& wanted,
                 const std::set<slot_id>& bound) const {
    const auto& test = std::get<exists>(testing.op);
    other_search other;
    other.relation = test.relation;
    other.test = wanted.test;
    std::vector<std::uint32_t> key_columns;
    std::size_t values = 0;
    for (std::size_t number = 0; number < test.keys.size(); ++number) {
      const operand& key = test.keys[number];
      if (key == operand::slot(wanted.value)) {
        other.column = testing.key_columns[number];
        ++values;
      } else if (key.is_constant || bound.contains(slot_id(key.value))) {
        other.keys.push_back(key);
        key_columns.push_back(testing.key_columns[number]);
      } else {
        return;  // computed from the value
      }
    }
    // Without another key, the search would return every row of the relation.
    if (values != 1 || other.keys.empty()) return;
    if (!is_worth({other.relation, key_columns}, wanted.bindings)) return;
    std::get<match>(searching.op).others.push_back(std::move(other));
    searching.other_key_columns.push_back(std::move(key_columns));
  }

  version_builder& version_;
  const cost_model& costs_;
  const std::vector<std::uint32_t>& arities_;
  const intersection_scope& scope_;
  std::vector<double> around_;  // by enclosing aggregate: bindings before the aggregate
};

}  // namespace

void find_intersections(version_builder& version, const cost_model& costs, const std::vector<std::uint32_t>& arities,
                        const intersection_scope& scope) {
  smallest_search_finder(version, costs, arities, scope).run();
}

void find_intersections(planning& shared, stratum_builder& stratum, const std::set<relation_id>& without_set) {
  const std::set<relation_id> own(stratum.relations.begin(), stratum.relations.end());
  std::set<relation_id> excluded = shared.equivalences;
  excluded.insert(without_set.begin(), without_set.end());
  const auto find_in_phase = [&](phase_builder& from, const std::set<searched_columns>& kept) {
    for (version_builder& version : from.versions)
      find_intersections(version, shared.costs, shared.arities, {own, kept, excluded});
  };
  std::set<searched_columns> kept;
  find_in_phase(stratum.once, kept);
  for (phase_builder& repeated : stratum.loop) {
    for (version_builder& version : repeated.versions)
      append_searches(version, {shared.arities, shared.equivalences}, kept);
  }
  // If rows may be lost or wait for a choice, an index and a tuple set may disagree.
  std::erase_if(kept, [&](const searched_columns& search) {
    return !stratum.losing.empty() || !shared.result.relations[search.relation.value].choice_domains.empty();
  });
  for (phase_builder& repeated : stratum.loop) find_in_phase(repeated, kept);
}

void search_smallest_relations(planning& shared) {
  for (stratum_builder& stratum : shared.strata) find_intersections(shared, stratum, {});
}

}  // namespace gpulog::plan
