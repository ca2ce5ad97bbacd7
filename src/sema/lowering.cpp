#include "sema/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sema/numeric_literal.hpp"
#include "sema/rewriting/expressions.hpp"
#include "sema/types/functors.hpp"

namespace gpulog::sema {

namespace {

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
    find_injected();
    return std::move(rule_);
  }

 private:
  atom lower_head() {
    atom result;
    result.relation = clause_.head_relation;
    result.span = clause_.head->span;
    is_in_head_ = true;
    for (const syntax::argument& argument : clause_.head->arguments) result.arguments.push_back(lower_term(argument));
    is_in_head_ = false;
    return result;
  }

  /// Lowers a literal.
  /// @return false if the literal never holds
  bool lower_literal(const flat_literal& flat, relation_id relation) {
    const syntax::literal& literal = *flat.literal;
    if (const auto* boolean = literal.as<syntax::boolean_constant>()) return boolean->value != flat.negated;
    if (const auto* test = literal.as<syntax::constraint>()) {
      const syntax::constraint_op op = flat.negated ? syntax::negated(test->op) : test->op;
      expression left = lower_term(test->left);
      expression right = lower_term(test->right);
      add_constraint({typed_comparison(op, types_.kind(test->left)), std::move(left), std::move(right), literal.span});
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
      result.arguments.push_back(without_structure(std::move(value)));
    }
    body_->emplace_back(std::move(result));
  }

  /// Adds a constraint. Record operands remain only in equalities with variables and constants.
  void add_constraint(constraint added) {
    if (!added.left.is_record() && !added.right.is_record()) {
      body_->emplace_back(std::move(added));
    } else if (added.op != comparison_op::equal) {
      if (added.left.is_record()) added.left = name_value(std::move(added.left));
      if (added.right.is_record()) added.right = name_value(std::move(added.right));
      body_->emplace_back(std::move(added));
    } else if (added.left.is_record() && added.right.is_record()) {
      for (std::size_t field = 0; field < added.left.arguments.size(); ++field) {
        expression& left = added.left.arguments[field];
        expression& right = added.right.arguments[field];
        if (left.is_unnamed() || right.is_unnamed()) continue;
        add_constraint({comparison_op::equal, std::move(left), std::move(right), added.span});
      }
    } else {
      expression& other = added.left.is_record() ? added.right : added.left;
      other = without_structure(std::move(other));
      body_->emplace_back(std::move(added));
    }
  }

  /// Returns the value itself, or a new variable for an operation or record.
  expression without_structure(expression value) {
    return value.is_operation() || value.is_record() ? name_value(std::move(value)) : value;
  }

  expression new_variable(value_kind kind, const source_span& span) {
    const std::uint32_t number = static_cast<std::uint32_t>(rule_.variables.size());
    rule_.variables.push_back({fmt::format("@{}", number), kind});
    return variable_of(kind, number, span);
  }

  /// Lowers an aggregate and returns the variable that holds its result.
  expression lower_aggregate(const syntax::argument& term, const syntax::aggregate& written) {
    const flat_aggregate& flat = clause_.aggregates.at(&written);
    aggregate made;
    made.span = term.span;
    const value_kind kind = types_.kind(term);
    made.op = fold_of(written.op, kind);
    made.held_aggregate = written.held_aggregate;
    made.compares_records = written.compares_records;
    if (written.op == syntax::aggregate_op::user) {
      made.functor = types_.user_functor(written.user_name).number;
      made.initial = lower_term(**written.initial).constant;
    }
    std::vector<literal>* const around = std::exchange(body_, &made.body);
    const bool was_in_head = std::exchange(is_in_head_, false);
    if (written.target && written.op != syntax::aggregate_op::count) made.target = lower_term(**written.target);
    for (std::size_t position = 0; position < flat.body.size(); ++position) {
      if (lower_literal(flat.body[position], flat.relations[position])) continue;
      // The body never holds.
      body_->emplace_back(constraint{comparison_op::equal, constant_of(value_kind::number, 0, term.span),
                                     constant_of(value_kind::number, 1, term.span), term.span});
    }
    body_ = around;
    is_in_head_ = was_in_head;
    made.result = new_variable(kind, term.span);
    expression result = made.result;
    body_->emplace_back(std::move(made));
    return result;
  }

