#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "plan/cost/calibration.hpp"
#include "plan/cost/join_order.hpp"
#include "plan/cost/range_size.hpp"
#include "plan/cost/variable_sources.hpp"
#include "plan/rules/constant_folding.hpp"
#include "support/orderings.hpp"

namespace gpulog::plan {

/// Subtracts one use when added to a count.
inline constexpr std::uint32_t placed = static_cast<std::uint32_t>(-1);

inline bool is_equality(const condition& candidate) {
  return candidate.op == comparison_op::equal || candidate.op == comparison_op::equal_float;
}

/// Order in which conditions that are ready at the same time are tested. A test that may end the program comes last.
enum class test_cost : std::uint8_t { comparison, computed, existence, may_trap };

/// Current bindings and the literals that remain to be placed.
class body_scheduler {
 public:
  body_scheduler(const normalized_rule& rule, const version_parts& parts, const cost_model& costs)
      : rule_(&rule),
        parts_(&parts),
        costs_(&costs),
        bound_(rule.variables.size()),
        atom_placed_(rule.atoms.size()),
        negation_placed_(rule.negations.size()),
        condition_placed_(rule.conditions.size()),
        aggregation_placed_(rule.aggregations.size()),
        generation_placed_(rule.generations.size()),
        uses_(rule.variables.size()),
        sources_(rule.variables.size()) {
    count_uses();
    changed_.clear();
  }

  /// Binds the variables that the scope around an aggregate's body provides.
  void bind(const std::vector<std::uint32_t>& variables) {
    for (const std::uint32_t variable : variables) bind(variable);
    is_counted_ = true;
  }

  /// Returns whether the atom only tests existence: no other literal uses a variable that the atom binds.
  [[nodiscard]] bool only_exists(std::uint32_t atom) const {
    const std::vector<term>& arguments = rule_->atoms[atom].arguments;
    for (auto fresh = arguments.begin(); fresh != arguments.end(); ++fresh) {
      if (!fresh->is_variable() || bound_[fresh->value]) continue;
      if (uses_[fresh->value] != 1 || stands_again(*fresh, fresh + 1, arguments.end())) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> bound_columns(std::uint32_t atom) const {
    std::vector<std::uint32_t> columns;
    const std::vector<term>& arguments = rule_->atoms[atom].arguments;
    for (std::uint32_t column = 0; column < arguments.size(); ++column) {
      const term& argument = arguments[column];
      if (argument.is_constant() || (argument.is_variable() && bound_[argument.value])) columns.push_back(column);
    }
    return columns;
  }

  /// Returns whether a variable joins the atom to the bound variables.
  [[nodiscard]] bool is_joined(std::uint32_t atom) const {
    const std::vector<term>& arguments = rule_->atoms[atom].arguments;
    return std::any_of(arguments.begin(), arguments.end(),
                       [this](const term& argument) { return argument.is_variable() && bound_[argument.value]; });
  }

  [[nodiscard]] bool is_placed(std::uint32_t atom) const { return atom_placed_[atom]; }
  [[nodiscard]] double fan_out(std::uint32_t atom) const { return fan_out(atom, bound_columns(atom)); }
  /// @param columns bound columns of the atom
  [[nodiscard]] double fan_out(std::uint32_t atom, const std::vector<std::uint32_t>& columns) const {
    const double rows = sources_.fan_out(rule_->atoms[atom], parts_->atoms[atom], columns, *costs_);
    return columns.empty() && is_between_bounds(atom) ? std::sqrt(rows) : rows;
  }

  /// Returns the index cost of a search of the atom. A loop builds the index once; other costs count per iteration.
  [[nodiscard]] double index_cost(std::uint32_t atom, const std::vector<std::uint32_t>& columns) const {
    const body_atom& read = rule_->atoms[atom];
    if (result_.steps.empty() || read.is_equivalence || parts_->atoms[atom] == row_part::delta) return 0;
    const double once = costs_->index_cost(read.relation, columns);
    return parts_->delta_atom ? once * calibration::delta_share : once;
  }

  /// Returns whether conditions hold a variable of the atom between a lower and an upper bound from earlier atoms, so
  /// that a scan reads only the rows in between. Intervals are assumed to be short, unless one end is a constant.
  [[nodiscard]] bool is_between_bounds(std::uint32_t atom) const {
    if (rule_->atoms[atom].is_equivalence || result_.steps.empty() || rule_->conditions.empty()) return false;
    std::set<std::uint32_t> below;
    std::set<std::uint32_t> above;
    for (std::uint32_t number = 0; number < rule_->conditions.size(); ++number) {
      const condition& candidate = rule_->conditions[number];
      if (condition_placed_[number]) continue;
      const std::optional<ordering> order = ordering_of(candidate.op);
      if (!order || order->kind == value_kind::floating) continue;
      for (const bool is_left : {true, false}) {
        const sema::expression& side = is_left ? candidate.left : candidate.right;
        const sema::expression& other = is_left ? candidate.right : candidate.left;
        const std::optional<unknown_summand> unknown = unknown_of(side);
        if (!unknown || !all_bound(other) || !(is_given(other) || has_bound_variable(side))) continue;
        const bool is_above = (order->is_less == is_left) != unknown->is_subtracted;
        (is_above ? above : below).insert(unknown->variable);
      }
    }
    const std::vector<term>& arguments = rule_->atoms[atom].arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const term& argument) {
      return argument.is_variable() && below.contains(argument.value) && above.contains(argument.value);
    });
  }

