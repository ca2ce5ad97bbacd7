#include "sema/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sema/numeric_literal.hpp"

namespace gpulog::sema {

namespace {

expression constant_of(value_kind kind, word value, const source_span& span) {
  expression result;
  result.what = expression::form::constant;
  result.kind = kind;
  result.constant = value;
  result.span = span;
  return result;
}

expression operation_of(scalar_op op, value_kind kind, std::vector<expression> arguments, const source_span& span) {
  expression result;
  result.what = expression::form::operation;
  result.kind = kind;
  result.op = op;
  result.arguments = std::move(arguments);
  result.span = span;
  return result;
}

comparison_op typed_comparison(syntax::constraint_op op, value_kind kind) {
  using syntax::constraint_op;
  const auto choose = [&](comparison_op number, comparison_op unsigned_number, comparison_op floating,
                          comparison_op symbol) {
    switch (kind) {
      case value_kind::unsigned_number:
        return unsigned_number;
      case value_kind::floating:
        return floating;
      case value_kind::symbol:
        return symbol;
      default:
        return number;
    }
  };
  using c = comparison_op;
  switch (op) {
    case constraint_op::equal:
      return kind == value_kind::floating ? c::equal_float : c::equal;
    case constraint_op::not_equal:
      return kind == value_kind::floating ? c::not_equal_float : c::not_equal;
    case constraint_op::less:
      return choose(c::less_number, c::less_unsigned, c::less_float, c::less_symbol);
    case constraint_op::less_equal:
      return choose(c::less_equal_number, c::less_equal_unsigned, c::less_equal_float, c::less_equal_symbol);
    case constraint_op::greater:
      return choose(c::greater_number, c::greater_unsigned, c::greater_float, c::greater_symbol);
    case constraint_op::greater_equal:
      return choose(c::greater_equal_number, c::greater_equal_unsigned, c::greater_equal_float,
                    c::greater_equal_symbol);
    case constraint_op::match:
      return c::matches;
    case constraint_op::not_match:
      return c::not_matches;
    case constraint_op::contains:
      return c::contains;
    case constraint_op::not_contains:
      return c::not_contains;
  }
  return c::equal;
}

class clause_lowering {
 public:
  clause_lowering(const flat_clause& clause, const clause_types& types, symbol_numbers& symbols)
      : clause_(clause), types_(types), symbols_(symbols) {}

  std::optional<rule> run() {
    rule_.span = clause_.clause->span;
    rule_.head = lower_head();
    bool can_fire = true;
    for (std::size_t position = 0; position < clause_.body->size(); ++position) {
      can_fire &= lower_literal((*clause_.body)[position], clause_.body_relations[position]);
    }
    if (!can_fire) return std::nullopt;
    return std::move(rule_);
  }

 private:
  atom lower_head() {
    atom result;
    result.relation = clause_.head_relation;
    result.span = clause_.head->span;
    for (const syntax::argument& argument : clause_.head->arguments) result.arguments.push_back(lower_term(argument));
    return result;
  }

  /// False when the literal never holds.
  bool lower_literal(const flat_literal& flat, relation_id relation) {
    const syntax::literal& literal = *flat.literal;
    if (const auto* boolean = literal.as<syntax::boolean_constant>()) return boolean->value != flat.negated;
    if (const auto* test = literal.as<syntax::constraint>()) {
      const syntax::constraint_op op = flat.negated ? syntax::negated(test->op) : test->op;
      rule_.body.emplace_back(constraint{typed_comparison(op, types_.kind(test->left)), lower_term(test->left),
                                         lower_term(test->right), literal.span});
      return true;
    }
    lower_atom(*literal.as<syntax::atom>(), relation, flat.negated);
    return true;
  }

  void lower_atom(const syntax::atom& written, relation_id relation, bool negated) {
    atom result;
    result.relation = relation;
    result.negated = negated;
    result.span = written.span;
    for (const syntax::argument& argument : written.arguments) {
      expression value = lower_term(argument);
      if (value.is_operation()) value = name_value(std::move(value));
      result.arguments.push_back(std::move(value));
    }
    rule_.body.emplace_back(std::move(result));
  }