  static fold_op fold_of(syntax::aggregate_op op, value_kind kind) {
    const auto choose = [kind](fold_op number, fold_op unsigned_number, fold_op floating) {
      if (kind == value_kind::floating) return floating;
      return kind == value_kind::unsigned_number ? unsigned_number : number;
    };
    switch (op) {
      case syntax::aggregate_op::sum:
        return choose(fold_op::sum_number, fold_op::sum_number, fold_op::sum_float);
      case syntax::aggregate_op::min:
        return choose(fold_op::min_number, fold_op::min_unsigned, fold_op::min_float);
      case syntax::aggregate_op::max:
        return choose(fold_op::max_number, fold_op::max_unsigned, fold_op::max_float);
      case syntax::aggregate_op::mean:
        return fold_op::mean;
      case syntax::aggregate_op::user:
        return fold_op::functor;
      default:
        return fold_op::count;
    }
  }

  using use_counts = std::unordered_map<std::uint32_t, std::size_t>;

  static void count_uses(const expression& tree, use_counts& uses) {
    if (tree.is_variable()) ++uses[tree.variable];
    for (const expression& argument : tree.arguments) count_uses(argument, uses);
  }

  static void count_uses(const std::vector<literal>& body, use_counts& uses) {
    for (const literal& part : body) {
      if (const auto* one = std::get_if<atom>(&part)) {
        for (const expression& argument : one->arguments) count_uses(argument, uses);
      } else if (const auto* test = std::get_if<constraint>(&part)) {
        count_uses(test->left, uses);
        count_uses(test->right, uses);
      } else if (const auto* made = std::get_if<generator>(&part)) {
        count_uses(made->result, uses);
        for (const expression& argument : made->arguments) count_uses(argument, uses);
      } else if (const auto* nested = std::get_if<aggregate>(&part)) {
        count_uses(nested->result, uses);
        count_inside(*nested, uses);
      }
    }
  }

  static void count_inside(const aggregate& one, use_counts& uses) {
    count_uses(one.target, uses);
    count_uses(one.body, uses);
  }

  /// Finds variables that occur both inside and outside an aggregate.
  void find_injected() {
    const auto has_aggregate = [](const literal& part) { return std::holds_alternative<aggregate>(part); };
    if (std::none_of(rule_.body.begin(), rule_.body.end(), has_aggregate)) return;
    use_counts all;
    for (const expression& argument : rule_.head.arguments) count_uses(argument, all);
    count_uses(rule_.body, all);
    find_injected(rule_.body, all);
  }

  static void find_injected(std::vector<literal>& body, const use_counts& all) {
    for (literal& part : body) {
      auto* one = std::get_if<aggregate>(&part);
      if (one == nullptr) continue;
      use_counts inside;
      count_inside(*one, inside);
      for (const auto& [variable, uses] : inside) {
        if (uses < all.at(variable)) one->injected.push_back(variable);
      }
      std::sort(one->injected.begin(), one->injected.end());
      find_injected(one->body, all);
    }
  }

  /// Introduces a variable for the value and appends the equality that binds the variable.
  expression name_value(expression value) {
    expression result = new_variable(value.kind, value.span);
    const source_span span = value.span;
    const comparison_op op = value.kind == value_kind::floating ? comparison_op::equal_float : comparison_op::equal;
    body_->emplace_back(constraint{op, result, std::move(value), span});
    return result;
  }