  void place_atom(std::uint32_t atom) {
    const std::vector<std::uint32_t> columns = bound_columns(atom);
    double factor = fan_out(atom, columns);
    result_.cost += index_cost(atom, columns);
    const bool is_first = std::find(atom_placed_.begin(), atom_placed_.end(), true) == atom_placed_.end();
    const bool is_test = only_exists(atom);
    if (!is_first && !is_test && !is_joined(atom) && !is_between_bounds(atom)) ++result_.products;
    if (is_test) {
      const bool is_membership = columns.size() == rule_->atoms[atom].arguments.size();
      if (asking_ && is_membership) asking_->tests_membership = true;
      factor = std::min(factor, calibration::filter_selectivity);
      result_.cost += bindings_;
    } else {
      if (!is_first && !asking_ && asks_only()) asking_ = asking_part{std::max(1.0, bindings_), result_.cost};
      const bool scanned_delta = result_.steps.empty() && parts_->atoms[atom] == row_part::delta;
      result_.cost += scanned_delta ? costs_->rows(rule_->atoms[atom].relation, row_part::delta) : bindings_;
      result_.cost += bindings_ * factor;
    }
    bindings_ *= factor;
    sources_.note(rule_->atoms[atom], bound_, *costs_);
    for (const term& argument : rule_->atoms[atom].arguments) {
      if (argument.is_variable()) bind(argument.value);
    }
    atom_placed_[atom] = true;
    change_uses(rule_->atoms[atom], placed);
    result_.steps.push_back({read_atom{atom}, bindings_});
  }

  /// Returns the columns of an equivalence relation whose variables occur in further atoms.
  [[nodiscard]] std::vector<std::uint32_t> joined_columns(std::uint32_t atom) const {
    const std::vector<term>& arguments = rule_->atoms[atom].arguments;
    std::vector<std::uint32_t> columns;
    if (!arguments[0].is_variable() || !arguments[1].is_variable()) return columns;
    for (std::uint32_t column = 0; column < 2; ++column) {
      for (std::uint32_t other = 0; other < rule_->atoms.size(); ++other) {
        std::vector<std::uint32_t> variables;
        append_variables(rule_->atoms[other], variables);
        const bool reads = std::find(variables.begin(), variables.end(), arguments[column].value) != variables.end();
        if (other == atom || !reads) continue;
        columns.push_back(column);
        break;
      }
    }
    return columns;
  }

  /// Places the elements of an equivalence relation's delta first and the pairs last: a class merged from large classes
  /// has more pairs than any join with the elements.
  void place_changed_elements(std::uint32_t atom, std::uint32_t column) {
    const body_atom& read = rule_->atoms[atom];
    last_ = atom;
    sources_.begin(read.arguments[column].value, {read.relation, column});
    bind(read.arguments[column].value);
    bindings_ *= costs_->fan_out(read.relation, row_part::delta, {column});
    result_.cost += bindings_;
    result_.steps.push_back({read_changed_elements{atom, column}, bindings_});
  }
  [[nodiscard]] bool comes_last(std::uint32_t atom) const { return last_ == atom; }

  /// Places every literal whose inputs are bound, except atoms. Literals that multiply or repeat work wait: aggregates
  /// for the first atom, so that workers share its rows, and ranges for the last atom.
  void place_ready() {
    place_tests();
    while (place_aggregation() || place_generation()) place_tests();
  }

