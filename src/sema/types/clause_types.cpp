#include "sema/types/clause_types.hpp"

#include <algorithm>

#include "sema/numeric_literal.hpp"
#include "sema/print.hpp"
#include "sema/rewriting/syntax_walk.hpp"
#include "sema/types/type_origins.hpp"
#include "support/option_names.hpp"
#include "syntax/printer.hpp"

namespace gpulog::sema {

const functor_signature* signature_of(syntax::aggregate_op op) {
  constexpr value_kind n = value_kind::number;
  constexpr value_kind u = value_kind::unsigned_number;
  constexpr value_kind f = value_kind::floating;
  const auto folding = [](std::string_view name, const std::vector<value_kind>& kinds) {
    functor_signature signature{name, 1, 1, {}};
    for (const value_kind kind : kinds)
      signature.overloads.push_back({{kind}, kind, scalar_op::copy, lowering::direct});
    return signature;
  };
  static const functor_signature sum = folding("sum", {n, u, f});
  static const functor_signature min = folding("min", {n, u, f});
  static const functor_signature max = folding("max", {n, u, f});
  static const functor_signature mean = folding("mean", {f});
  switch (op) {
    case syntax::aggregate_op::sum:
      return &sum;
    case syntax::aggregate_op::min:
      return &min;
    case syntax::aggregate_op::max:
      return &max;
    case syntax::aggregate_op::mean:
      return &mean;
    default:
      return nullptr;
  }
}

const functor_signature* signature_of(syntax::functor op) {
  return find_functor(op == syntax::functor::negate ? "neg" : syntax::spelling(op));
}

namespace {

bool is_record_or_constant(const syntax::argument& term) {
  return term.as<syntax::record_constructor>() != nullptr || term.as<syntax::numeric_constant>() != nullptr ||
         term.as<syntax::string_constant>() != nullptr || term.as<syntax::nil_constant>() != nullptr;
}

std::string_view name_of(syntax::numeric_form form) {
  switch (form) {
    case syntax::numeric_form::floating:
      return "Float";
    case syntax::numeric_form::unsigned_number:
      return "Unsigned";
    case syntax::numeric_form::untyped:
      break;
  }
  return "Number";
}

bool is_out_of_range(const syntax::numeric_constant& number, word_size words) {
  if (number.form != syntax::numeric_form::untyped) return literal_kinds(number, words).empty();
  return !literal_value(number, value_kind::number, words);
}

}  // namespace

clause_types::clause_types(const declarations& declared, const flat_clause& clause, type_precision precision)
    : declared_(declared), clause_(clause), constraints_(declared.types(), precision) {
  collect_atom(*clause.head, clause.head_relation, false);
  collect_body(*clause.body, clause.body_relations);
  constraints_.solve();
}

void clause_types::collect_body(const flat_conjunction& body, const std::vector<relation_id>& relations) {
  for (std::size_t position = 0; position < body.size(); ++position) {
    const flat_literal& flat = body[position];
    if (const auto* atom = flat.literal->as<syntax::atom>()) {
      collect_atom(*atom, relations[position], !flat.negated);
    } else if (const auto* constraint = flat.literal->as<syntax::constraint>()) {
      collect_constraint(*constraint);
    }
  }
}

/// Collects the arguments of an atom. A positive atom of a body gives its arguments the columns' types. For all further
/// atoms the columns determine only the kind, and check_columns() compares the types later.
void clause_types::collect_atom(const syntax::atom& atom, relation_id relation, bool gives_types) {
  for (std::size_t column = 0; column < atom.arguments.size(); ++column) {
    const syntax::argument& term = atom.arguments[column];
    const unknown argument = collect(term);
    const type_id type = declared_.column_type(relation, column);
    if (!type.valid()) continue;
    const type_environment& types = declared_.types();
    const bool is_structure = types.kind(type) == value_kind::record || types.kind(type) == value_kind::adt;
    const source_span where = term.span;
    constraints_.require_subtype(argument, gives_types || is_structure ? type : types.of_kind(types.kind(type)), where);
  }
}

void clause_types::collect_constraint(const syntax::constraint& constraint) {
  const unknown left = collect(constraint.left);
  const unknown right = collect(constraint.right);
  switch (constraint.op) {
    case syntax::constraint_op::match:
    case syntax::constraint_op::not_match:
    case syntax::constraint_op::contains:
    case syntax::constraint_op::not_contains:
      for (const auto& [side, term] : {std::pair(left, &constraint.left), std::pair(right, &constraint.right)}) {
        constraints_.require_subtype(side, declared_.types().of_kind(value_kind::symbol), term->span);
      }
      return;
    default:
      break;
  }
  constraints_.require_subtype(left, right);
  constraints_.require_subtype(right, left);
  const auto note_call = [this](const syntax::argument& side, const syntax::argument& other) {
    const bool is_call = side.as<syntax::functor_call>() != nullptr;
    if (is_call && is_record_or_constant(other)) compared_calls_.emplace(&other, &side);
  };
  note_call(constraint.left, constraint.right);
  note_call(constraint.right, constraint.left);
}

clause_types::unknown clause_types::collect(const syntax::argument& term) {
  if (const auto* variable = term.as<syntax::variable>()) {
    auto found = variables_.find(variable->name);
    if (found == variables_.end()) found = variables_.emplace(variable->name, constraints_.add_unknown()).first;
    terms_.emplace(&term, found->second);
    order_.push_back(&term);
    return found->second;
  }
  const unknown term_type = constraints_.add_unknown();
  terms_.emplace(&term, term_type);
  order_.push_back(&term);
  if (const auto* number = term.as<syntax::numeric_constant>()) {
    constraints_.require_kind_among(term_type, literal_kinds(*number, declared_.words()), term.span);
  } else if (term.as<syntax::counter>() != nullptr) {
    constraints_.require_subtype(term_type, declared_.types().of_kind(value_kind::number), term.span);
  } else if (term.as<syntax::iteration_counter>() != nullptr) {
    constraints_.require_subtype(term_type, declared_.types().of_kind(value_kind::unsigned_number), term.span);
  } else if (term.as<syntax::string_constant>() != nullptr) {
    constraints_.require_subtype(term_type, declared_.types().of_kind(value_kind::symbol), term.span);
  } else if (const auto* call = term.as<syntax::functor_call>()) {
    std::vector<unknown> arguments;
    for (const syntax::argument& argument : call->arguments) arguments.push_back(collect(argument));
    constraints_.require_overload(term_type, std::move(arguments), *signature_of(call->op));
  } else if (const auto* user_call = term.as<syntax::user_functor_call>()) {
    const declarations::known_functor& functor = user_functor(user_call->name);
    for (std::size_t position = 0; position < user_call->arguments.size(); ++position) {
      const syntax::argument& argument = user_call->arguments[position];
      const unknown value = collect(argument);
      const type_id type = functor.parameters[position];
      if (type.valid()) constraints_.require_subtype(value, type, argument.span);
    }
    if (functor.result.valid()) constraints_.require_subtype(term_type, functor.result, term.span);
  } else if (const auto* record = term.as<syntax::record_constructor>()) {
    std::vector<type_constraints::placed> fields;
    for (const syntax::argument& field : record->fields) fields.push_back({collect(field), field.span});
    constraints_.require_record(term_type, std::move(fields));
  } else if (const auto* branch = term.as<syntax::branch_constructor>()) {
    const declarations::known_branch& declared = *declared_.find_branch(branch->branch.text);
    constraints_.require_subtype(term_type, declared.type, term.span);
    const std::vector<type_id>& types = declared_.branch_fields(declared);
    for (std::size_t field = 0; field < branch->fields.size(); ++field) {
      const unknown value = collect(branch->fields[field]);
      if (types[field].valid()) constraints_.require_subtype(value, types[field], branch->fields[field].span);
    }
  } else if (const auto* aggregate = term.as<syntax::aggregate>()) {
    const flat_aggregate& flat = clause_.aggregates.at(aggregate);
    collect_body(flat.body, flat.relations);
    const functor_signature* const signature = signature_of(aggregate->op);
    if (aggregate->op == syntax::aggregate_op::user) {
      const declarations::known_functor& functor = user_functor(aggregate->user_name);
      const auto require = [this](unknown value, type_id type, const source_span& where) {
        if (type.valid()) constraints_.require_subtype(value, type, where);
      };
      require(collect(**aggregate->initial), functor.parameters[0], (**aggregate->initial).span);
      require(collect(**aggregate->target), functor.parameters[1], (**aggregate->target).span);
      require(term_type, functor.result, term.span);
    } else if (signature == nullptr || !aggregate->target) {
      constraints_.require_subtype(term_type, declared_.types().of_kind(value_kind::number), term.span);
    } else {
      constraints_.require_overload(term_type, {collect(**aggregate->target)}, *signature);
    }
  } else if (const auto* cast = term.as<syntax::type_cast>()) {
    const unknown value = collect(*cast->value);
    if (const auto type = declared_.types().find(cast->type.text)) {
      constraints_.require_subtype(term_type, *type, term.span);
      // Only the cast determines the type of a record or a constant: as(2, float) is 2.0.
      if (is_record_or_constant(*cast->value)) {
        constraints_.require_subtype(value, *type, term.span);
      }
    }
  }
  return term_type;
}

std::vector<clause_types::unknown> clause_types::arguments_of(const syntax::functor_call& call) const {
  std::vector<unknown> arguments;
  for (const syntax::argument& argument : call.arguments) arguments.push_back(unknown_of(argument));
  return arguments;
}

bool clause_types::takes_operands(const syntax::argument& call) const {
  const auto& functor = *call.as<syntax::functor_call>();
  return constraints_.takes(arguments_of(functor), *signature_of(functor.op));
}

const functor_overload& clause_types::overload(const syntax::argument& call) const {
  const auto& functor = *call.as<syntax::functor_call>();
  return *constraints_.overload(unknown_of(call), arguments_of(functor), *signature_of(functor.op));
}

// ---- checks ---------------------------------------------------------------------------------------------------------

bool clause_types::check(diagnostics& diagnostics) const {
  bool good = true;
  for (const syntax::argument* term : order_) {
    good &= check_constant_or_cast(*term, diagnostics);
    good &= check_structure(*term, diagnostics);
    good &= check_call(*term, diagnostics);
  }
  // A functor or constant without a type leaves adjacent variables untyped: one message is enough.
  if (!good) return false;
  std::unordered_set<std::string> seen;
  for (const syntax::argument* term : order_) {
    const auto* variable = term->as<syntax::variable>();
    if (variable == nullptr || !seen.insert(variable->name).second) continue;
    good &= check_variable(variable->name, term->span, diagnostics);
  }
  if (!good) return false;
  for (const syntax::argument* term : order_) {
    const bool constructs =
        term->as<syntax::record_constructor>() != nullptr || term->as<syntax::branch_constructor>() != nullptr;
    if (!constructs || !constraints_.types(unknown_of(*term)).empty()) continue;
    diagnostics.error(term->span, term->as<syntax::record_constructor>() != nullptr
                                      ? "Record constructor (type mismatch)"
                                      : "Branch constructor (type mismatch)");
    good = false;
  }
  if (!good) return false;
  good &= check_columns(*clause_.head, clause_.head_relation, false, diagnostics);
  for (std::size_t position = 0; position < clause_.body->size(); ++position) {
    const flat_literal& flat = (*clause_.body)[position];
    const auto* atom = flat.literal->as<syntax::atom>();
    if (atom == nullptr) continue;
    if (flat.negated) good &= check_columns(*atom, clause_.body_relations[position], true, diagnostics);
  }
  for (const syntax::argument* term : order_) {
    const auto* aggregate = term->as<syntax::aggregate>();
    if (aggregate == nullptr) continue;
    const flat_aggregate& flat = clause_.aggregates.at(aggregate);
    for (std::size_t position = 0; position < flat.body.size(); ++position) {
      const auto* atom = flat.body[position].literal->as<syntax::atom>();
      if (atom == nullptr || !flat.body[position].negated) continue;
      good &= check_columns(*atom, flat.relations[position], true, diagnostics);
    }
  }
  if (good) warn_of_wrapping(diagnostics);
  return good;
}

bool clause_types::fail_at(const syntax::argument& term, std::string message, diagnostics& diagnostics) const {
  type_origins(declared_, clause_, *this).explain_mismatch(term, diagnostics.error(term.span, std::move(message)));
  return false;
}

bool clause_types::check_call(const syntax::argument& term, diagnostics& diagnostics) const {
  const auto* call = term.as<syntax::functor_call>();
  const auto* aggregate = term.as<syntax::aggregate>();
  if (aggregate != nullptr && (!aggregate->target || signature_of(aggregate->op) == nullptr)) {
    if (!constraints_.types(unknown_of(term)).empty()) return true;
    return fail_at(term, "Aggregate " + std::string(syntax::spelling(aggregate->op)) + " (type mismatch)", diagnostics);
  }
  if (call == nullptr && aggregate == nullptr) return true;
  const functor_signature& signature = call != nullptr ? *signature_of(call->op) : *signature_of(aggregate->op);
  const std::vector<unknown> arguments =
      call != nullptr ? arguments_of(*call) : std::vector<unknown>{unknown_of(**aggregate->target)};
  if (constraints_.overload(unknown_of(term), arguments, signature) != nullptr &&
      !constraints_.types(unknown_of(term)).empty()) {
    return call == nullptr || call->op != syntax::functor::format || check_format(*call, diagnostics);
  }
  // An operand without a type has its own message.
  for (const unknown argument : arguments) {
    if (constraints_.types(argument).empty()) return true;
  }
  if (report_out_of_range_in(term, diagnostics)) return false;
  const std::string name(call != nullptr ? syntax::spelling(call->op) : signature.name);
  if (constraints_.takes(arguments, signature)) {
    return fail_at(term, (call != nullptr ? "Functor " : "Aggregate ") + name + " (type mismatch)", diagnostics);
  }
  report_wrong_operands(term, name, signature, diagnostics);
  return false;
}

bool clause_types::check_format(const syntax::functor_call& call, diagnostics& diagnostics) const {
  for (const syntax::argument& value : call.arguments) {
    if (kind(value) != value_kind::record && kind(value) != value_kind::adt) continue;
    diagnostics::entry& error = diagnostics.error(value.span, "A record or branch in functor format (type mismatch)");
    type_origins(declared_, clause_, *this).explain_type(value, error);
    error.note("Values that format writes are numbers and symbols: write the fields of the record");
    return false;
  }
  return true;
}

void clause_types::report_wrong_operands(const syntax::argument& term, const std::string& name,
                                         const functor_signature& signature, diagnostics& diagnostics) const {
  std::vector<const syntax::argument*> operands;
  if (const auto* call = term.as<syntax::functor_call>()) {
    for (const syntax::argument& argument : call->arguments) operands.push_back(&argument);
  } else {
    operands.push_back(&**term.as<syntax::aggregate>()->target);
  }
  std::string types;
  for (const syntax::argument* operand : operands) {
    types += (types.empty() ? "" : ", ") + declared_.types().text(constraints_.types(unknown_of(*operand)));
  }
  diagnostics::entry& error =
      diagnostics.error(term.span, "No valid overloads for functor " + name + " with arguments of type (" + types +
                                       ") here (type mismatch)");
  const type_origins origins(declared_, clause_, *this);
  for (const syntax::argument* operand : operands) origins.explain_type(*operand, error);
  type_origins::explain_functor(signature, error);
}

/// Checks a record or nil. Terms without any type are left to more specific messages.
bool clause_types::check_structure(const syntax::argument& term, diagnostics& diagnostics) const {
  const auto* record = term.as<syntax::record_constructor>();
  const bool is_nil = term.as<syntax::nil_constant>() != nullptr;
  if (record == nullptr && !is_nil) return true;
  const type_set& types = constraints_.types(unknown_of(term));
  if (types.empty() || (is_nil && types.is_all())) return true;
  const type_environment& environment = declared_.types();
  if (types.is_all()) {
    diagnostics.error(term.span, "Unable to deduce the type of the record constructor");
    return false;
  }
  const bool all_records = std::all_of(types.members().begin(), types.members().end(),
                                       [&](type_id type) { return environment.kind(type) == value_kind::record; });
  if (!all_records) {
    diagnostics.error(term.span,
                      (is_nil ? "Nil constant used as a non-record" : "Record constructor used as a non-record") +
                          (" of type " + environment.text(types)));
    return false;
  }
  if (is_nil) return true;
  const structure_id structure = constraints_.structure(unknown_of(term));
  if (!structure.valid()) {
    diagnostics.error(term.span, "Ambiguous record constructor: its type may be any of " + environment.text(types));
    return false;
  }
  const std::size_t expected = environment.structure(structure).fields.size();
  if (record->fields.size() == expected) return true;
  diagnostics.error(term.span, "Wrong number of arguments given to record (type " + environment.text(types) + " has " +
                                   std::to_string(expected) + " fields, got " + std::to_string(record->fields.size()) +
                                   ")");
  return false;
}

bool clause_types::check_constant_or_cast(const syntax::argument& term, diagnostics& diagnostics) const {
  if (!constraints_.types(unknown_of(term)).empty()) return true;
  // check_call() reports a call with wrong operands, which leaves the other side of its comparison without a type.
  const auto compared = compared_calls_.find(&term);
  if (compared != compared_calls_.end() && !takes_operands(*compared->second)) return true;
  std::string what;
  if (term.as<syntax::string_constant>() != nullptr) what = "Symbol constant";
  if (term.as<syntax::counter>() != nullptr) what = "Auto-increment functor";
  if (term.as<syntax::iteration_counter>() != nullptr) what = "Iteration counter";
  if (const auto* call = term.as<syntax::user_functor_call>()) what = "Functor @" + call->name;
  if (term.as<syntax::type_cast>() != nullptr) what = "Type cast";
  const auto* number = term.as<syntax::numeric_constant>();
  if (number != nullptr) {
    if (is_out_of_range(*number, declared_.words())) return report_out_of_range(term, *number, diagnostics);
    what = std::string(name_of(number->form)) + " constant";
  }
  return what.empty() || fail_at(term, what + " (type mismatch)", diagnostics);
}

bool clause_types::report_out_of_range(const syntax::argument& term, const syntax::numeric_constant& number,
                                       diagnostics& diagnostics) const {
  diagnostics::entry& error =
      diagnostics.error(term.span, std::string(name_of(number.form)) + " constant out of range (type mismatch)");
  if (declared_.words() == word_size::bits32 && !is_out_of_range(number, word_size::bits64)) {
    error.note("Numbers have 32 bits here; with " + option_named("word-size", "64") + " they have 64 bits");
  }
  return false;
}

bool clause_types::report_out_of_range_in(const syntax::argument& tree, diagnostics& diagnostics) const {
  bool reported = false;
  walk_terms(tree, [&](const syntax::argument& term) {
    const auto* number = term.as<syntax::numeric_constant>();
    if (number == nullptr || reported || !is_out_of_range(*number, declared_.words())) return !reported;
    return reported = true, report_out_of_range(term, *number, diagnostics);
  });
  return reported;
}

void clause_types::warn_of_wrapping(diagnostics& diagnostics) const {
  for (const syntax::argument* term : order_) {
    const auto* number = term->as<syntax::numeric_constant>();
    if (number == nullptr || !wraps_around(*number, declared_.words()) || kind(*term) != value_kind::unsigned_number) {
      continue;
    }
    const wide_word value = *literal_value(*number, value_kind::unsigned_number, declared_.words());
    diagnostics.warning(term->span, "Unsigned constant " + number->text + " is out of range and wraps around to " +
                                        std::to_string(value) + "; with " + option_named("word-size", "64") +
                                        " it fits");
  }
}

bool clause_types::check_variable(const std::string& name, const source_span& where, diagnostics& diagnostics) const {
  const unknown term = variables_.at(name);
  const std::string shown = without_made_names(name);
  const type_set& types = constraints_.types(term);
  if (!types.empty() && !types.is_all()) return true;
  for (const syntax::argument* each : order_) {
    const auto* number = each->as<syntax::numeric_constant>();
    if (types.is_all() || number == nullptr || !wraps_around(*number, declared_.words())) continue;
    return report_out_of_range(*each, *number, diagnostics);
  }
  diagnostics::entry& error = diagnostics.error(where, "Unable to deduce type for variable " + shown);
  if (types.is_all()) return false;
  error.note("Following constraints are incompatible:");
  std::vector<type_constraints::demand> demands = constraints_.incompatible_demands(term);
  if (demands.empty()) {
    const std::vector<unknown> others = constraints_.incompatible_terms(term);
    for (const unknown other : others) error.note("   var(" + text_of(other) + ") <: var(" + shown + ")");
    const type_origins origins(declared_, clause_, *this);
    for (const unknown other : others) origins.explain_type(term_of(other), error);
    if (others.empty()) demands = constraints_.demands_on(term);
  }
  for (const type_constraints::demand& demand : demands) {
    error.note(demand.where, "   Type of variable '" + shown + "' should be a subtype of '" +
                                 declared_.types()[demand.type].name + "'");
  }
  return false;
}

const syntax::argument& clause_types::term_of(unknown wanted) const {
  return **std::find_if(order_.begin(), order_.end(),
                        [&](const syntax::argument* one) { return unknown_of(*one) == wanted; });
}

std::string clause_types::text_of(unknown term) const { return without_made_names(syntax::print(term_of(term))); }

bool clause_types::check_columns(const syntax::atom& atom, relation_id relation, bool is_negated,
                                 diagnostics& diagnostics) const {
  const type_environment& environment = declared_.types();
  bool good = true;
  for (std::size_t column = 0; column < atom.arguments.size(); ++column) {
    const syntax::argument& term = atom.arguments[column];
    const type_set& types = constraints_.types(unknown_of(term));
    const type_id declared = declared_.column_type(relation, column);
    if (types.is_all() || types.empty() || !declared.valid()) continue;
    const bool is_relaxed = is_negated || declared_.is_legacy();
    const bool fits = std::all_of(types.members().begin(), types.members().end(), [&](type_id type) {
      if (is_relaxed && environment.kind(type) == environment.kind(declared)) {
        return environment[type].structure == environment[declared].structure;
      }
      return environment[type].form == type_form::kind ? environment.is_subtype(declared, type)
                                                       : environment.is_subtype(type, declared);
    });
    if (fits) continue;
    const syntax::attribute& attribute = declared_.column_declaration(relation, column);
    diagnostics::entry& error =
        diagnostics
            .error(term.span, is_negated ? "The kind of atom's argument doesn't match the declared type kind"
                                         : "Atom's argument type is not a subtype of its declared type")
            .note(attribute.span, "The argument's declared type is " + attribute.type.text)
            .note("The argument's type is " + environment.text(types));
    type_origins(declared_, clause_, *this).explain_type(term, error);
    good = false;
  }
  return good;
}

}  // namespace gpulog::sema