  expression lower_term(const syntax::argument& term) {
    if (const auto* variable = term.as<syntax::variable>()) return lower_variable(variable->name, term.span);
    if (const auto* number = term.as<syntax::numeric_constant>()) {
      const value_kind kind = types_.kind(term);
      return constant_of(kind, literal_value(*number, kind, types_.words()).value_or(0), term.span);
    }
    if (const auto* text = term.as<syntax::string_constant>()) {
      return text_constant(text->value, term.span);
    }
    if (term.as<syntax::counter>() != nullptr) {
      return operation_of(scalar_op::next_counter, value_kind::number, {}, term.span);
    }
    if (term.as<syntax::iteration_counter>() != nullptr) {
      return operation_of(scalar_op::iteration_number, value_kind::unsigned_number, {}, term.span);
    }
    if (const auto* call = term.as<syntax::functor_call>()) return lower_call(term, *call);
    if (const auto* call = term.as<syntax::user_functor_call>()) return lower_call(term, *call);
    if (term.as<syntax::nil_constant>() != nullptr) return constant_of(value_kind::record, 0, term.span);
    if (const auto* record = term.as<syntax::record_constructor>()) {
      return record_of(value_kind::record, lower_fields(record->fields), term.span);
    }
    if (const auto* branch = term.as<syntax::branch_constructor>()) return lower_branch(term, *branch);
    if (const auto* aggregate = term.as<syntax::aggregate>()) return lower_aggregate(term, *aggregate);
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

  /// Lowers the fields of a record: nested in a head; in a body, with one equality per record, so that the record can
  /// be matched as well as constructed.
  std::vector<expression> lower_fields(const std::vector<syntax::argument>& written) {
    std::vector<expression> fields;
    for (const syntax::argument& field : written) {
      expression value = lower_term(field);
      fields.push_back(is_in_head_ ? std::move(value) : without_structure(std::move(value)));
    }
    return fields;
  }

  /// Lowers a branch constructor into the representation that structure_type describes.
  expression lower_branch(const syntax::argument& term, const syntax::branch_constructor& constructor) {
    const declarations::known_branch& branch = types_.branch(constructor);
    if (types_.is_enumeration(branch)) {
      expression value = constant_of(value_kind::adt, branch.number, term.span);
      value.structure = types_.structure_of(branch);
      return value;
    }
    std::vector<expression> fields = lower_fields(constructor.fields);
    expression payload = constant_of(value_kind::record, record_without_fields, term.span);
    if (fields.size() == 1) {
      payload = std::move(fields.front());
    } else if (fields.size() > 1) {
      payload = record_of(value_kind::record, std::move(fields), term.span);
      if (!is_in_head_) payload = name_value(std::move(payload));
    }
    expression value = record_of(
        value_kind::adt, {constant_of(value_kind::number, branch.number, term.span), std::move(payload)}, term.span);
    value.structure = types_.structure_of(branch);
    return value;
  }

  expression lower_variable(const std::string& name, const source_span& span) {
    const auto [found, inserted] = variables_.emplace(name, static_cast<std::uint32_t>(rule_.variables.size()));
    const value_kind kind = types_.kind_of_variable(name);
    if (inserted) rule_.variables.push_back({name, kind});
    return variable_of(kind, found->second, span);
  }

  void lower_arguments(const std::vector<syntax::argument>& written, std::vector<expression>& arguments) {
    for (const syntax::argument& argument : written) {
      expression value = lower_term(argument);
      if (value.is_record() && !is_in_head_) value = name_value(std::move(value));
      arguments.push_back(std::move(value));
    }
  }

  expression lower_call(const syntax::argument& term, const syntax::user_functor_call& call) {
    std::vector<expression> arguments;
    arguments.push_back(constant_of(value_kind::number, types_.user_functor(call.name).number, term.span));
    lower_arguments(call.arguments, arguments);
    return operation_of(scalar_op::call_functor, types_.kind(term), std::move(arguments), term.span);
  }

  expression lower_call(const syntax::argument& term, const syntax::functor_call& call) {
    const functor_overload& overload = types_.overload(term);
    std::vector<expression> arguments;
    lower_arguments(call.arguments, arguments);
    switch (overload.how) {
      case lowering::direct:
        if (overload.op == scalar_op::index_of && arguments.size() == 2) {
          arguments.push_back(constant_of(value_kind::number, 0, term.span));
        }
        return operation_of(overload.op, overload.result, std::move(arguments), term.span);
      case lowering::fold: {
        expression result = std::move(arguments.front());
        for (std::size_t position = 1; position < arguments.size(); ++position) {
          result = operation_of(overload.op, overload.result, {std::move(result), std::move(arguments[position])},
                                term.span);
        }
        return result;
      }
      case lowering::join:
        return concatenation_of(std::move(arguments), term.span);
      case lowering::generate:
        return generated(overload.result, std::move(arguments), term.span);
      case lowering::split:
        return lower_split(overload, std::move(arguments), term.span);
      case lowering::format:
        return lower_format(call.arguments.front().as<syntax::string_constant>()->value, std::move(arguments),
                            term.span);
      case lowering::retype:
        break;
    }
    arguments.front().kind = overload.result;
    return std::move(arguments.front());
  }

  /// Adds a range and returns the variable of its values.
  expression generated(value_kind kind, std::vector<expression> arguments, const source_span& span) {
    generator made{kind, new_variable(kind, span), std::move(arguments), span};
    expression result = made.result;
    body_->emplace_back(std::move(made));
    return result;
  }

  /// Lowers split(text, separator, number) to `number = range(0, part_count(text, separator))` and
  /// part_of(text, separator, number).
  expression lower_split(const functor_overload& overload, std::vector<expression> arguments, const source_span& span) {
    for (expression& argument : arguments) argument = without_structure(std::move(argument));
    expression count = operation_of(scalar_op::part_count, value_kind::number, {arguments[0], arguments[1]}, span);
    const expression number =
        generated(value_kind::number, {constant_of(value_kind::number, 0, span), std::move(count)}, span);
    if (arguments.size() == 3 && !arguments[2].is_unnamed()) {
      add_constraint({comparison_op::equal, std::move(arguments[2]), number, span});
    }
    return operation_of(overload.op, overload.result, {std::move(arguments[0]), std::move(arguments[1]), number}, span);
  }

  /// Concatenates texts by one operation: a part of the result that is no text of the program gets no number.
  static expression concatenation_of(std::vector<expression> texts, const source_span& span) {
    if (texts.size() == 1) return std::move(texts.front());
    expression& first = texts.front();
    if (!first.is_operation() || first.op != scalar_op::concatenate) {
      return operation_of(scalar_op::concatenate, value_kind::symbol, std::move(texts), span);
    }
    first.span = span;
    for (std::size_t text = 1; text < texts.size(); ++text) first.arguments.push_back(std::move(texts[text]));
    return std::move(first);
  }

  expression text_constant(const std::string& text, const source_span& span) {
    return constant_of(value_kind::symbol, symbols_.number(text).value, span);
  }

  /// Returns the value as a text, like to_string(value).
  static expression as_text(expression value) {
    const source_span span = value.span;
    switch (value.kind) {
      case value_kind::symbol:
        return value;
      case value_kind::unsigned_number:
        return operation_of(scalar_op::unsigned_to_string, value_kind::symbol, {std::move(value)}, span);
      case value_kind::floating:
        return operation_of(scalar_op::float_to_string, value_kind::symbol, {std::move(value)}, span);
      default:
        return operation_of(scalar_op::number_to_string, value_kind::symbol, {std::move(value)}, span);
    }
  }

  /// Lowers format("a{}b", x) to a concatenation of "a", the text of x, and "b".
  expression lower_format(const std::string& pattern, std::vector<expression> arguments, const source_span& span) {
    const std::vector<std::string> pieces = *pieces_of_format(pattern);
    std::vector<expression> parts;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      if (piece > 0) parts.push_back(as_text(std::move(arguments[piece])));
      if (!pieces[piece].empty()) parts.push_back(text_constant(pieces[piece], span));
    }
    return parts.empty() ? text_constant("", span) : concatenation_of(std::move(parts), span);
  }

