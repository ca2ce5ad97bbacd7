#include "plan/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/stratum_rules.hpp"
#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

std::size_t argument_count(scalar_op op) {
  switch (op) {
    case scalar_op::copy:
    case scalar_op::negate_number:
    case scalar_op::negate_float:
    case scalar_op::bit_not:
    case scalar_op::logical_not:
    case scalar_op::number_to_float:
    case scalar_op::unsigned_to_float:
    case scalar_op::float_to_number:
    case scalar_op::float_to_unsigned:
    case scalar_op::string_length:
    case scalar_op::number_to_string:
    case scalar_op::unsigned_to_string:
    case scalar_op::float_to_string:
    case scalar_op::string_to_number:
    case scalar_op::string_to_unsigned:
    case scalar_op::string_to_float:
    case scalar_op::to_lower:
    case scalar_op::to_upper:
    case scalar_op::trim:
      return 1;
    case scalar_op::next_counter:
    case scalar_op::iteration_number:
      return 0;
    case scalar_op::substring:
    case scalar_op::index_of:
    case scalar_op::replace_text:
    case scalar_op::part_of:
      return 3;
    default:
      return 2;
  }
}

class version_checker {
 public:
  version_checker(const program& plan, const rule_version& version, std::vector<std::string>& problems)
      : plan_(plan), version_(version), problems_(problems) {}

  void check() {
    if (version_.operations.empty() || !std::holds_alternative<insert>(version_.operations.back())) {
      fail("does not end in an insert");
    }
    if (version_.slot_names.size() != version_.slot_count || version_.slot_kinds.size() != version_.slot_count) {
      fail("names or kinds of slots are missing");
    }
    for (std::size_t position = 0; position < version_.operations.size(); ++position) {
      const operation& op = version_.operations[position];
      for (const slot_id slot : slots_read(op)) {
        if (!bound_.contains(slot))
          fail(fmt::format("operator {} reads slot {} before it is bound", position, slot.value));
      }
      std::visit([this](const auto& checked) { check(checked); }, op);
      for (const slot_id slot : slots_written(op)) {
        if (slot.value >= version_.slot_count) fail(fmt::format("slot {} is out of range", slot.value));
        bound_.insert(slot);
      }
      if (std::holds_alternative<insert>(op) && position + 1 != version_.operations.size()) {
        fail("an insert is not the last operator");
      }
    }
    if (!bound_outside_.empty()) fail("an aggregate does not end");
    check_loops();
    check_first_matches();
  }

 private:
  void fail(const std::string& problem) { problems_.push_back(fmt::format("{}: {}", version_.text, problem)); }

  [[nodiscard]] std::size_t arity(relation_id id) {
    if (id.value < plan_.relations.size()) return plan_.relations[id.value].kinds.size();
    fail("names a relation that does not exist");
    return 0;
  }

  void check_bindings(relation_id relation, const std::vector<column_binding>& bindings) {
    std::set<slot_id> slots;
    for (const column_binding& binding : bindings) {
      if (binding.column >= arity(relation)) fail(fmt::format("column {} is out of range", binding.column));
      if (!slots.insert(binding.slot).second) fail("an operator binds one slot twice");
    }
  }

  void check_index(relation_id relation, index_id id, std::size_t key_length) {
    if (id.value >= plan_.indexes.size()) return fail("a search has no index");
    const index& used = plan_.indexes[id.value];
    if (used.relation != relation) fail("a search uses the index of another relation");
    if (std::find(used.key_lengths.begin(), used.key_lengths.end(), key_length) == used.key_lengths.end()) {
      fail(fmt::format("index {} is not searched by {} columns", id.value, key_length));
    }
  }

  void check(const scan& op) {
    check_bindings(op.relation, op.bindings);
    if (!op.changed_elements) return;
    const bool is_equivalence =
        op.relation.value < plan_.relations.size() && plan_.relations[op.relation.value].is_equivalence;
    if (!is_equivalence || op.rows != row_part::delta)
      fail("only a delta of an equivalence relation has changed elements");
  }

  void check(const match& op) {
    check_bindings(op.relation, op.bindings);
    if (op.keys.empty()) fail("a match has no keys");
    check_index(op.relation, op.index, op.keys.size());
    if (op.index.value >= plan_.indexes.size()) return;
    const index& used = plan_.indexes[op.index.value];
    const std::set<std::uint32_t> readable = [&] {
      std::set<std::uint32_t> columns(used.payload.begin(), used.payload.end());
      if (!used.key_lengths.empty()) {
        columns.insert(used.order.begin(), used.order.begin() + static_cast<std::ptrdiff_t>(used.key_lengths.back()));
      }
      return columns;
    }();
    for (const column_binding& binding : op.bindings) {
      if (!readable.contains(binding.column)) fail(fmt::format("column {} is not in the payload", binding.column));
    }
    if (!op.others.empty()) check_others(op);
  }

