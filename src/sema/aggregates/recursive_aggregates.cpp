#include "sema/aggregates/recursive_aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sema/aggregates/best_values.hpp"
#include "sema/aggregates/known_signs.hpp"
#include "sema/aggregates/unfolding.hpp"
#include "sema/rewriting/assignments.hpp"
#include "sema/rewriting/movement.hpp"
#include "support/orderings.hpp"

namespace gpulog::sema {

namespace {

/// Calls action(expression) for each variable in the tree.
template <class Action>
void for_each_variable_of(const expression& tree, const Action& action) {
  if (tree.is_variable()) action(tree);
  for (const expression& argument : tree.arguments) for_each_variable_of(argument, action);
}

bool counts_iterations(const expression& tree) {
  return (tree.is_operation() && tree.op == scalar_op::iteration_number) ||
         std::any_of(tree.arguments.begin(), tree.arguments.end(), counts_iterations);
}

bool counts_iterations(const std::vector<literal>& body) {
  return std::any_of(body.begin(), body.end(), [](const literal& part) {
    if (const auto* test = std::get_if<constraint>(&part)) {
      return counts_iterations(test->left) || counts_iterations(test->right);
    }
    if (const auto* range = std::get_if<generator>(&part)) {
      return std::any_of(range->arguments.begin(), range->arguments.end(),
                         [](const expression& one) { return counts_iterations(one); });
    }
    const auto* nested = std::get_if<aggregate>(&part);
    return nested != nullptr && (counts_iterations(nested->target) || counts_iterations(nested->body));
  });
}

/// The rules of a cycle that contains recursive aggregates or equivalent subsumptions.
class cycle {
 public:
  cycle(program& program, const std::vector<std::uint32_t>& cycle_of, std::uint32_t number)
      : program_(program), cycle_of_(cycle_of), number_(number) {
    for (rule& one : program.rules) {
      if (is_member(one.head.relation)) rules_.push_back(&one);
    }
  }

  /// Returns the first reason that prevents the evaluation of the aggregates within the cycle.
  std::optional<aggregate_refusal> examine() {
    find_subsumptions();
    for (const rule* one : rules_) find_value_column(*one);
    for (const auto& [relation, value] : values_) {
      if (!value.by_subsumption) examine(relation);
    }
    for (const rule* one : rules_) examine(*one);
    return std::move(refusal_);
  }

  void rewrite() {
    for (rule* one : rules_) {
      unfold_aggregates(*one, [this](const aggregate& folded) { return is_recursive(folded); });
    }
    const bool priority_delta = is_free_of_order() && !values_may_improve_;
    for (const auto& [relation, value] : values_) {
      if (!value.by_subsumption) add_subsumption(program_, relation, value);
      program_.relations[relation.value].priority_delta = priority_delta;
    }
  }

 private:
  /// Records a reason; keeps the first one only.
  void refuse(const source_span& span, std::string reason) {
    if (!refusal_) refusal_ = {span, std::move(reason)};
  }

  [[nodiscard]] bool is_member(relation_id relation) const { return cycle_of_[relation.value] == number_; }

  void find_subsumptions() {
    for (std::uint32_t number = 0; number < program_.relations.size(); ++number) {
      const relation& member = program_.relations[number];
      if (!is_member(relation_id(number)) || member.subsumptions.empty()) continue;
      const auto kept =
          member.subsumptions.size() == 1 ? kept_value(program_.subsumptions[member.subsumptions[0]]) : std::nullopt;
      if (kept) {
        values_.emplace(relation_id(number), *kept);
      } else {
        refuse(member.span, "Relation " + member.name + " has subsumptive rules that do not just keep the best value");
      }
    }
  }

  /// Returns whether the order of tuples affects values only.
  [[nodiscard]] bool is_free_of_order() const {
    for (std::uint32_t number = 0; number < program_.relations.size(); ++number) {
      const relation& member = program_.relations[number];
      if (is_member(relation_id(number)) && (member.size_limit || !member.choice_domains.empty())) return false;
    }
    return true;
  }

  [[nodiscard]] bool reads_cycle(const std::vector<literal>& body) const {
    return std::any_of(body.begin(), body.end(), [this](const literal& part) {
      if (const auto* one = std::get_if<atom>(&part)) return is_member(one->relation);
      const auto* nested = std::get_if<aggregate>(&part);
      return nested != nullptr && reads_cycle(nested->body);
    });
  }
  [[nodiscard]] bool is_recursive(const aggregate& one) const { return reads_cycle(one.body); }