  const flat_clause& clause_;
  const clause_types& types_;
  symbol_numbers& symbols_;
  rule rule_;
  std::vector<literal>* body_ = &rule_.body;  ///< the body of the rule or of the current aggregate
  bool is_in_head_ = false;
  std::unordered_map<std::string, std::uint32_t> variables_;
};

}  // namespace

symbol_id symbol_numbers::number(const std::string& text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  symbol_id made(static_cast<std::uint32_t>(program_.symbols.size()));
  if (number_symbol_) {
    made = symbol_id(static_cast<std::uint32_t>(number_symbol_(text)));
    program_.symbols_of_engine.emplace(made.value, text);
  } else {
    program_.symbols.push_back(text);
  }
  return numbers_.emplace(text, made).first->second;
}

std::optional<rule> lower(const flat_clause& clause, const clause_types& types, symbol_numbers& symbols) {
  return clause_lowering(clause, types, symbols).run();
}

std::optional<fact> lower_plain_fact(const syntax::atom& head, relation_id relation,
                                     const std::vector<attribute>& columns, symbol_numbers& symbols, word_size words) {
  if (head.arguments.size() != columns.size()) return std::nullopt;
  const auto fits = [words](const syntax::argument& argument, value_kind kind) {
    if (argument.as<syntax::string_constant>() != nullptr) return kind == value_kind::symbol;
    const auto* number = argument.as<syntax::numeric_constant>();
    if (number == nullptr || !literal_value(*number, kind, words)) return false;
    return kind != value_kind::unsigned_number || !wraps_around(*number, words);
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
    result.values.push_back(
        text != nullptr ? symbols.number(text->value).value
                        : *literal_value(*argument.as<syntax::numeric_constant>(), columns[column].kind, words));
  }
  return result;
}

}  // namespace gpulog::sema