  void check_others(const match& op) {
    if (op.bindings.size() != 1 || op.keys.size() + 1 != arity(op.relation) || op.rows != row_part::all) {
      fail("a search with others does not bind the one column that is no key");
    }
    for (const other_search& other : op.others) {
      check_index(other.relation, other.index, other.keys.size());
      const auto* const test =
          other.test < version_.operations.size() ? std::get_if<exists>(&version_.operations[other.test]) : nullptr;
      const bool asks_the_same = test != nullptr && test->relation == other.relation && !test->negated &&
                                 test->rows == row_part::all && test->keys.size() == other.keys.size() + 1;
      if (!asks_the_same) fail("another search has no test that asks the same");
      if (other.column >= arity(other.relation)) fail(fmt::format("column {} is out of range", other.column));
    }
  }

  void check(const exists& op) {
    if (op.index.valid()) return check_index(op.relation, op.index, op.keys.size());
    if (op.keys.empty()) return;
    if (op.keys.size() != arity(op.relation)) fail("a test of the tuple set does not give all columns");
    if (op.rows != row_part::all) fail("a test of the tuple set does not ask for all rows");
    if (op.relation.value >= plan_.relations.size()) return;
    const relation& tested = plan_.relations[op.relation.value];
    if (!tested.needs_set || tested.loops_distinct) {
      fail("a relation without a set is asked for membership");
    }
  }

  void check(const compute& op) {
    const bool is_open = (op.op == scalar_op::call_functor && !op.arguments.empty()) ||
                         (op.op == scalar_op::concatenate && op.arguments.size() > 1);
    if (!is_open && op.arguments.size() != argument_count(op.op))
      fail("an operation has the wrong number of arguments");
  }

  void check(const filter&) {}

  void check(const generate& op) {
    if (op.arguments.size() != 2 && op.arguments.size() != 3) fail("a range has the wrong number of arguments");
  }

  void check(const fold_begin&) { bound_outside_.push_back(bound_); }

  void check(const fold_end&) {
    if (bound_outside_.empty()) return fail("an aggregate ends that has not begun");
    bound_ = std::move(bound_outside_.back());
    bound_outside_.pop_back();
  }

  void check(const pack&) {}

  void check_first_matches() {
    std::size_t last = 0;
    for (const first_match& one : version_.first_matches) {
      const bool is_inside = one.begin < one.end && one.end < version_.operations.size();
      if (!is_inside || !is_loop(version_.operations[one.begin]) || one.begin <= last) {
        return fail("a first match is out of place");
      }
      last = one.begin;
    }
  }

  void check(const unpack& op) {
    std::set<slot_id> slots;
    for (const field_binding& binding : op.bindings) {
      if (binding.field >= op.arity) fail(fmt::format("field {} is out of range", binding.field));
      if (!slots.insert(binding.slot).second) fail("an operator binds one slot twice");
    }
  }

  void check(const insert& op) {
    if (op.values.size() != arity(op.relation)) fail("an insert does not give all columns");
    if (op.relation != version_.head) fail("inserts into another relation than its head");
  }

  /// A slot that is bound outside a loop over rows and read inside must not be written inside: the next row would read
  /// the new value.
  void check_loops() {
    std::vector<std::size_t> bound_at(version_.slot_count, 0);
    std::size_t depth = 0;
    std::set<slot_id> crossed;
    for (const operation& op : version_.operations) {
      if (is_loop(op)) ++depth;
      for (const slot_id slot : slots_read(op)) {
        if (slot.value < bound_at.size() && bound_at[slot.value] < depth) crossed.insert(slot);
      }
      for (const slot_id slot : slots_written(op)) {
        if (slot.value >= bound_at.size()) continue;
        if (crossed.contains(slot)) fail(fmt::format("slot {} is reused inside a loop that reads it", slot.value));
        bound_at[slot.value] = depth;
      }
    }
  }

  const program& plan_;
  const rule_version& version_;
  std::vector<std::string>& problems_;
  std::set<slot_id> bound_;
  std::vector<std::set<slot_id>> bound_outside_;  ///< bound slots outside each open aggregate
};