  /// Returns whether both expressions are the same variable or an equality in the body makes them equal.
  static bool are_same(const rule& rule, const expression& one, const expression& other) {
    if (!one.is_variable()) return false;
    if (one.variable == other.variable) return true;
    return std::any_of(rule.body.begin(), rule.body.end(), [&](const literal& part) {
      const auto* test = std::get_if<constraint>(&part);
      if (test == nullptr || !test->is_equality() || !test->left.is_variable() || !test->right.is_variable())
        return false;
      const std::uint32_t left = test->left.variable;
      const std::uint32_t right = test->right.variable;
      return (left == one.variable && right == other.variable) || (right == one.variable && left == other.variable);
    });
  }

  void find_value_column(const rule& rule) {
    for (const literal& part : rule.body) {
      const auto* folded = std::get_if<aggregate>(&part);
      if (folded == nullptr || !is_recursive(*folded)) continue;
      if (is_count_or_sum(folded->op)) continue;
      if (!is_least(folded->op) && !is_greatest(folded->op)) {
        refuse(folded->span, "Only min, max, count and sum can be evaluated in a recursion");
        continue;
      }
      const std::vector<expression>& columns = rule.head.arguments;
      for (std::uint32_t column = 0; column < columns.size(); ++column) {
        if (!are_same(rule, columns[column], folded->result)) continue;
        const auto [known, is_new] = values_.try_emplace(rule.head.relation, value_column{column, folded->op});
        if (is_new) continue;
        if (known->second.by_subsumption) {
          refuse(folded->span, "Relation " + program_[rule.head.relation].name + " has subsumptive rules of its own");
        }
        if (known->second.column != column) {
          refuse(folded->span,
                 "Another column of relation " + program_[rule.head.relation].name + " holds an aggregate already");
        }
        if (known->second.op != folded->op) {
          refuse(folded->span,
                 "The column of relation " + program_[rule.head.relation].name + " holds another aggregate already");
        }
      }
    }
  }

  /// Checks the declaration of a relation with a value column.
  void examine(relation_id id) {
    const relation& declared = program_[id];
    if (declared.arity() < 2) {
      refuse(declared.span, "Relation " + declared.name + " has no column beside the aggregate's");
    }
    if (!declared.choice_domains.empty()) {
      refuse(declared.span, "Relation " + declared.name + " has a choice-domain");
    }
    if (declared.structure == representation::eqrel || declared.structure == representation::brie) {
      refuse(declared.span, "Relation " + declared.name + " keeps best values only and must be a btree");
    }
  }

  // ---- one rule ----

  /// Facts about the variables of a rule.
  struct variables {
    std::vector<movement> moves;
    std::vector<std::uint32_t> uses;  ///< uses in atoms, ranges, records and aggregates, which bind or join
    std::set<const constraint*> definitions;
    /// The expressions that define variables: from `definitions` and aggregates.
    std::map<std::uint32_t, const expression*> defined_as;
  };

  [[nodiscard]] movement moves(const rule& rule, const expression& value, const variables& known) const {
    return movement_of(program_, rule, value, known.moves);
  }
  [[nodiscard]] bool stays(const rule& rule, const expression& value, const variables& known) const {
    return moves(rule, value, known) == movement::stays;
  }

  void examine(const rule& rule) {
    variables known;
    known.moves.assign(rule.variables.size(), movement::stays);
    known.uses.assign(rule.variables.size(), 0);
    find_values(rule.body, known);
    while (define(rule, rule.body, known)) continue;
    examine(rule, rule.body, known);
    examine_head(rule, known);
    const std::vector<expression>& head = rule.head.arguments;
    if (counts_iterations(rule.body) ||
        std::any_of(head.begin(), head.end(), [](const expression& one) { return counts_iterations(one); })) {
      refuse(rule.span, "The rule uses the number of the iteration, and the order of values is not defined");
    }
  }