  void place_tests() {
    while (place_definition()) {
    }
    std::vector<std::tuple<test_cost, std::uint32_t, bool>> ready;
    for (std::uint32_t number = 0; number < rule_->conditions.size(); ++number) {
      const condition& candidate = rule_->conditions[number];
      if (condition_placed_[number] || !all_bound(candidate.left) || !all_bound(candidate.right)) continue;
      if (candidate.left.is_record() || candidate.right.is_record()) continue;  // placed by place_definition
      ready.emplace_back(cost_of(candidate), number, false);
    }
    for (std::uint32_t number = 0; number < rule_->negations.size(); ++number) {
      if (!negation_placed_[number] && all_bound(rule_->negations[number]))
        ready.emplace_back(test_cost::existence, number, true);
    }
    std::sort(ready.begin(), ready.end());
    for (const auto& [rank, number, negated] : ready) {
      if (negated) {
        negation_placed_[number] = true;
        change_uses(rule_->negations[number], placed);
        result_.cost += bindings_;
        bindings_ *= calibration::filter_selectivity;
        result_.steps.push_back({reject_atom{number}, bindings_});
      } else {
        condition_placed_[number] = true;
        change_uses(rule_->conditions[number], placed);
        bindings_ *= is_equality(rule_->conditions[number]) ? calibration::equality_selectivity
                                                            : calibration::filter_selectivity;
        result_.steps.push_back({test_condition{number}, bindings_});
      }
    }
  }

  [[nodiscard]] schedule finish() {
    result_.cost = cost();
    return std::move(result_);
  }
  /// Returns the cost of the steps placed so far. After the head is bound, the search for matches ends at the first
  /// match, which reduces the cost. Before a membership test the first match may come late, so no reduction applies.
  [[nodiscard]] double cost() const {
    if (!asking_ || asking_->tests_membership) return result_.cost;
    const double matches = std::clamp(bindings_ / asking_->bindings, 1.0, calibration::most_matches_spared);
    return asking_->cost + (result_.cost - asking_->cost) / matches;
  }
  [[nodiscard]] const std::vector<bool>& placed_atoms() const { return atom_placed_; }

  /// Places the atoms in the order of their fan-outs.
  /// @param late an atom that waits until another atom binds one of its variables
  void place_all(std::optional<std::uint32_t> late = {});

  /// Returns the variables that were bound since the last call, or that only one remaining literal uses. The preference
  /// of atoms without these variables is unchanged.
  [[nodiscard]] std::vector<std::uint32_t> take_changed() { return std::exchange(changed_, {}); }
  [[nodiscard]] const normalized_rule& rule() const { return *rule_; }
  [[nodiscard]] bool is_begun() const { return !result_.steps.empty(); }

 private:
  void bind(std::uint32_t variable) {
    if (bound_[variable]) return;
    bound_[variable] = true;
    changed_.push_back(variable);
  }

  template <typename Place>
  [[nodiscard]] static bool stands_again(const term& variable, Place from, Place end) {
    return std::any_of(from, end,
                       [&variable](const term& other) { return other.is_variable() && other.value == variable.value; });
  }

  /// The end of an order, whose atoms only test existence.
  struct asking_part {
    double bindings = 1;  ///< estimate before this end
    double cost = 0;
    bool tests_membership = false;
  };
  /// Returns whether all head arguments are bound: later atoms only test whether a match exists
  /// (rule_version::first_matches).
  [[nodiscard]] bool asks_only() const { return !is_counted_ && all_bound(rule_->head_arguments); }

  [[nodiscard]] bool all_bound(const sema::expression& tree) const {
    return !(tree.is_variable() && !bound_[tree.variable]) && all_bound(tree.arguments);
  }
  [[nodiscard]] bool all_bound(const std::vector<sema::expression>& trees) const {
    return std::all_of(trees.begin(), trees.end(), [this](const sema::expression& tree) { return all_bound(tree); });
  }

  /// The only unbound variable of a sum.
  struct unknown_summand {
    std::uint32_t variable = 0;
    bool is_subtracted = false;
  };
  [[nodiscard]] std::optional<unknown_summand> unknown_of(const sema::expression& tree) const {
    if (tree.is_variable()) return bound_[tree.variable] ? std::nullopt : std::optional(unknown_summand{tree.variable});
    const bool is_sum = tree.is_operation() && tree.op == scalar_op::add_number;
    const bool is_difference = tree.is_operation() && tree.op == scalar_op::subtract_number;
    if (!is_sum && !is_difference) return std::nullopt;
    const bool is_right = all_bound(tree.arguments[0]);
    if (!is_right && !all_bound(tree.arguments[1])) return std::nullopt;
    std::optional<unknown_summand> found = unknown_of(tree.arguments[is_right ? 1 : 0]);
    if (found && is_difference && is_right) found->is_subtracted = !found->is_subtracted;
    return found;
  }
  [[nodiscard]] bool has_bound_variable(const sema::expression& tree) const {
    if (tree.is_variable() && bound_[tree.variable]) return true;
    return std::any_of(tree.arguments.begin(), tree.arguments.end(),
                       [this](const sema::expression& argument) { return has_bound_variable(argument); });
  }

