#include "plan/planning.hpp"

#include <fmt/format.h>

#include <utility>

namespace gpulog::plan {

planning::planning(const sema::program& program_to_plan, const statistics& known_sizes, const options& chosen_options)
    : rewritten(rewrite_source(program_to_plan, known_sizes, chosen_options)),
      source(rewritten.program ? *rewritten.program : program_to_plan),
      known(known_sizes),
      chosen(chosen_options),
      costs(source, known_sizes),
      needed(source.relations.size(), true),
      make_relation([this](relation_id head, std::vector<std::string> names, std::vector<value_kind> kinds) {
        return add_relation_for(head, std::move(names), std::move(kinds));
      }),
      name_of([this](relation_id id) { return result.relations[id.value].name; }),
      patterns(make_relation, name_of),
      restrictions(source, result.relations, make_relation, name_of),
      values(source, known),
      demands(source, known, chosen, costs, values, name_of) {
  result.remarks = rewritten.remarks;
  result.pass_times = rewritten.pass_times;
  add_relations();
  add_facts();
}

void planning::add_relations() {
  for (const sema::relation& declared : source.relations) {
    relation added;
    added.name = declared.name;
    for (const sema::attribute& attribute : declared.attributes) {
      added.attribute_names.push_back(attribute.name);
      added.kinds.push_back(attribute.kind);
    }
    added.size_limit = declared.size_limit.value_or(0);
    added.choice_domains = declared.choice_domains;
    added.is_equivalence = declared.structure == sema::representation::eqrel;
    added.loses_tuples = result.relations.size() < chosen.losing.size() && chosen.losing[result.relations.size()];
    arities.push_back(declared.arity());
    if (added.is_equivalence) equivalences.insert(relation_id(static_cast<std::uint32_t>(result.relations.size())));
    result.relations.push_back(std::move(added));
    if (!declared.made_for.valid()) continue;
    ++made_for_[declared.made_for];
    result.relations[declared.made_for.value].is_asked = true;
  }
}

void planning::add_facts() {
  std::vector<std::size_t> block_of(source.relations.size(), source.facts.size());
  for (const sema::fact& fact : source.facts) {
    std::size_t& block = block_of[fact.relation.value];
    if (block == source.facts.size()) {
      block = result.facts.size();
      result.facts.push_back({fact.relation, {}, 0});
    }
    fact_block& extended = result.facts[block];
    extended.values.insert(extended.values.end(), fact.values.begin(), fact.values.end());
    ++extended.rows;
  }
}

relation_id planning::add_relation_for(relation_id head, std::vector<std::string> attribute_names,
                                       std::vector<value_kind> kinds) {
  const relation_id id(static_cast<std::uint32_t>(result.relations.size()));
  relation added;
  const bool is_own = head.value < source.relations.size() && source[head].made_for.valid();
  const relation_id named_by = is_own ? source[head].made_for : head;
  added.name = fmt::format("{}@{}", result.relations[named_by.value].name, ++made_for_[named_by]);
  added.attribute_names = std::move(attribute_names);
  added.supplementary = true;
  const auto arity = static_cast<std::uint32_t>(kinds.size());
  added.kinds = std::move(kinds);
  arities.push_back(arity);
  costs.add_relation(arity, head);
  result.relations.push_back(std::move(added));
  return id;
}

bool planning::may_make_relations() const {
  const auto pragma = source.pragmas.find("supplementary");
  const bool is_off = pragma != source.pragmas.end() && pragma->second == "off";
  return chosen.makes_relations && !is_off;
}

void planning::plan_before(normalized_rule rule) {
  expect_rows(*this, rule);
  costs.learn_distinct_values(rule);
  before.push_back(std::move(rule));
}

pass_timer::~pass_timer() {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  shared_.result.pass_times[std::string(pass_)] += taken.count();
}

void expect_rows(planning& shared, const normalized_rule& rule) {
  if (rule.atoms.empty()) return shared.costs.set_rows(rule.head, 1);
  double rows = shared.costs.rows(rule.atoms.front().relation, row_part::all);
  for (const body_atom& test : rule.atoms) {
    const auto share = shared.demanded.find(test.relation);
    if (share != shared.demanded.end()) rows *= share->second;
  }
  shared.costs.set_rows(rule.head, rows);
}

}  // namespace gpulog::plan
