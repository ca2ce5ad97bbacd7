#include "plan/passes/bodies/repetitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "plan/planning.hpp"
#include "plan/rules/stratum_rules.hpp"

namespace gpulog::plan {
namespace {

using repetition_key = std::vector<std::uint64_t>;

constexpr std::uint64_t not_numbered = std::numeric_limits<std::uint64_t>::max();

/// Numbers variables in the order of their first occurrence.
class variable_numbers {
 public:
  explicit variable_numbers(std::size_t count) : numbers_(count, not_numbered) {}

  [[nodiscard]] std::uint64_t operator[](std::uint32_t variable) const { return numbers_[variable]; }
  void meet(std::uint32_t variable) {
    if (numbers_[variable] == not_numbered) numbers_[variable] = next_++;
  }

 private:
  std::vector<std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
};

void append(repetition_key& to, const sema::expression& tree, const variable_numbers& numbers) {
  to.push_back(static_cast<std::uint64_t>(tree.what) << 32 | static_cast<std::uint64_t>(tree.kind) << 16 |
               static_cast<std::uint64_t>(tree.op));
  if (tree.is_variable()) to.push_back(numbers[tree.variable]);
  if (tree.is_constant()) to.push_back(tree.constant);
  to.push_back(tree.arguments.size());
  for (const sema::expression& argument : tree.arguments) append(to, argument, numbers);
}

repetition_key literal_key(const body_atom& atom, const variable_numbers& numbers) {
  repetition_key result{atom.relation.value};
  for (const term& argument : atom.arguments) {
    result.push_back(static_cast<std::uint64_t>(argument.what));
    if (argument.is_variable()) result.push_back(numbers[argument.value]);
    if (argument.is_constant()) result.push_back(argument.literal);
  }
  return result;
}

repetition_key literal_key(const condition& test, const variable_numbers& numbers) {
  repetition_key result{static_cast<std::uint64_t>(test.op)};
  append(result, test.left, numbers);
  append(result, test.right, numbers);
  return result;
}

/// Returns the identity numbering.
variable_numbers own_numbers(const normalized_rule& rule) {
  variable_numbers numbers(rule.variables.size());
  for (std::uint32_t variable = 0; variable < rule.variables.size(); ++variable) numbers.meet(variable);
  return numbers;
}

template <class Literal>
void drop_repeated(std::vector<Literal>& literals, const variable_numbers& numbers) {
  if (literals.size() < 2) return;
  std::set<repetition_key> seen;
  std::erase_if(literals, [&](const Literal& one) { return !seen.insert(literal_key(one, numbers)).second; });
}

bool counts(const sema::expression& tree) {
  return (tree.is_operation() && tree.op == scalar_op::next_counter) ||
         std::any_of(tree.arguments.begin(), tree.arguments.end(), counts);
}

bool counts(const condition& test) { return counts(test.left) || counts(test.right); }

template <class Literal>
void append_sorted(repetition_key& to, const std::vector<Literal>& literals, const variable_numbers& numbers) {
  std::vector<repetition_key> keys;
  for (const Literal& one : literals) keys.push_back(literal_key(one, numbers));
  std::sort(keys.begin(), keys.end());
  to.push_back(keys.size());
  for (const repetition_key& one : keys) to.insert(to.end(), one.begin(), one.end());
}

/// Appends the atoms in an order that mostly does not depend on the written order: repeatedly the smallest atom by its
/// constants and numbered variables. Placing an atom numbers its remaining variables.
void append_atoms(repetition_key& to, const normalized_rule& rule, variable_numbers& numbers) {
  std::vector<repetition_key> keys;
  std::set<std::pair<repetition_key, std::size_t>> waiting;
  std::vector<std::vector<std::size_t>> atoms_with(rule.variables.size());
  for (std::size_t atom = 0; atom < rule.atoms.size(); ++atom) {
    keys.push_back(literal_key(rule.atoms[atom], numbers));
    waiting.emplace(keys.back(), atom);
    for (const term& argument : rule.atoms[atom].arguments) {
      if (argument.is_variable() && numbers[argument.value] == not_numbered) atoms_with[argument.value].push_back(atom);
    }
  }
  to.push_back(waiting.size());
  while (!waiting.empty()) {
    const std::size_t next = waiting.begin()->second;
    waiting.erase(waiting.begin());
    for (const term& argument : rule.atoms[next].arguments) {
      if (!argument.is_variable() || numbers[argument.value] != not_numbered) continue;
      numbers.meet(argument.value);
      for (const std::size_t atom : atoms_with[argument.value]) {
        if (waiting.erase({keys[atom], atom}) == 0) continue;
        keys[atom] = literal_key(rule.atoms[atom], numbers);
        waiting.emplace(keys[atom], atom);
      }
    }
    const repetition_key placed = literal_key(rule.atoms[next], numbers);
    to.insert(to.end(), placed.begin(), placed.end());
  }
}

}  // namespace

void drop_repeated_literals(normalized_rule& rule) {
  const variable_numbers numbers = own_numbers(rule);
  if (rule.plans.empty()) drop_repeated(rule.atoms, numbers);
  drop_repeated(rule.negations, numbers);
  if (std::none_of(rule.conditions.begin(), rule.conditions.end(),
                   [](const condition& test) { return counts(test); })) {
    drop_repeated(rule.conditions, numbers);
  }
}

std::optional<std::vector<std::uint64_t>> rule_key(const normalized_rule& rule) {
  if (!rule.aggregations.empty() || !rule.generations.empty() || !rule.plans.empty()) return std::nullopt;
  const auto each_counts = [](const auto& one) { return counts(one); };
  if (std::any_of(rule.head_arguments.begin(), rule.head_arguments.end(), each_counts)) return std::nullopt;
  if (std::any_of(rule.conditions.begin(), rule.conditions.end(), each_counts)) return std::nullopt;
  variable_numbers numbers(rule.variables.size());
  std::vector<std::uint32_t> variables;
  for (const sema::expression& argument : rule.head_arguments) append_variables(argument, variables);
  for (const std::uint32_t variable : variables) numbers.meet(variable);
  repetition_key result{rule.head.value};
  for (const sema::expression& argument : rule.head_arguments) append(result, argument, numbers);
  append_atoms(result, rule, numbers);
  // Variables that no atom binds are numbered in the written order of the conditions.
  for (const condition& test : rule.conditions) {
    std::vector<std::uint32_t> defined;
    append_variables(test.left, defined);
    append_variables(test.right, defined);
    for (const std::uint32_t variable : defined) numbers.meet(variable);
  }
  append_sorted(result, rule.negations, numbers);
  append_sorted(result, rule.conditions, numbers);
  return result;
}

std::size_t drop_repeated_rules(std::vector<normalized_rule>& rules) {
  if (rules.size() < 2) return 0;
  std::set<repetition_key> seen;
  return std::erase_if(rules, [&seen](const normalized_rule& rule) {
    std::optional<repetition_key> own = rule_key(rule);
    return own && !seen.insert(std::move(*own)).second;
  });
}

void drop_repeated_rules_of(planning& shared, stratum_rules& stratum) {
  const std::size_t dropped = drop_repeated_rules(stratum.plain);
  if (dropped == 0) return;
  shared.remark(
      fmt::format("{} rules of {} are repetitions, omitted", dropped, shared.name_of(stratum.members.front())));
}

}  // namespace gpulog::plan