  /// Finds the variables whose values come from atoms of the cycle and from its aggregates.
  void find_values(const std::vector<literal>& body, variables& known) {
    const auto use = [&known](const expression& tree) {
      for_each_variable_of(tree, [&](const expression& one) { ++known.uses[one.variable]; });
    };
    for (const literal& part : body) {
      if (const auto* one = std::get_if<atom>(&part)) {
        for (const expression& argument : one->arguments) use(argument);
        const auto value = values_.find(one->relation);
        if (value == values_.end() || one->negated) continue;
        const expression& read = one->arguments[value->second.column];
        if (read.is_unnamed()) continue;
        if (!read.is_variable()) {
          refuse(one->span, "The value of relation " + program_[one->relation].name +
                                " is compared for equality: it is not final inside the recursion");
          continue;
        }
        known.moves[read.variable] = value->second.moves();
      } else if (const auto* test = std::get_if<constraint>(&part)) {
        if (test->left.is_record()) use(test->left);
        if (test->right.is_record()) use(test->right);
      } else if (const auto* range = std::get_if<generator>(&part)) {
        use(range->result);
        for (const expression& argument : range->arguments) use(argument);
      } else if (const auto* folded = std::get_if<aggregate>(&part)) {
        if (is_recursive(*folded)) {
          known.moves[folded->result.variable] = movement_of(folded->op);
          if (!is_count_or_sum(folded->op)) known.defined_as.emplace(folded->result.variable, &folded->target);
          ++known.uses[folded->result.variable];
          find_values(folded->body, known);
        } else {
          for (const std::uint32_t injected : folded->injected) ++known.uses[injected];
          ++known.uses[folded->result.variable];
        }
      }
    }
  }

  /// Derives movements of variables that only equalities bind.
  /// @return whether a new movement was found
  bool define(const rule& rule, const std::vector<literal>& body, variables& known) const {
    bool found = false;
    for (const literal& part : body) {
      if (const auto* folded = std::get_if<aggregate>(&part)) {
        if (is_recursive(*folded)) found |= define(rule, folded->body, known);
        continue;
      }
      const auto* test = std::get_if<constraint>(&part);
      if (test == nullptr || !test->is_equality() || known.definitions.contains(test)) continue;
      for (const bool turned : {false, true}) {
        const expression& defined = turned ? test->right : test->left;
        const expression& made_of = turned ? test->left : test->right;
        const movement moved = moves(rule, made_of, known);
        if (moved == movement::stays || !defined.is_variable() || defined.kind != rule.variables[defined.variable].kind)
          continue;
        if (known.uses[defined.variable] != 0 || known.moves[defined.variable] != movement::stays) continue;
        known.moves[defined.variable] = moved;
        known.definitions.insert(test);
        known.defined_as.emplace(defined.variable, &made_of);
        found = true;
        break;
      }
    }
    return found;
  }

  void examine(const rule& rule, const std::vector<literal>& body, const variables& known) {
    for (const literal& part : body) {
      if (const auto* one = std::get_if<atom>(&part)) {
        examine(rule, *one, known);
      } else if (const auto* test = std::get_if<constraint>(&part)) {
        const movement left = moves(rule, test->left, known);
        const movement right = moves(rule, test->right, known);
        if (known.definitions.contains(test) || goes_on_to_hold(test->op, left, right)) continue;
        if (test->is_equality()) {
          refuse(test->span, "A value that is not final is searched for or compared for equality");
        }
        refuse(test->span, "The test may hold for a value that is not final and fail for a better value");
      } else if (const auto* range = std::get_if<generator>(&part)) {
        for (const expression& argument : range->arguments) {
          if (!stays(rule, argument, known)) refuse(range->span, "A range depends on a value that is not final");
        }
      } else if (const auto* folded = std::get_if<aggregate>(&part)) {
        examine(rule, *folded, known);
      }
    }
  }

  void examine(const rule& rule, const atom& read, const variables& known) {
    const auto value = values_.find(read.relation);
    for (std::uint32_t column = 0; column < read.arguments.size(); ++column) {
      const expression& argument = read.arguments[column];
      if (!argument.is_variable() || stays(rule, argument, known)) continue;
      const bool is_value = value != values_.end() && value->second.column == column;
      if (!read.negated && is_value) {
        if (known.uses[argument.variable] == 1) continue;
        refuse(read.span, "The value of relation " + program_[read.relation].name +
                              " is not final, and an atom, a range, a record or another aggregate uses it");
        continue;
      }
      refuse(read.span, "Relation " + program_[read.relation].name + " is searched for a value that is not final");
    }
  }

