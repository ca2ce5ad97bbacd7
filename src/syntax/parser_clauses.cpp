#include <charconv>

#include "syntax/parser_state.hpp"

namespace gpulog::syntax {

namespace {

template <class Node>
bool holds(const std::variant<literal, argument>& value) {
  return std::holds_alternative<Node>(value);
}

}  // namespace

item parser::rule() {
  const source_span begin = current_.span;
  std::vector<atom> heads;
  heads.push_back(one_atom());
  if (at(token_kind::less_equal)) {
    take();
    subsumption result{std::move(heads.front()), one_atom(), {}, {}, {}};
    expect(token_kind::if_);
    inner_annotations();
    result.body = body();
    expect(token_kind::dot);
    result.span = since(begin);
    if (current_.kind == token_kind::directive_plan) result.plan = plan();
    return {std::move(result)};
  }
  clause result;
  while (accept(token_kind::comma)) {
    annotations();
    heads.push_back(one_atom());
  }
  result.heads = std::move(heads);
  // Without a body only one head is valid: a fact.
  if (result.heads.size() > 1 || !at(token_kind::dot)) {
    expect(token_kind::if_);
    inner_annotations();
    result.body = body();
  }
  expect(token_kind::dot);
  result.span = since(begin);
  if (!result.body.empty() && current_.kind == token_kind::directive_plan) result.plan = plan();
  return {std::move(result)};
}

std::vector<conjunction> parser::body() { return alternatives_after(one_conjunction()); }

conjunction parser::one_conjunction() { return conjunction_after(term()); }

// The depth of both results is the depth of the deepest literal: the lists themselves are flat.
conjunction parser::conjunction_after(literal first) {
  std::uint32_t deepest = depth_;
  conjunction result;
  result.push_back(std::move(first));
  while (accept(token_kind::comma)) {
    result.push_back(term());
    deepest = std::max(deepest, depth_);
  }
  // Each variable of such a chain of equalities is defined by the one before it.
  if (result.size() > max_nesting_depth) needs_deep_stack_ = true;
  depth_ = deepest;
  return result;
}

std::vector<conjunction> parser::alternatives_after(conjunction first) {
  std::uint32_t deepest = depth_;
  std::vector<conjunction> result;
  result.push_back(std::move(first));
  while (accept(token_kind::semicolon)) {
    result.push_back(one_conjunction());
    deepest = std::max(deepest, depth_);
  }
  depth_ = deepest;
  return result;
}

literal parser::term() {
  auto result = term_or_argument();
  if (literal* found = std::get_if<literal>(&result)) return std::move(*found);
  item_.value_alone = std::get<argument>(result).span;  // an argument that nothing is compared with
  fail();
}

std::variant<literal, argument> parser::term_or_argument() {
  const nesting guard(*this, weight_of_literal);
  const boxed_nesting boxed(*this, weight_of_literal);
  const source_span begin = current_.span;
  switch (current_.kind) {
    case token_kind::exclamation: {
      take();
      literal inner = term();
      set_depth(depth_);
      return literal{negation{std::move(inner)}, since(begin)};
    }
    case token_kind::word_true:
    case token_kind::word_false: {
      const bool value = take().kind == token_kind::word_true;
      depth_ = 1;
      return literal{boolean_constant{value}, begin};
    }
    case token_kind::word_match:
      return prefix_constraint(constraint_op::match);
    case token_kind::word_contains:
      return prefix_constraint(constraint_op::contains);
    case token_kind::identifier: {
      const token_kind next = next_token().kind;
      if (next == token_kind::left_parenthesis || next == token_kind::dot) {
        atom made = one_atom();
        const source_span span = made.span;
        if (const auto op = extension_named(made.name.text)) return atom_or_call(std::move(made), *op);
        return literal{std::move(made), span};
      }
      break;
    }
    case token_kind::left_parenthesis: {
      take();
      auto inner = parenthesized(begin);
      if (holds<literal>(inner)) return inner;
      argument left = operators_after(std::get<argument>(std::move(inner)), 0);
      if (comparison()) return comparison_after(std::move(left), depth_);
      return left;
    }
    default:
      break;
  }
  argument left = expression();
  if (comparison()) return comparison_after(std::move(left), depth_);
  return left;
}

/// Returns an atom whose name is also the name of a functor, or, before an operator, the call.
std::variant<literal, argument> parser::atom_or_call(atom made, functor op) {
  const source_span span = made.span;
  if (!is_at_infix() && !comparison()) {
    may_have_text_tests_ = may_have_text_tests_ || is_test(op);
    return literal{std::move(made), span};
  }
  functor_call call{op, {std::move(made.arguments)}};
  argument left = operators_after({std::move(call), span}, 0);
  if (comparison()) return comparison_after(std::move(left), depth_);
  return left;
}

std::variant<literal, argument> parser::parenthesized(const source_span& begin) {
  auto first = term_or_argument();
  if (argument* value = std::get_if<argument>(&first)) {
    expect(token_kind::right_parenthesis);
    value->span = since(begin);
    return first;
  }
  group made;
  made.alternatives = alternatives_after(conjunction_after(std::get<literal>(std::move(first))));
  set_depth(depth_);
  expect(token_kind::right_parenthesis);
  return literal{std::move(made), since(begin)};
}

std::optional<constraint_op> parser::comparison() {
  if (at(token_kind::equals)) return constraint_op::equal;
  if (at(token_kind::not_equal)) return constraint_op::not_equal;
  if (at(token_kind::less)) return constraint_op::less;
  if (at(token_kind::less_equal)) return constraint_op::less_equal;
  if (at(token_kind::greater)) return constraint_op::greater;
  if (at(token_kind::greater_equal)) return constraint_op::greater_equal;
  return std::nullopt;
}

literal parser::comparison_after(argument left, std::uint32_t left_depth) {
  const source_span begin = left.span;
  const constraint_op op = *comparison();
  take();
  argument right = expression();
  set_depth(std::max(left_depth, depth_));
  return {constraint{op, std::move(left), std::move(right)}, since(begin)};
}

literal parser::prefix_constraint(constraint_op op) {
  const source_span begin = take().span;
  item_.form = begin;
  expect(token_kind::left_parenthesis);
  argument left = expression();
  const std::uint32_t left_depth = depth_;
  expect(token_kind::comma);
  argument right = expression();
  expect(token_kind::right_parenthesis);
  item_.form = {};
  set_depth(std::max(left_depth, depth_));
  return {constraint{op, std::move(left), std::move(right)}, since(begin)};
}

atom parser::one_atom() { return atom_named(expect_qualified_name()); }

atom parser::atom_named(qualified_name name) {
  atom result;
  const source_span begin = name.span;
  result.name = std::move(name);
  expect(token_kind::left_parenthesis);
  result.arguments = arguments_until(token_kind::right_parenthesis);
  result.span = since(begin);
  return result;
}

std::vector<plan_order> parser::plan() {
  take();
  std::vector<plan_order> result;
  do {
    plan_order one;
    const source_span begin = current_.span;
    one.version = plan_number();
    expect(token_kind::colon);
    expect(token_kind::left_parenthesis);
    if (!accept(token_kind::right_parenthesis)) {
      do {
        one.order.push_back(plan_number());
      } while (accept(token_kind::comma));
      expect(token_kind::right_parenthesis);
    }
    one.span = since(begin);
    result.push_back(std::move(one));
  } while (accept(token_kind::comma));
  return result;
}

std::uint32_t parser::plan_number() {
  const token number = expect(token_kind::number);
  std::uint32_t value = 0;
  const char* const end = number.text.data() + number.text.size();
  const auto [rest, fault] = std::from_chars(number.text.data(), end, value);
  if (fault != std::errc() || rest != end) report_.error(number.span, "malformed number in an execution plan");
  return value;
}

}  // namespace gpulog::syntax
