#include "plan/passes/demand/right_linear.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sema/print.hpp"
#include "sema/rewriting/expressions.hpp"
#include "sema/stratification.hpp"

namespace gpulog::plan {
namespace {

using sema::expression;

void count_variables(const expression& tree, std::map<std::uint32_t, std::size_t>& uses) {
  if (tree.is_variable()) ++uses[tree.variable];
  for (const expression& argument : tree.arguments) count_variables(argument, uses);
}

void count_variables(const std::vector<sema::literal>& body, std::map<std::uint32_t, std::size_t>& uses) {
  for (const sema::literal& part : body) {
    if (const auto* read = std::get_if<sema::atom>(&part)) {
      for (const expression& argument : read->arguments) count_variables(argument, uses);
    } else if (const auto* test = std::get_if<sema::constraint>(&part)) {
      count_variables(test->left, uses);
      count_variables(test->right, uses);
    } else if (const auto* folded = std::get_if<sema::aggregate>(&part)) {
      count_variables(folded->result, uses);
      count_variables(folded->target, uses);
      count_variables(folded->body, uses);
    } else if (const auto* made = std::get_if<sema::generator>(&part)) {
      count_variables(made->result, uses);
      for (const expression& argument : made->arguments) count_variables(argument, uses);
    }
  }
}

void collect_atoms(const std::vector<sema::literal>& body, relation_id of, std::vector<const sema::atom*>& found) {
  for (const sema::literal& part : body) {
    if (const auto* read = std::get_if<sema::atom>(&part); read != nullptr && read->relation == of)
      found.push_back(read);
    if (const auto* folded = std::get_if<sema::aggregate>(&part)) collect_atoms(folded->body, of, found);
  }
}

/// A rule of the relation, split into the relation's own atom, if any, and the other literals.
struct split_rule {
  const sema::rule* rule = nullptr;
  const sema::atom* own = nullptr;
  std::vector<sema::literal> others;
};

class right_linear_relation {
 public:
  right_linear_relation(const sema::program& source, relation_id id) : source_(source), id_(id) {}

  /// @return whether the relation can be evaluated by steps
  bool find() {
    const sema::relation& relation = source_[id_];
    is_passed_.assign(relation.arity(), true);
    for (const rule_id id : relation.rules) {
      if (!split(source_[id])) return false;
    }
    const bool is_recursive =
        std::any_of(rules_.begin(), rules_.end(), [](const split_rule& one) { return one.own != nullptr; });
    const bool passes_all = std::find(is_passed_.begin(), is_passed_.end(), false) == is_passed_.end();
    const bool passes_none = std::find(is_passed_.begin(), is_passed_.end(), true) == is_passed_.end();
    return is_recursive && !passes_all && !passes_none && !has_other_rows() &&
           std::all_of(rules_.begin(), rules_.end(), [this](const split_rule& one) { return can_begin(one); }) &&
           is_asked_by_constants();
  }

  void turn(sema::program& made) const {
    const sema::relation& original = source_[id_];
    sema::relation steps;
    steps.name = original.name + "@steps";
    for (int side = 0; side < 2; ++side) {
      for (std::uint32_t column = 0; column < original.arity(); ++column) {
        if (!is_passed_[column]) steps.attributes.push_back(original.attributes[column]);
      }
    }
    steps.made_for = id_;
    steps.span = original.span;
    const relation_id added(static_cast<std::uint32_t>(made.relations.size()));
    made.relations.push_back(std::move(steps));
    for (const split_rule& one : rules_) {
      if (one.own == nullptr) {
        add(made, *one.rule);
        sema::rule behind = *one.rule;
        behind.head.arguments = with_start(behind, one.rule->head);
        prepend_steps(behind, added, one.rule->head);
        add(made, std::move(behind));
        continue;
      }
      sema::rule first = *one.rule;
      first.body = one.others;
      first.head.relation = added;
      first.head.arguments = columns_of(one.rule->head);
      append(first.head.arguments, columns_of(*one.own));
      add(made, first);
      sema::rule next = first;
      next.head.arguments = start_of(next, one.rule->head);
      append(next.head.arguments, columns_of(*one.own));
      prepend_steps(next, added, one.rule->head);
      add(made, std::move(next));
    }
  }

 private:
  bool split(const sema::rule& rule) {
    split_rule made{&rule, nullptr, {}};
    for (const sema::literal& part : rule.body) {
      const auto* const read = std::get_if<sema::atom>(&part);
      if (read == nullptr || read->relation != id_) {
        made.others.push_back(part);
      } else if (made.own != nullptr || read->negated) {
        return false;
      } else {
        made.own = read;
      }
    }
    std::vector<const sema::atom*> left;
    collect_atoms(made.others, id_, left);
    if (!left.empty() || !rule.plans.empty()) return false;
    if (made.own != nullptr) find_passed(made);
    rules_.push_back(std::move(made));
    return true;
  }

  /// Clears the columns whose value is not simply passed from the own atom to the head.
  void find_passed(const split_rule& one) {
    std::map<std::uint32_t, std::size_t> uses;
    count_variables(one.rule->body, uses);
    for (const expression& argument : one.rule->head.arguments) count_variables(argument, uses);
    for (std::size_t column = 0; column < is_passed_.size(); ++column) {
      const expression& to = one.rule->head.arguments[column];
      const expression& from = one.own->arguments[column];
      const bool passes =
          to.is_variable() && from.is_variable() && to.variable == from.variable && uses[to.variable] == 2;
      is_passed_[column] = is_passed_[column] && passes;
    }
  }