  void examine(const rule& rule, const aggregate& folded, const variables& known) {
    if (!is_recursive(folded)) {
      for (const std::uint32_t injected : folded.injected) {
        if (known.moves[injected] != movement::stays)
          refuse(folded.span, "An aggregate depends on a value that is not final");
      }
      return;
    }
    for (const literal& part : folded.body) {
      const auto* nested = std::get_if<aggregate>(&part);
      if (nested != nullptr && is_recursive(*nested))
        refuse(nested->span, "A recursive aggregate is part of another aggregate");
    }
    if (known.uses[folded.result.variable] != 1) {
      refuse(folded.span, "The aggregate's result is searched for: it is not final inside the recursion");
    }
    if (is_count_or_sum(folded.op)) return examine_count(rule, folded);
    const movement target = moves(rule, folded.target, known);
    if (target != movement::stays && target != movement_of(folded.op)) {
      refuse(folded.target.span.valid() ? folded.target.span : folded.span,
             is_least(folded.op) ? "The target of min may rise when a value that it depends on gets better"
                                 : "The target of max may fall when a value that it depends on gets better");
    }
    examine(rule, folded.body, known);
  }

  // ---- counts and sums ----

  /// Checks that the result of a count or sum rises with the matches. Without matches the result is 0, and then the
  /// rule must not apply.
  void examine_count(const rule& rule, const aggregate& folded) {
    for (const literal& part : folded.body) {
      if (std::holds_alternative<aggregate>(part))
        refuse(folded.span, "A recursive count or sum contains an aggregate");
      const auto* read = std::get_if<atom>(&part);
      if (read == nullptr) continue;
      if (values_.contains(read->relation)) {
        refuse(read->span, "A recursive count or sum reads values of relation " + program_[read->relation].name +
                               ", which are not final");
      }
    }
    const bool by_assignment = counts_assignments(folded, rule.variables);
    for (const literal& part : folded.body) {
      const auto* read = std::get_if<atom>(&part);
      if (!by_assignment || read == nullptr || !is_member(read->relation)) continue;
      if (leaves_unnamed(*read, folded.body, rule.variables))
        refuse(read->span, "A recursive count or sum over several atoms needs names for all columns and fields here");
    }
    if (folded.op != fold_op::count && sign_of(program_, folded.body, folded.target) == known_sign::none) {
      refuse(folded.span, "The summed value is not known to be positive; test the value in the body of the aggregate");
    }
    const bool is_bounded = std::any_of(rule.body.begin(), rule.body.end(), [&](const literal& part) {
      const auto* test = std::get_if<constraint>(&part);
      if (test == nullptr) return false;
      for (const bool turned : {false, true}) {
        if (!are_same(rule, turned ? test->right : test->left, folded.result)) continue;
        const movement left = turned ? movement::stays : movement::rises;
        const movement right = turned ? movement::rises : movement::stays;
        const known_sign bound = sign_of(program_, rule.body, turned ? test->left : test->right);
        if (test->is_equality() || !goes_on_to_hold(test->op, left, right)) continue;
        if (bound == known_sign::positive || (bound == known_sign::not_negative && is_strict(test->op))) return true;
      }
      return false;
    });
    if (!is_bounded) {
      refuse(folded.span,
             "A recursive count or sum needs a comparison with a positive lower bound, such as n > 0 or n >= 1");
    }
  }

  void examine_head(const rule& rule, const variables& known) {
    const auto value = values_.find(rule.head.relation);
    for (std::uint32_t column = 0; column < rule.head.arguments.size(); ++column) {
      const movement moved = moves(rule, rule.head.arguments[column], known);
      if (moved == movement::stays) continue;
      const std::string& name = program_[rule.head.relation].name;
      if (value == values_.end()) {
        refuse(rule.head.span, "Relation " + name +
                                   " would keep values that are not final: no column of it is the result of a min or "
                                   "max aggregate by itself");
      } else if (value->second.column != column) {
        refuse(rule.head.span,
               "A value that is not final is in another column of relation " + name + " than the aggregate's result");
      } else if (moved != value->second.moves()) {
        refuse(rule.head.span, "The value in the head may get worse when a value that it depends on gets better");
      } else if (!is_no_better(rule, rule.head.arguments[column], known)) {
        values_may_improve_ = true;
      }
    }
  }

