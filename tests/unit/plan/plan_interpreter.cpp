#include "plan_interpreter.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/steps/scalar.hpp"
#include "kernels/steps/word_operations.hpp"

namespace gpulog::plan {
namespace {

std::optional<word> apply(scalar_op op, word left, word right) {
  switch (op) {
#define GPULOG_CASE(NAME) \
  case scalar_op::NAME:   \
    return kernels::apply<scalar_op::NAME>(left, right);
    GPULOG_FOR_EACH_WORD_OPERATION(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      return std::nullopt;
  }
}

std::optional<bool> holds(comparison_op op, word left, word right) {
  switch (op) {
#define GPULOG_CASE(NAME)   \
  case comparison_op::NAME: \
    return kernels::holds<comparison_op::NAME>(left, right);
    GPULOG_FOR_EACH_WORD_COMPARISON(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      return std::nullopt;
  }
}

wide_word value_of(const operand& value, const std::vector<wide_word>& slots) {
  return value.is_constant ? value.literal : slots[value.value];
}

std::vector<wide_word> values_of(const std::vector<operand>& operands, const std::vector<wide_word>& slots) {
  std::vector<wide_word> result;
  for (const operand& value : operands) result.push_back(value_of(value, slots));
  return result;
}

}  // namespace

plan_interpreter::plan_interpreter(const program& plan) : plan_(plan), relations_(plan.relations.size()) {}

void plan_interpreter::load(relation_id relation, const tuple& row) {
  stored& target = relations_[relation.value];
  if (target.set.insert(row).second) target.rows.push_back(row);
  target.old = target.end = target.rows.size();
}

void plan_interpreter::insert(relation_id relation, const tuple& row) {
  stored& target = relations_[relation.value];
  ++candidates_;
  ++target.candidates;
  if (target.set.insert(row).second) {
    target.rows.push_back(row);
  } else if (target.is_distinct) {
    repeating_.insert(relation);
  }
}

std::set<plan_interpreter::tuple> plan_interpreter::tuples(relation_id relation) const {
  return relations_[relation.value].set;
}

void plan_interpreter::run() {
  for (const fact_block& facts : plan_.facts) {
    const std::size_t arity = plan_.relations[facts.relation.value].kinds.size();
    for (std::size_t row = 0; row < facts.rows; ++row) {
      const auto begin = facts.values.begin() + static_cast<std::ptrdiff_t>(row * arity);
      load(facts.relation, tuple(begin, begin + static_cast<std::ptrdiff_t>(arity)));
    }
  }
  for (const stratum& current : plan_.strata) {
    for (const relation_id member : current.relations) {
      const relation& planned = plan_.relations[member.value];
      stored& target = relations_[member.value];
      target.is_distinct = (!planned.needs_set || planned.begins_distinct) && target.rows.empty();
    }
    run(current.once);
    for (const relation_id member : current.relations) {
      stored& relation = relations_[member.value];
      relation.is_distinct = false;
      relation.end = relation.rows.size();
      relation.old = current.recursive ? 0 : relation.end;
    }
    const auto any_delta = [&] {
      return std::any_of(current.relations.begin(), current.relations.end(), [this](relation_id member) {
        return relations_[member.value].old != relations_[member.value].end;
      });
    };
    while (current.recursive && any_delta()) {
      for (const phase& repeated : current.loop) {
        run(repeated);
        for (const relation_id advanced : repeated.advance) {
          stored& relation = relations_[advanced.value];
          relation.old = relation.end;
          relation.end = relation.rows.size();
        }
      }
    }
  }
}

void plan_interpreter::run(const phase& phase) {
  for (const rule_version& version : phase.versions) {
    std::vector<wide_word> slots(version.slot_count);
    step(version, 0, slots);
  }
}

template <class Visit>
void plan_interpreter::for_each_row(relation_id relation, row_part rows, Visit&& visit) {
  const std::size_t begin = rows == row_part::delta ? relations_[relation.value].old : 0;
  const std::size_t end = rows == row_part::old ? relations_[relation.value].old : relations_[relation.value].end;
  for (std::size_t number = begin; number < end; ++number) {
    const tuple row = relations_[relation.value].rows[number];  // a copy: inserts may move the rows
    if (!visit(row)) return;
  }
}

bool plan_interpreter::agrees(const tuple& row, index_id index, const std::vector<wide_word>& keys) const {
  const std::vector<std::uint32_t>& order = plan_.indexes[index.value].order;
  for (std::size_t number = 0; number < keys.size(); ++number) {
    if (row[order[number]] != keys[number]) return false;
  }
  return true;
}

void plan_interpreter::step(const rule_version& version, std::size_t position, std::vector<wide_word>& slots) {
  const operation& op = version.operations[position];
  const auto bind = [&](const std::vector<column_binding>& bindings, const tuple& row) {
    for (const column_binding& binding : bindings) slots[binding.slot.value] = row[binding.column];
  };
  if (const auto* all_rows = std::get_if<scan>(&op)) {
    for_each_row(all_rows->relation, all_rows->rows, [&](const tuple& row) {
      bind(all_rows->bindings, row);
      step(version, position + 1, slots);
      return true;
    });
  } else if (const auto* search = std::get_if<match>(&op)) {
    for_each_row(search->relation, search->rows, [&](const tuple& row) {
      // Keys are read again for each row, as an executor with several runs of an index would.
      if (!agrees(row, search->index, values_of(search->keys, slots))) return true;
      bind(search->bindings, row);
      step(version, position + 1, slots);
      return true;
    });
  } else if (const auto* test = std::get_if<exists>(&op)) {
    const tuple keys = values_of(test->keys, slots);
    bool found = false;
    if (!test->index.valid() && !keys.empty()) {
      found = relations_[test->relation.value].set.contains(keys);
    } else {
      for_each_row(test->relation, test->rows, [&](const tuple& row) {
        found = keys.empty() || agrees(row, test->index, keys);
        return !found;
      });
    }
    if (found != test->negated) step(version, position + 1, slots);
  } else if (const auto* computed = std::get_if<compute>(&op)) {
    const word left = static_cast<word>(value_of(computed->arguments.front(), slots));
    const word right = static_cast<word>(value_of(computed->arguments.back(), slots));
    const bool faults = kernels::may_fault(computed->op) && kernels::divides_badly(computed->op, left, right);
    const auto result = faults ? std::nullopt : apply(computed->op, left, right);
    if (!result) {
      gave_up_ = true;
      return;
    }
    slots[computed->result.value] = *result;
    step(version, position + 1, slots);
  } else if (const auto* condition = std::get_if<filter>(&op)) {
    const auto truth = holds(condition->op, static_cast<word>(value_of(condition->left, slots)),
                             static_cast<word>(value_of(condition->right, slots)));
    if (!truth) gave_up_ = true;
    if (truth == true) step(version, position + 1, slots);
  } else if (const auto* inserted = std::get_if<plan::insert>(&op)) {
    insert(inserted->relation, values_of(inserted->values, slots));
  }
}

}  // namespace gpulog::plan