void check_indexes(const program& plan, std::vector<std::string>& problems) {
  for (std::size_t number = 0; number < plan.indexes.size(); ++number) {
    const index& checked = plan.indexes[number];
    const auto fail = [&](const char* problem) { problems.push_back(fmt::format("index {}: {}", number, problem)); };
    if (checked.relation.value >= plan.relations.size()) {
      fail("names a relation that does not exist");
      continue;
    }
    const std::size_t arity = plan.relations[checked.relation.value].kinds.size();
    std::vector<std::uint32_t> columns = checked.order;
    std::sort(columns.begin(), columns.end());
    if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) fail("orders by a column twice");
    if (columns.size() != arity || (!columns.empty() && columns.back() >= arity)) fail("is no order of all columns");
    if (checked.key_lengths.empty() || checked.key_lengths.front() == 0 ||
        checked.key_lengths.back() > checked.order.size() ||
        !std::is_sorted(checked.key_lengths.begin(), checked.key_lengths.end(), std::less_equal<>())) {
      fail("has wrong key lengths");
    }
  }
}

}  // namespace

std::vector<std::string> validate(const program& plan) {
  std::vector<std::string> problems;
  check_indexes(plan, problems);
  std::vector<std::size_t> strata_of(plan.relations.size());
  const auto check_phase = [&](const stratum& owner, const phase& checked) {
    for (const rule_version& version : checked.versions) {
      version_checker(plan, version, problems).check();
      if (std::find(owner.relations.begin(), owner.relations.end(), version.head) == owner.relations.end()) {
        problems.push_back(fmt::format("{}: its head is of another stratum", version.text));
      }
    }
    for (const relation_id advanced : checked.advance) {
      if (std::find(owner.relations.begin(), owner.relations.end(), advanced) == owner.relations.end()) {
        problems.push_back("a phase advances a relation of another stratum");
      }
    }
  };
  for (const stratum& checked : plan.strata) {
    for (const relation_id member : checked.relations) {
      if (member.value < strata_of.size()) ++strata_of[member.value];
    }
    check_phase(checked, checked.once);
    for (const phase& repeated : checked.loop) check_phase(checked, repeated);
    if (!checked.recursive && !checked.loop.empty()) problems.push_back("a stratum without recursion has a loop");
  }
  for (std::size_t number = 0; number < strata_of.size(); ++number) {
    if (strata_of[number] != (plan.relations[number].is_left_out ? 0 : 1)) {
      problems.push_back(fmt::format("{} is in {} strata", plan.relations[number].name, strata_of[number]));
    }
  }
  for (const fact_block& facts : plan.facts) {
    if (facts.values.size() != facts.rows * plan.relations[facts.relation.value].kinds.size()) {
      problems.push_back("a block of facts has the wrong number of words");
    }
  }
  return problems;
}

namespace {
void check_rule(const program& plan, const normalized_rule& rule, std::vector<std::string>& problems) {
  const auto fail = [&](const std::string& what) { problems.push_back(fmt::format("{}: {}", rule.text, what)); };
  for (const std::vector<body_atom>* atoms : {&rule.atoms, &rule.negations}) {
    for (const body_atom& atom : *atoms) {
      if (atom.relation.value >= plan.relations.size()) {
        fail("an atom has no relation");
      } else if (atom.arguments.size() != plan.relations[atom.relation.value].kinds.size()) {
        fail(fmt::format("an atom of {} has {} arguments", plan.relations[atom.relation.value].name,
                         atom.arguments.size()));
      }
    }
  }
  std::vector<std::uint32_t> variables;
  for (const body_atom& atom : rule.atoms) append_variables(atom, variables);
  for (const sema::expression& argument : rule.head_arguments) append_variables(argument, variables);
  for (const std::uint32_t variable : variables) {
    if (variable >= rule.variables.size()) fail(fmt::format("there is no variable {}", variable));
  }
}
}  // namespace

std::vector<std::string> validate(const program& plan, const normalized_rule& rule, const rule_scope&) {
  std::vector<std::string> problems;
  check_rule(plan, rule, problems);
  return problems;
}

std::vector<std::string> validate(const program& plan, const stratum_rules& rules) {
  std::vector<std::string> problems;
  for (const std::vector<normalized_rule>* some : {&rules.plain, &rules.other, &rules.patterns}) {
    for (const normalized_rule& rule : *some) check_rule(plan, rule, problems);
  }
  return problems;
}

}  // namespace gpulog::plan