  /// Returns whether placed atoms, not only constants, determine the expression.
  [[nodiscard]] bool is_given(const sema::expression& tree) const {
    std::vector<std::uint32_t> variables;
    append_variables(tree, variables);
    return !variables.empty() && all_bound(variables);
  }

  /// Returns whether every field of a record has a value.
  [[nodiscard]] static bool is_complete(const sema::expression& tree) {
    return std::none_of(tree.arguments.begin(), tree.arguments.end(),
                        [](const sema::expression& field) { return field.is_unnamed(); });
  }

  /// Changes the number of unplaced literals, including the head, that use each variable.
  void change_uses(const std::vector<std::uint32_t>& variables, std::uint32_t by) {
    std::vector<std::uint32_t> distinct = variables;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::uint32_t variable : distinct) {
      uses_[variable] += by;
      if (uses_[variable] == 1 && !bound_[variable]) changed_.push_back(variable);
    }
  }

  void change_uses(const condition& changed, std::uint32_t by) {
    std::vector<std::uint32_t> variables;
    append_variables(changed.left, variables);
    append_variables(changed.right, variables);
    change_uses(variables, by);
  }

  template <typename Literal>
  void change_uses(const Literal& changed, std::uint32_t by) {
    std::vector<std::uint32_t> variables;
    append_variables(changed, variables);
    change_uses(variables, by);
  }

  void count_uses() {
    for (const body_atom& atom : rule_->atoms) change_uses(atom, 1);
    for (const body_atom& atom : rule_->negations) change_uses(atom, 1);
    for (const condition& test : rule_->conditions) change_uses(test, 1);
    for (const aggregation& folded : rule_->aggregations) change_uses(folded, 1);
    for (const generation& made : rule_->generations) change_uses(made, 1);
    std::vector<std::uint32_t> variables;
    for (const sema::expression& argument : rule_->head_arguments) append_variables(argument, variables);
    change_uses(variables, 1);
  }

  [[nodiscard]] static test_cost cost_of(const condition& candidate) {
    if (may_trap(candidate.left) || may_trap(candidate.right)) return test_cost::may_trap;
    if (candidate.left.is_operation() || candidate.right.is_operation()) return test_cost::computed;
    return test_cost::comparison;
  }

  [[nodiscard]] bool all_bound(const body_atom& read) const {
    return std::all_of(read.arguments.begin(), read.arguments.end(),
                       [this](const term& argument) { return !argument.is_variable() || bound_[argument.value]; });
  }

  [[nodiscard]] bool all_bound(const std::vector<std::uint32_t>& variables) const {
    return std::all_of(variables.begin(), variables.end(), [this](std::uint32_t v) { return bound_[v]; });
  }

  /// Binds `result` if it is an unbound variable. Returns true if the value must be compared.
  bool bind_result(const sema::expression& result) {
    if (!result.is_variable() || bound_[result.variable]) {
      bindings_ *= calibration::equality_selectivity;
      return true;
    }
    bind(result.variable);
    return false;
  }

  bool place_aggregation() {
    const bool any_atom = std::find(atom_placed_.begin(), atom_placed_.end(), true) != atom_placed_.end();
    if (!any_atom && !atom_placed_.empty()) return false;
    for (std::uint32_t number = 0; number < rule_->aggregations.size(); ++number) {
      const aggregation& candidate = rule_->aggregations[number];
      if (aggregation_placed_[number] || !all_bound(candidate.injected)) continue;
      aggregation_placed_[number] = true;
      change_uses(candidate, placed);
      version_parts parts;
      parts.atoms.assign(candidate.body.atoms.size(), row_part::all);
      body_scheduler inside(candidate.body, parts, *costs_);
      inside.bind(candidate.injected);
      inside.place_all();
      schedule body = inside.finish();
      result_.cost += bindings_ * (1 + body.cost);
      fold_matches placed_step{number, bind_result(candidate.result), std::move(body.steps)};
      result_.steps.push_back({std::move(placed_step), bindings_});
      return true;
    }
    return false;
  }

