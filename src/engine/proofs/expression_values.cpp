#include "engine/proofs/expression_values.hpp"

#include <algorithm>
#include <utility>

#include "kernels/steps/rule_fault.hpp"
#include "kernels/steps/steps.hpp"

namespace gpulog::detail {

using expression_form = sema::expression::form;

bool counts(const sema::expression& e) {
  if (e.is_operation() && (e.op == scalar_op::next_counter || e.op == scalar_op::iteration_number)) return true;
  return std::any_of(e.arguments.begin(), e.arguments.end(), counts);
}

bool expression_values::knows(const sema::expression& e) const {
  if (e.is_unnamed()) return false;
  if (e.is_variable()) return is_bound(e.variable);
  return std::all_of(e.arguments.begin(), e.arguments.end(),
                     [this](const sema::expression& argument) { return knows(argument); });
}

std::optional<word> expression_values::value(const sema::expression& e) {
  switch (e.what) {
    case expression_form::variable:
      return values_[e.variable];
    case expression_form::constant:
      return storage::word_of(e.constant, context_->values.wide_or_none());
    case expression_form::unnamed:
      return std::nullopt;
    case expression_form::operation:
      try {
        return compute(e);
      } catch (const kernels::arithmetic_fault&) {
        return std::nullopt;
      } catch (const kernels::rule_fault&) {
        return std::nullopt;
      }
    case expression_form::record: {
      std::vector<word> fields;
      for (const sema::expression& argument : e.arguments) {
        const auto field = value(argument);
        if (!field) return std::nullopt;
        fields.push_back(*field);
      }
      const word found =
          std::as_const(context_->values.records[static_cast<std::uint32_t>(fields.size())]).find(fields.data());
      return found == storage::nil_record ? std::nullopt : std::optional(found);
    }
  }
  return std::nullopt;
}

std::optional<word> expression_values::compute(const sema::expression& e) {
  std::vector<word> arguments;
  for (const sema::expression& argument : e.arguments) {
    const auto known = value(argument);
    if (!known) return std::nullopt;
    arguments.push_back(*known);
  }
  if (!kernels::is_text_operation(e.op)) return compute_words(e.op, arguments);
  std::vector<const word*> places;
  for (const word& argument : arguments) places.push_back(&argument);
  word result = 0;
  if (e.op == scalar_op::call_functor) {
    context_->functors.table()->call(places, 1, &result);
  } else {
    kernels::part_finder parts;
    kernels::compute_text_tile(e.op, places, 1, &result, context_->values.symbols, parts,
                               context_->values.wide_or_none());
  }
  return result;
}

word expression_values::compute_words(scalar_op op, const std::vector<word>& arguments) const {
  const word last = arguments.back();
  if (!context_->values.wide) {
    word result = 0;
    kernels::compute_tile(op, arguments.data(), &last, 1, &result);
    return result;
  }
  const wide_word left = context_->values.wide->value(arguments.front());
  const wide_word right = context_->values.wide->value(last);
  wide_word result = 0;
  kernels::compute_tile(op, &left, &right, 1, &result);
  return context_->values.wide->code(result);
}

bool expression_values::holds(comparison_op op, word left, word right) const {
  std::uint16_t selected = 0;
  try {
    const bool is_of_words = op <= comparison_op::greater_equal_float;
    if (!context_->values.wide || !is_of_words)
      return kernels::select_tile(op, &left, &right, 1, &context_->values.symbols, &selected) != 0;
    const wide_word wide_left = context_->values.wide->value(left);
    const wide_word wide_right = context_->values.wide->value(right);
    return kernels::select_tile(op, &wide_left, &wide_right, 1, &selected) != 0;
  } catch (const kernels::rule_fault&) {
    return false;
  }
}

bool expression_values::unify(const sema::expression& pattern, word value) {
  if (pattern.is_unnamed()) return true;
  if (pattern.is_variable() && !is_bound(pattern.variable)) {
    bind(pattern.variable, value);
    return true;
  }
  if (!pattern.is_record()) return this->value(pattern) == value;
  const storage::record_table& table = context_->values.records[static_cast<std::uint32_t>(pattern.arguments.size())];
  if (!table.has(value)) return false;
  const word* const fields = table.fields(value);
  for (std::size_t i = 0; i < pattern.arguments.size(); ++i) {
    if (!unify(pattern.arguments[i], fields[i])) return false;
  }
  return true;
}

}  // namespace gpulog::detail