  /// Returns whether the relation has facts or loaded rows, which no rule derives.
  [[nodiscard]] bool has_other_rows() const {
    return source_[id_].has_directive(sema::directive_kind::input) ||
           std::any_of(source_.facts.begin(), source_.facts.end(),
                       [this](const sema::fact& one) { return one.relation == id_; });
  }

  /// Returns whether the other atoms bind the head's values in columns that are not passed through, and the bound
  /// values of the own atom, so that a step can start there.
  [[nodiscard]] bool can_begin(const split_rule& one) const {
    std::map<std::uint32_t, std::size_t> bound;
    for (const sema::literal& part : one.others) {
      const auto* const read = std::get_if<sema::atom>(&part);
      if (read == nullptr || read->negated) continue;
      for (const expression& argument : read->arguments) count_variables(argument, bound);
    }
    const auto is_plain = [&](const expression& value) {
      if (value.kind == value_kind::floating) return false;  // NaN does not equal itself
      return value.is_constant() || (value.is_variable() && bound.contains(value.variable));
    };
    const std::vector<expression> head = columns_of(one.rule->head);
    if (!std::all_of(head.begin(), head.end(), is_plain)) return false;
    if (one.own == nullptr) return true;
    const std::vector<expression> asked = columns_of(*one.own);
    return std::all_of(asked.begin(), asked.end(), is_plain);
  }

  [[nodiscard]] bool is_asked_by_constants() const {
    std::vector<const sema::atom*> asking;
    for (const sema::rule& rule : source_.rules) {
      if (rule.head.relation != id_) collect_atoms(rule.body, id_, asking);
    }
    for (const sema::rule& rule : source_.subsumptions) collect_atoms(rule.body, id_, asking);
    const auto has_constants = [this](const sema::atom* read) {
      const std::vector<expression> columns = columns_of(*read);
      return std::all_of(columns.begin(), columns.end(), [](const expression& value) { return value.is_constant(); });
    };
    return !asking.empty() && std::all_of(asking.begin(), asking.end(), has_constants);
  }

  /// Returns the arguments in columns that are not passed through.
  [[nodiscard]] std::vector<expression> columns_of(const sema::atom& read) const {
    std::vector<expression> columns;
    for (std::size_t column = 0; column < is_passed_.size(); ++column) {
      if (!is_passed_[column]) columns.push_back(read.arguments[column]);
    }
    return columns;
  }
  static void append(std::vector<expression>& list, const std::vector<expression>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  /// Returns new variables, one per column that is not passed through, for the start of the steps.
  [[nodiscard]] std::vector<expression> start_of(sema::rule& made, const sema::atom& head) const {
    std::vector<expression> start;
    for (const expression& value : columns_of(head)) {
      const auto variable = static_cast<std::uint32_t>(made.variables.size());
      made.variables.push_back({"@" + std::to_string(variable), value.kind});
      start.push_back(sema::variable_of(value.kind, variable));
    }
    return start;
  }
  /// Returns the head's arguments, with the start variables in columns that are not passed through.
  [[nodiscard]] std::vector<expression> with_start(sema::rule& made, const sema::atom& head) const {
    const std::vector<expression> start = start_of(made, head);
    std::vector<expression> arguments = head.arguments;
    auto next = start.begin();
    for (std::size_t column = 0; column < arguments.size(); ++column) {
      if (!is_passed_[column]) arguments[column] = *next++;
    }
    return arguments;
  }
  /// Prepends `steps(start, columns of the head as written)` to the body; `start` are the newest variables.
  void prepend_steps(sema::rule& made, relation_id steps, const sema::atom& written) const {
    sema::atom read;
    read.relation = steps;
    const std::vector<expression> to = columns_of(written);
    const auto first = static_cast<std::uint32_t>(made.variables.size() - to.size());
    for (std::uint32_t number = 0; number < to.size(); ++number)
      read.arguments.push_back(sema::variable_of(to[number].kind, first + number));
    append(read.arguments, to);
    made.body.insert(made.body.begin(), std::move(read));
  }

  static void add(sema::program& made, sema::rule rule) {
    rule.id = rule_id(static_cast<std::uint32_t>(made.rules.size()));
    rule.text = sema::source_text(made, rule);
    made.rules.push_back(std::move(rule));
  }

  const sema::program& source_;
  relation_id id_;
  std::vector<bool> is_passed_;  // by column
  std::vector<split_rule> rules_;
};

}  // namespace

std::optional<linear_program> turn_right_linear(const sema::program& source,
                                                const std::function<bool(relation_id)>& may_change) {
  std::map<relation_id, right_linear_relation> found;
  for (const sema::stratum& one : source.strata) {
    if (!one.recursive || one.relations.size() != 1 || !may_change(one.relations.front())) continue;
    right_linear_relation candidate(source, one.relations.front());
    if (candidate.find()) found.emplace(one.relations.front(), std::move(candidate));
  }
  if (found.empty()) return std::nullopt;
  linear_program result{source, {}};
  result.program.rules.clear();
  for (const sema::rule& rule : source.rules) {
    if (found.contains(rule.head.relation)) continue;
    sema::rule kept = rule;
    kept.id = rule_id(static_cast<std::uint32_t>(result.program.rules.size()));
    result.program.rules.push_back(std::move(kept));
  }
  for (const auto& [relation, candidate] : found) {
    candidate.turn(result.program);
    result.turned.insert(relation);
  }
  static_cast<void>(sema::stratify_again(result.program, sema::further_dependencies(source)));
  return result;
}

}  // namespace gpulog::plan
