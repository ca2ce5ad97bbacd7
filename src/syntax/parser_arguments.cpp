#include "support/value_table.hpp"
#include "syntax/parser_state.hpp"
#include "syntax/precedence.hpp"

namespace gpulog::syntax {

namespace {

std::optional<functor> infix_of(token_kind kind) {
  static constexpr entry<token_kind, functor> table[] = {
      {token_kind::word_lor, functor::logical_or},
      {token_kind::word_lxor, functor::logical_xor},
      {token_kind::word_land, functor::logical_and},
      {token_kind::word_bor, functor::bit_or},
      {token_kind::word_bxor, functor::bit_xor},
      {token_kind::word_band, functor::bit_and},
      {token_kind::word_bshl, functor::shift_left},
      {token_kind::word_bshr, functor::shift_right},
      {token_kind::word_bshru, functor::shift_right_unsigned},
      {token_kind::plus, functor::add},
      {token_kind::minus, functor::subtract},
      {token_kind::star, functor::multiply},
      {token_kind::slash, functor::divide},
      {token_kind::percent, functor::modulo},
      {token_kind::caret, functor::power},
  };
  return find_in(table, kind);
}

std::optional<functor> function_of(token_kind kind) {
  static constexpr entry<token_kind, functor> table[] = {
      {token_kind::word_cat, functor::cat},
      {token_kind::word_ord, functor::ord},
      {token_kind::word_range, functor::range},
      {token_kind::word_strlen, functor::strlen},
      {token_kind::word_substr, functor::substr},
      {token_kind::word_to_float, functor::to_float},
      {token_kind::word_to_number, functor::to_number},
      {token_kind::word_to_string, functor::to_string},
      {token_kind::word_to_unsigned, functor::to_unsigned},
  };
  return find_in(table, kind);
}

std::optional<aggregate_op> aggregate_of(token_kind kind) {
  static constexpr entry<token_kind, aggregate_op> table[] = {
      {token_kind::word_count, aggregate_op::count}, {token_kind::word_sum, aggregate_op::sum},
      {token_kind::word_min, aggregate_op::min},     {token_kind::word_max, aggregate_op::max},
      {token_kind::word_mean, aggregate_op::mean},
  };
  return find_in(table, kind);
}

bool follows_at_once(const source_span& first, const source_span& second) {
  return first.file == second.file && first.end == second.begin;
}

functor_call applied(functor op, argument first) {
  functor_call result{op, {}};
  result.arguments.push_back(std::move(first));
  return result;
}

functor_call applied(functor op, argument first, argument second) {
  functor_call result = applied(op, std::move(first));
  result.arguments.push_back(std::move(second));
  return result;
}

}  // namespace

argument parser::expression(int least_precedence) {
  const nesting guard(*this, weight_of_argument);
  return operators_after(operand(), least_precedence);
}

bool parser::is_at_infix() const { return infix_of(current_.kind).has_value(); }

argument parser::operators_after(argument left, int least_precedence) {
  while (true) {
    const auto op = infix_of(current_.kind);
    if (!op || precedence(*op) < least_precedence) {
      // Any operator would be valid here, more than a message lists.
      if (!op && least_precedence == 0) {
        for (const token_kind kind : {token_kind::plus, token_kind::minus, token_kind::star, token_kind::slash}) {
          at(kind);
        }
      }
      return left;
    }
    const std::uint32_t left_depth = depth_;
    take();
    argument right = expression(precedence(*op) + (is_right_associative(*op) ? 0 : 1));
    set_depth(std::max(left_depth, depth_));
    const source_span span = join(left.span, right.span);
    left = {applied(*op, std::move(left), std::move(right)), span};
  }
}

bool parser::begins_argument(token_kind kind) const {
  using enum token_kind;
  return is_one_of(kind,
                   {string, identifier, number, unsigned_number, floating, word_iteration, word_autoinc, word_nil,
                    word_as, word_bnot, word_lnot, underscore, dollar, left_bracket, left_parenthesis, at, minus}) ||
         function_of(kind) || aggregate_of(kind);
}

argument parser::operand() {
  const source_span begin = current_.span;
  if (const auto op = function_of(current_.kind)) return call(*op, take().span);
  if (const auto op = aggregate_of(current_.kind)) return aggregation(*op);
  switch (current_.kind) {
    case token_kind::minus:
      return negated_operand();
    case token_kind::word_bnot:
      return prefix_operation(functor::bit_not);
    case token_kind::word_lnot:
      return prefix_operation(functor::logical_not);
    case token_kind::dollar:
      return branch();
    case token_kind::word_as:
      return cast();
    case token_kind::at:
      return user_call();
    case token_kind::left_bracket: {
      take();
      record_constructor made{arguments_until(token_kind::right_bracket)};
      return {std::move(made), since(begin)};
    }
    case token_kind::left_parenthesis: {
      take();
      argument inner = expression();
      expect(token_kind::right_parenthesis);
      inner.span = since(begin);
      return inner;
    }
    default:
      return variable_or_constant();
  }
}

argument parser::variable_or_constant() {
  depth_ = 1;
  switch (current_.kind) {
    case token_kind::identifier: {
      token name = take();
      if (current_.kind == token_kind::left_parenthesis) {
        if (const auto op = extension_named(name.text)) return call(*op, name.span);
      }
      return {variable{std::string(name.text)}, name.span};
    }
    case token_kind::string: {
      token text = take();
      return {string_constant{std::string(text.text)}, text.span};
    }
    case token_kind::number: {
      token number = take();
      return {numeric_constant{std::string(number.text), numeric_form::untyped}, number.span};
    }
    case token_kind::unsigned_number: {
      token number = take();
      return {numeric_constant{std::string(number.text), numeric_form::unsigned_number}, number.span};
    }
    case token_kind::floating: {
      token number = take();
      return {numeric_constant{std::string(number.text), numeric_form::floating}, number.span};
    }
    case token_kind::underscore:
      return {unnamed_variable{}, take().span};
    case token_kind::word_nil:
      return {nil_constant{}, take().span};
    case token_kind::word_autoinc:
    case token_kind::word_iteration: {
      const token word = take();
      expect(token_kind::left_parenthesis);
      expect(token_kind::right_parenthesis);
      if (word.kind == token_kind::word_autoinc) return {counter{}, since(word.span)};
      return {iteration_counter{}, since(word.span)};
    }
    default:
      // The first few of many alternatives, more than a message lists.
      for (const token_kind kind : {token_kind::string, token_kind::identifier, token_kind::number,
                                    token_kind::unsigned_number, token_kind::floating}) {
        at(kind);
      }
      fail();
  }
}

argument parser::negated_operand() {
  const source_span begin = take().span;
  argument inner = expression(power_precedence);
  if (numeric_constant* number = inner.as<numeric_constant>(); number != nullptr && !number->text.starts_with('-')) {
    number->text.insert(number->text.begin(), '-');
    inner.span = since(begin);
    return inner;
  }
  set_depth(depth_);
  return {applied(functor::negate, std::move(inner)), since(begin)};
}

argument parser::prefix_operation(functor op) {
  const source_span begin = take().span;
  argument inner = expression(power_precedence);
  set_depth(depth_);
  return {applied(op, std::move(inner)), since(begin)};
}

std::vector<argument> parser::arguments_until(token_kind close) {
  std::vector<argument> result;
  std::uint32_t deepest = 0;
  if (!accept(close)) {
    do {
      result.push_back(expression());
      deepest = std::max(deepest, depth_);
    } while (accept(token_kind::comma));
    expect(close);
  }
  set_depth(deepest);
  return result;
}

argument parser::call(functor op, const source_span& begin) {
  expect(token_kind::left_parenthesis);
  functor_call made{op, arguments_until(token_kind::right_parenthesis)};
  return {std::move(made), since(begin)};
}

argument parser::branch() {
  const source_span begin = take().span;
  if (current_.kind != token_kind::identifier) {
    depth_ = 1;
    warn(begin, "Deprecated $ symbol was used. Use functor 'autoinc()' instead.", warning_kind::dollar_sign);
    return {counter{}, begin};
  }
  branch_constructor made;
  made.branch = {std::string(take().text), last_span_};
  // A dot after `$A` may also end the clause; the next clause then starts after a blank.
  while (current_.kind == token_kind::dot && next_token().kind == token_kind::identifier) {
    if (!follows_at_once(current_.span, next_token().span)) break;
    take();
    made.branch.text += '.';
    made.branch.text += take().text;
    made.branch.span = since(made.branch.span);
  }
  depth_ = 1;
  if (accept(token_kind::left_parenthesis)) made.fields = arguments_until(token_kind::right_parenthesis);
  return {std::move(made), since(begin)};
}

argument parser::cast() {
  const boxed_nesting boxed(*this, weight_of_argument);
  const source_span begin = take().span;
  expect(token_kind::left_parenthesis);
  argument value = expression();
  set_depth(depth_);
  expect(token_kind::comma);
  qualified_name type = expect_qualified_name();
  expect(token_kind::right_parenthesis);
  return {type_cast{std::move(value), std::move(type)}, since(begin)};
}

argument parser::user_call() {
  const source_span begin = take().span;
  if (at(token_kind::at)) return user_aggregate(begin);
  user_functor_call made;
  made.name = expect_identifier().text;
  expect(token_kind::left_parenthesis);
  made.arguments = arguments_until(token_kind::right_parenthesis);
  return {std::move(made), since(begin)};
}

argument parser::user_aggregate(const source_span& begin) {
  const boxed_nesting boxed(*this, weight_of_argument);
  take();
  aggregate made;
  made.op = aggregate_op::user;
  made.user_name = expect_identifier().text;
  std::vector<argument> targets;
  if (!at(token_kind::colon)) targets = arguments_from({}, 0);
  std::uint32_t deepest = targets.empty() ? 0 : depth_;
  if (targets.size() > 1) report_.error(since(begin), "incorrect expression arity for given aggregate mode");
  expect(token_kind::colon);
  if (!targets.empty()) made.target = std::move(targets.front());
  made.initial = expression();
  deepest = std::max(deepest, depth_);
  expect(token_kind::comma);
  made.body = aggregate_body();
  set_depth(std::max(deepest, depth_));
  return {std::move(made), since(begin)};
}

argument parser::aggregation(aggregate_op op) {
  const boxed_nesting boxed(*this, weight_of_argument);
  const source_span begin = take().span;
  item_.form = begin;
  if (!at(token_kind::left_parenthesis)) {
    std::vector<argument> targets;
    depth_ = 0;
    if (begins_argument(current_.kind)) targets = arguments_from({}, 0);
    return aggregation_after_target(std::move(targets), op, begin);
  }
  // `min(x, y)` is a function, `min (x) + 1 : r(x)` an aggregate.
  const source_span parenthesis = take().span;
  argument first = expression();
  if (at(token_kind::comma)) return minimum_or_maximum_call(std::move(first), op, begin);
  expect(token_kind::right_parenthesis);
  first.span = since(parenthesis);
  first = operators_after(std::move(first), 0);
  std::vector<argument> targets;
  targets.push_back(std::move(first));
  const std::uint32_t deepest = depth_;
  if (accept(token_kind::comma)) {
    targets = arguments_from(std::move(targets), deepest);
  }
  return aggregation_after_target(std::move(targets), op, begin);
}

argument parser::minimum_or_maximum_call(argument first, aggregate_op op, const source_span& begin) {
  functor_call made;
  made.arguments.push_back(std::move(first));
  std::uint32_t deepest = depth_;
  while (accept(token_kind::comma)) {
    made.arguments.push_back(expression());
    deepest = std::max(deepest, depth_);
  }
  expect(token_kind::right_parenthesis);
  item_.form = {};
  set_depth(deepest);
  if (op != aggregate_op::min && op != aggregate_op::max) {
    report_.error(since(begin), "aggregate operation has no functor equivalent")
        .note(hint_about_aggregate_form(spelling(op)));
    return {unnamed_variable{}, since(begin)};
  }
  made.op = op == aggregate_op::min ? functor::min : functor::max;
  return {std::move(made), since(begin)};
}

std::vector<argument> parser::arguments_from(std::vector<argument> targets, std::uint32_t deepest) {
  do {
    targets.push_back(expression());
    deepest = std::max(deepest, depth_);
  } while (accept(token_kind::comma));
  depth_ = deepest;
  return targets;
}

argument parser::aggregation_after_target(std::vector<argument> targets, aggregate_op op, const source_span& begin) {
  const std::uint32_t target_depth = depth_;
  expect(token_kind::colon);
  item_.form = {};
  aggregate made;
  made.op = op;
  made.body = aggregate_body();
  set_depth(std::max(target_depth, depth_));
  if (targets.size() != (op == aggregate_op::count ? 0U : 1U)) {
    report_.error(since(begin), "incorrect expression arity for given aggregate mode")
        .note(hint_about_aggregate_form(spelling(op)));
  }
  if (!targets.empty()) made.target = std::move(targets.front());
  return {std::move(made), since(begin)};
}

std::vector<conjunction> parser::aggregate_body() {
  if (accept(token_kind::left_brace)) {
    std::vector<conjunction> result = body();
    expect(token_kind::right_brace);
    return result;
  }
  if (!at(token_kind::identifier)) fail();
  atom only = one_atom();
  const source_span span = only.span;
  std::vector<conjunction> result(1);
  result.front().push_back({std::move(only), span});
  return result;
}

}  // namespace gpulog::syntax