  bool place_generation() {
    if (std::find(atom_placed_.begin(), atom_placed_.end(), false) != atom_placed_.end()) return false;
    for (std::uint32_t number = 0; number < rule_->generations.size(); ++number) {
      const generation& candidate = rule_->generations[number];
      if (generation_placed_[number] || !all_bound(candidate.arguments)) continue;
      generation_placed_[number] = true;
      change_uses(candidate, placed);
      bindings_ *= constant_range_size(candidate, rule_->words).value_or(1);
      result_.steps.push_back({expand_range{number, bind_result(candidate.result)}, bindings_});
      return true;
    }
    return false;
  }

  bool place_definition() {
    for (std::uint32_t number = 0; number < rule_->conditions.size(); ++number) {
      const condition& candidate = rule_->conditions[number];
      if (condition_placed_[number] || !is_equality(candidate)) continue;
      if (define_from(number, candidate.left, candidate.right)) return true;
      if (define_from(number, candidate.right, candidate.left)) return true;
    }
    return false;
  }

  /// Solves target = value, with `value` bound, for the one unbound variable of `target`. Sums and differences of words
  /// wrap around, so the solution is exact.
  bool define_from(std::uint32_t number, const sema::expression& target, const sema::expression& value) {
    if (target.is_record()) return match_from(number, target, value);
    if (all_bound(target) || !all_bound(value) || !is_complete(value)) return false;
    sema::expression unsolved = target;
    sema::expression solved = value;
    while (unsolved.is_operation()) {
      if (rule_->conditions[number].op != comparison_op::equal) return false;
      const auto applied = [&](scalar_op op, std::vector<sema::expression> arguments) {
        sema::expression result;
        result.what = sema::expression::form::operation;
        result.kind = unsolved.kind;
        result.op = op;
        result.arguments = std::move(arguments);
        return result;
      };
      if (unsolved.op == scalar_op::negate_number) {
        solved = applied(scalar_op::negate_number, {std::move(solved)});
        unsolved = sema::expression(unsolved.arguments[0]);
        continue;
      }
      if (unsolved.op != scalar_op::add_number && unsolved.op != scalar_op::subtract_number) return false;
      const bool unknown_left = !all_bound(unsolved.arguments[0]);
      const sema::expression unknown = unsolved.arguments[unknown_left ? 0 : 1];
      const sema::expression known = unsolved.arguments[unknown_left ? 1 : 0];
      if (!all_bound(known)) return false;
      if (unsolved.op == scalar_op::add_number) {
        solved = applied(scalar_op::subtract_number, {std::move(solved), known});
      } else if (unknown_left) {
        solved = applied(scalar_op::add_number, {std::move(solved), known});
      } else {
        solved = applied(scalar_op::subtract_number, {known, std::move(solved)});
      }
      unsolved = unknown;
    }
    fold_constants(solved, rule_->words);
    condition_placed_[number] = true;
    change_uses(rule_->conditions[number], placed);
    bind(unsolved.variable);
    result_.steps.push_back({define_variable{unsolved.variable, std::move(solved)}, bindings_});
    return true;
  }

  /// Matches pattern = record, with `record` bound.
  bool match_from(std::uint32_t number, const sema::expression& pattern, const sema::expression& record) {
    if (!all_bound(record)) return false;
    condition_placed_[number] = true;
    change_uses(rule_->conditions[number], placed);
    std::vector<std::uint32_t> variables;
    append_variables(pattern, variables);
    for (const sema::expression& field : pattern.arguments) {
      if (field.is_constant() || (field.is_variable() && bound_[field.variable]))
        bindings_ *= calibration::equality_selectivity;
    }
    for (const std::uint32_t variable : variables) bind(variable);
    result_.steps.push_back({match_record{record, pattern}, bindings_});
    return true;
  }

  const normalized_rule* rule_;
  const version_parts* parts_;
  const cost_model* costs_;
  std::vector<bool> bound_;
  std::vector<bool> atom_placed_;
  std::vector<bool> negation_placed_;
  std::vector<bool> condition_placed_;
  std::vector<bool> aggregation_placed_;
  std::vector<bool> generation_placed_;
  std::vector<std::uint32_t> uses_;  // by variable: number of unplaced literals that use the variable
  std::vector<std::uint32_t> changed_;
  variable_sources sources_;
  std::optional<std::uint32_t> last_;  // an atom that waits for all other joined atoms
  bool is_counted_ = false;            // body of an aggregate: every binding counts
  std::optional<asking_part> asking_;
  double bindings_ = 1;
  schedule result_;
};

}  // namespace gpulog::plan