  /// Returns whether the best value is final as soon as it is derived, as in Dijkstra's algorithm: the form of the rule
  /// shows that no better value can be derived from it. The check assumes that variables are not negative. If the form
  /// of the rule is inconclusive, the check assumes sums that grow: minima (costs) then get worse and maxima (gains)
  /// get better.
  [[nodiscard]] bool is_no_better(const rule& rule, const expression& value, const variables& known) const {
    const movement moved = moves(rule, value, known);
    if (moved == movement::stays) return true;
    if (value.is_variable()) {
      const auto made_of = known.defined_as.find(value.variable);
      return made_of == known.defined_as.end() || is_no_better(rule, *made_of->second, known);
    }
    const std::vector<expression>& arguments = value.arguments;
    if (!std::all_of(arguments.begin(), arguments.end(),
                     [&](const expression& one) { return is_no_better(rule, one, known); }))
      return false;
    const bool is_least = moved == movement::falls;
    const auto is_any = [&](const auto& condition) {
      return std::any_of(arguments.begin(), arguments.end(), condition);
    };
    switch (value.op) {
      case scalar_op::copy:
      case scalar_op::number_to_float:
      case scalar_op::unsigned_to_float:
      case scalar_op::float_to_number:
      case scalar_op::negate_number:
      case scalar_op::negate_float:
      case scalar_op::min_number:
      case scalar_op::min_unsigned:
      case scalar_op::min_float:
        return true;
      case scalar_op::add_number:
      case scalar_op::add_float:
        if (is_least) return !is_any([&](const expression& one) { return sign_of_constant(program_, one) < 0; });
        return is_any([&](const expression& one) { return one.is_constant() && sign_of_constant(program_, one) <= 0; });
      case scalar_op::subtract_number:
      case scalar_op::subtract_float:
        if (is_least) return sign_of_constant(program_, arguments[1]) <= 0;
        return stays(rule, arguments[1], known) && sign_of_constant(program_, arguments[1]) >= 0;
      case scalar_op::multiply_float:
        return is_least || is_any([&](const expression& one) {
                 return one.is_constant() && std::abs(number_of_constant(program_, one)) <= 1;
               });
      default:
        return is_least;
    }
  }

  program& program_;
  const std::vector<std::uint32_t>& cycle_of_;
  std::uint32_t number_;
  std::vector<rule*> rules_;
  std::map<relation_id, value_column> values_;
  bool values_may_improve_ = false;  ///< some rule may derive a better value than the value read
  std::optional<aggregate_refusal> refusal_;
};

/// Returns whether an aggregate of the body reads a relation in the cycle of the rule's head.
bool has_recursive_aggregate(const rule& rule, const std::vector<literal>& body, bool in_aggregate,
                             const std::vector<std::uint32_t>& cycle_of) {
  return std::any_of(body.begin(), body.end(), [&](const literal& part) {
    if (const auto* one = std::get_if<atom>(&part))
      return in_aggregate && cycle_of[one->relation.value] == cycle_of[rule.head.relation.value];
    const auto* folded = std::get_if<aggregate>(&part);
    return folded != nullptr && has_recursive_aggregate(rule, folded->body, true, cycle_of);
  });
}

}  // namespace

std::map<std::uint32_t, aggregate_refusal> unfold_recursive_aggregates(program& program,
                                                                       const std::vector<std::uint32_t>& cycle_of) {
  std::set<std::uint32_t> numbers;
  for (const rule& one : program.rules) {
    if (has_recursive_aggregate(one, one.body, false, cycle_of)) numbers.insert(cycle_of[one.head.relation.value]);
  }
  for (std::uint32_t number = 0; number < program.relations.size(); ++number) {
    if (!program.relations[number].subsumptions.empty()) numbers.insert(cycle_of[number]);
  }
  std::map<std::uint32_t, aggregate_refusal> refusals;
  for (const std::uint32_t number : numbers) {
    cycle found(program, cycle_of, number);
    if (auto refusal = found.examine()) {
      refusals.emplace(number, std::move(*refusal));
    } else {
      found.rewrite();
    }
  }
  return refusals;
}

}  // namespace gpulog::sema
