#include "plan/passes/bodies/late_materialization.hpp"

#include <algorithm>

namespace gpulog::plan {
namespace {

/// Lists the variables that a step reads, compares or binds.
struct variable_lister {
  const normalized_rule& rule;
  std::vector<std::uint32_t> found;

  void operator()(const read_atom& one) { append_variables(rule.atoms[one.atom], found); }
  void operator()(const read_changed_elements& one) { append_variables(rule.atoms[one.atom], found); }
  void operator()(const reject_atom& one) { append_variables(rule.negations[one.negation], found); }
  void operator()(const test_condition& one) {
    append_variables(rule.conditions[one.condition].left, found);
    append_variables(rule.conditions[one.condition].right, found);
  }
  void operator()(const define_variable& one) { append_variables(one.value, found); }
  void operator()(const match_record& one) {
    append_variables(one.record, found);
    append_variables(one.pattern, found);
  }
  void operator()(const fold_matches& one) { append_variables(rule.aggregations[one.aggregation], found); }
  void operator()(const expand_range& one) { append_variables(rule.generations[one.generation], found); }
};

bool uses(const normalized_rule& rule, const step& one, std::uint32_t variable) {
  variable_lister collector{rule, {}};
  std::visit(collector, one.action);
  return std::find(collector.found.begin(), collector.found.end(), variable) != collector.found.end();
}

}  // namespace

void delay_records(const normalized_rule& rule, std::vector<step>& steps) {
  // From last to first, so that a record moves only after the records that use it have moved.
  for (std::size_t place = steps.size(); place-- > 0;) {
    if (auto* folded = std::get_if<fold_matches>(&steps[place].action))
      delay_records(rule.aggregations[folded->aggregation].body, folded->body);
    const auto* made = std::get_if<define_variable>(&steps[place].action);
    if (made == nullptr || !made->value.is_record()) continue;
    std::size_t last = place;
    while (last + 1 < steps.size() && !uses(rule, steps[last + 1], made->variable)) ++last;
    if (last == place) continue;
    steps[place].bindings = steps[last].bindings;
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(place);
    std::rotate(begin, begin + 1, steps.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  }
}

}  // namespace gpulog::plan