  /// A new variable that stands for the value, with the equality that binds it.
  expression name_value(expression value) {
    const std::uint32_t number = static_cast<std::uint32_t>(rule_.variables.size());
    rule_.variables.push_back({fmt::format("@{}", number), value.kind});
    expression result;
    result.what = expression::form::variable;
    result.kind = value.kind;
    result.variable = number;
    result.span = value.span;
    const source_span span = value.span;
    const comparison_op op = value.kind == value_kind::floating ? comparison_op::equal_float : comparison_op::equal;
    rule_.body.emplace_back(constraint{op, result, std::move(value), span});
    return result;
  }

  expression lower_term(const syntax::argument& term) {
    if (const auto* variable = term.as<syntax::variable>()) return lower_variable(variable->name, term.span);
    if (const auto* number = term.as<syntax::numeric_constant>()) {
      const value_kind kind = types_.kind(term);
      return constant_of(kind, literal_value(*number, kind).value_or(0), term.span);
    }
    if (const auto* text = term.as<syntax::string_constant>()) {
      return constant_of(value_kind::symbol, symbols_.number(text->value), term.span);
    }
    if (const auto* call = term.as<syntax::functor_call>()) return lower_call(term, *call);
    if (const auto* cast = term.as<syntax::type_cast>()) {
      expression value = lower_term(*cast->value);
      value.kind = types_.kind(term);
      return value;
    }
    expression unnamed;
    unnamed.kind = types_.kind(term);
    unnamed.span = term.span;
    return unnamed;
  }

  expression lower_variable(const std::string& name, const source_span& span) {
    const auto [found, inserted] = variables_.emplace(name, static_cast<std::uint32_t>(rule_.variables.size()));
    const value_kind kind = types_.kind_of_variable(name);
    if (inserted) rule_.variables.push_back({name, kind});
    expression result;
    result.what = expression::form::variable;
    result.kind = kind;
    result.variable = found->second;
    result.span = span;
    return result;
  }

  expression lower_call(const syntax::argument& term, const syntax::functor_call& call) {
    const functor_overload& overload = types_.overload(term);
    std::vector<expression> arguments;
    for (const syntax::argument& argument : call.arguments) arguments.push_back(lower_term(argument));
    switch (overload.how) {
      case lowering::direct:
        return operation_of(overload.op, overload.result, std::move(arguments), term.span);
      case lowering::fold: {
        expression result = std::move(arguments.front());
        for (std::size_t position = 1; position < arguments.size(); ++position) {
          result = operation_of(overload.op, overload.result, {std::move(result), std::move(arguments[position])},
                                term.span);
        }
        return result;
      }
      case lowering::retype:
        break;
    }
    arguments.front().kind = overload.result;
    return std::move(arguments.front());
  }

  const flat_clause& clause_;
  const clause_types& types_;
  symbol_numbers& symbols_;
  rule rule_;
  std::unordered_map<std::string, std::uint32_t> variables_;
};

}  // namespace

word symbol_numbers::number(const std::string& text) {
  const auto [found, inserted] = numbers_.emplace(text, static_cast<word>(symbols_.size()));
  if (inserted) symbols_.push_back(text);
  return found->second;
}

std::optional<rule> lower(const flat_clause& clause, const clause_types& types, symbol_numbers& symbols) {
  return clause_lowering(clause, types, symbols).run();
}

std::optional<fact> lower_plain_fact(const syntax::atom& head, relation_id relation,
                                     const std::vector<attribute>& columns, symbol_numbers& symbols) {
  if (head.arguments.size() != columns.size()) return std::nullopt;
  const auto fits = [](const syntax::argument& argument, value_kind kind) {
    if (argument.as<syntax::string_constant>() != nullptr) return kind == value_kind::symbol;
    const auto* number = argument.as<syntax::numeric_constant>();
    return number != nullptr && literal_value(*number, kind).has_value();
  };
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (!fits(head.arguments[column], columns[column].kind)) return std::nullopt;
  }
  fact result;
  result.relation = relation;
  result.span = head.span;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const syntax::argument& argument = head.arguments[column];
    const auto* text = argument.as<syntax::string_constant>();
    result.values.push_back(text != nullptr
                                ? symbols.number(text->value)
                                : *literal_value(*argument.as<syntax::numeric_constant>(), columns[column].kind));
  }
  return result;
}

}  // namespace gpulog::sema
