#include "engine/again/program_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "engine/again/affected.hpp"

namespace gpulog::detail {
namespace {

bool are_same(const value_type& left, const value_type& right) {
  return left.kind == right.kind && left.structure == right.structure;
}

bool are_same(const field_type& left, const field_type& right) {
  return left.name == right.name && are_same(left.type, right.type);
}

bool are_same(const branch_type& left, const branch_type& right);
bool are_same(const sema::attribute& left, const sema::attribute& right);
bool are_same(const sema::io_directive& left, const sema::io_directive& right);
bool are_same(const sema::relation::lattice_attribute& left, const sema::relation::lattice_attribute& right);
bool are_same(const sema::expression& left, const sema::expression& right);
bool are_same(const sema::literal& left, const sema::literal& right);
bool are_same(const sema::variable& left, const sema::variable& right);
bool are_same(const sema::execution_order& left, const sema::execution_order& right);

template <class Part>
bool are_all_same(const std::vector<Part>& left, const std::vector<Part>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Part& one, const Part& other) { return are_same(one, other); });
}

bool are_same(const branch_type& left, const branch_type& right) {
  return left.name == right.name && are_all_same(left.fields, right.fields);
}

bool are_same(const structure_type& left, const structure_type& right) {
  return left.name == right.name && are_all_same(left.fields, right.fields) &&
         are_all_same(left.branches, right.branches);
}

bool are_same(const user_functor& left, const user_functor& right) {
  return left.name == right.name && left.parameters == right.parameters && left.result == right.result &&
         left.stateful == right.stateful;
}

bool are_same(const sema::attribute& left, const sema::attribute& right) {
  return left.name == right.name && left.type_name == right.type_name && left.kind == right.kind &&
         left.structure == right.structure;
}

bool are_same(const sema::io_directive& left, const sema::io_directive& right) {
  return left.kind == right.kind && left.parameters == right.parameters;
}

bool are_same(const sema::relation::lattice_attribute& left, const sema::relation::lattice_attribute& right) {
  return left.column == right.column && left.least_upper_bound == right.least_upper_bound;
}

/// Compares everything except rules.
bool are_declared_alike(const sema::relation& left, const sema::relation& right) {
  return left.name == right.name && are_all_same(left.attributes, right.attributes) &&
         left.structure == right.structure && left.is_query == right.is_query && left.is_inline == right.is_inline &&
         left.is_magic == right.is_magic && left.is_not_magic == right.is_not_magic &&
         left.choice_domains == right.choice_domains && left.size_limit == right.size_limit &&
         are_all_same(left.lattices, right.lattices) && are_all_same(left.directives, right.directives);
}

template <class Part>
bool begins_with(const std::vector<Part>& all, const std::vector<Part>& first) {
  return all.size() >= first.size() &&
         std::equal(first.begin(), first.end(), all.begin(),
                    [](const Part& one, const Part& other) { return are_same(one, other); });
}

// Compares rules structurally, independent of the text. Constants have the numbers of the same engine, and relations
// the numbers of the same list.

bool are_same(const sema::expression& left, const sema::expression& right) {
  return left.what == right.what && left.kind == right.kind && left.variable == right.variable &&
         left.constant == right.constant && left.op == right.op && are_all_same(left.arguments, right.arguments);
}

bool are_same(const sema::atom& left, const sema::atom& right) {
  return left.relation == right.relation && left.negated == right.negated &&
         are_all_same(left.arguments, right.arguments);
}

bool are_same(const sema::constraint& left, const sema::constraint& right) {
  return left.op == right.op && are_same(left.left, right.left) && are_same(left.right, right.right);
}

bool are_same(const sema::generator& left, const sema::generator& right) {
  return left.kind == right.kind && are_same(left.result, right.result) &&
         are_all_same(left.arguments, right.arguments);
}

bool are_same(const sema::aggregate& left, const sema::aggregate& right) {
  return left.op == right.op && left.functor == right.functor && left.initial == right.initial &&
         are_same(left.result, right.result) && are_same(left.target, right.target) &&
         are_all_same(left.body, right.body) && left.injected == right.injected && left.grows == right.grows;
}

bool are_same(const sema::literal& left, const sema::literal& right) {
  if (left.index() != right.index()) return false;
  return std::visit(
      [&right]<class Part>(const Part& part) {
        const Part& other = std::get<Part>(right);
        return are_same(part, other);
      },
      left);
}

bool are_same(const sema::variable& left, const sema::variable& right) { return left.kind == right.kind; }

bool are_same(const sema::execution_order& left, const sema::execution_order& right) {
  return left.version == right.version && left.order == right.order;
}

bool are_same(const sema::rule& left, const sema::rule& right) {
  return are_same(left.head, right.head) && are_all_same(left.body, right.body) &&
         are_all_same(left.variables, right.variables) && are_all_same(left.plans, right.plans);
}

bool have_same_rules(const sema::program& next, const sema::program& before, std::size_t number) {
  const sema::relation& now = next.relations[number];
  const sema::relation& then = before.relations[number];
  const auto are_rules = [&](rule_id one, rule_id other) { return are_same(next[one], before[other]); };
  const auto are_subsumptions = [&](std::uint32_t one, std::uint32_t other) {
    return are_same(next.subsumptions[one], before.subsumptions[other]);
  };
  return now.priority_delta == then.priority_delta && now.is_aggregate == then.is_aggregate &&
         std::equal(now.rules.begin(), now.rules.end(), then.rules.begin(), then.rules.end(), are_rules) &&
         std::equal(now.subsumptions.begin(), now.subsumptions.end(), then.subsumptions.begin(),
                    then.subsumptions.end(), are_subsumptions);
}

}  // namespace

bool extends(const sema::program& next, const sema::program& before) {
  const bool has_types = next.words == before.words && next.pragmas == before.pragmas &&
                         begins_with(next.structures, before.structures) && begins_with(next.functors, before.functors);
  if (!has_types || next.relations.size() < before.relations.size() || next.facts.size() < before.facts.size())
    return false;
  for (std::size_t number = 0; number < before.relations.size(); ++number) {
    // The number of a query may be reused.
    if (before.relations[number].is_query) continue;
    // Facts that rules may also derive are stored separately from the rows, and are lost if the relation loses its
    // rules.
    const bool loses_rules = is_plain_input(next.relations[number]) && !is_plain_input(before.relations[number]);
    if (loses_rules || !are_declared_alike(next.relations[number], before.relations[number])) return false;
  }
  return std::equal(before.facts.begin(), before.facts.end(), next.facts.begin(),
                    [](const sema::fact& one, const sema::fact& other) {
                      return one.relation == other.relation && one.values == other.values;
                    });
}

std::vector<bool> with_same_rules(const sema::program& next, const sema::program& before) {
  std::vector<bool> same(next.relations.size());
  for (std::size_t number = 0; number < before.relations.size(); ++number)
    same[number] = !before.relations[number].is_query && have_same_rules(next, before, number);
  return same;
}

}  // namespace gpulog::detail
