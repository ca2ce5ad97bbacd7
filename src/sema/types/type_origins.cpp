#include "sema/types/type_origins.hpp"

#include <algorithm>
#include <utility>

#include "sema/numeric_literal.hpp"
#include "sema/print.hpp"
#include "syntax/printer.hpp"

namespace gpulog::sema {

namespace {

std::string called(value_kind kind) {
  if (kind == value_kind::record) return "a record";
  if (kind == value_kind::adt) return "an algebraic data type";
  return std::string(kind_name(kind));
}

bool is_shared(const std::vector<value_kind>& left, const std::vector<value_kind>& right) {
  return std::any_of(left.begin(), left.end(),
                     [&](value_kind kind) { return std::find(right.begin(), right.end(), kind) != right.end(); });
}

std::string text_of(const syntax::argument& term) { return without_made_names(syntax::print(term)); }

/// Returns the kind of a parameter if all overloads of the functor agree.
std::optional<value_kind> only_parameter(const functor_signature& signature, std::size_t position) {
  std::optional<value_kind> only;
  for (const functor_overload& overload : signature.overloads) {
    const auto kind = overload.parameter(position);
    if (!kind || (only && *only != *kind)) return std::nullopt;
    only = kind;
  }
  return only;
}

}  // namespace

type_origins::type_origins(const declarations& declared, const flat_clause& clause, const clause_types& types)
    : declared_(declared), clause_(clause), types_(types) {
  visit_body(*clause.body, clause.body_relations);
  visit_atom(*clause.head, clause.head_relation, false);
}

// ---- where terms stand ----------------------------------------------------------------------------------------------

void type_origins::add_use(const syntax::argument& term, use added) {
  if (const auto* variable = term.as<syntax::variable>()) {
    variable_uses_[variable->name].push_back(std::move(added));
  } else {
    uses_[&term].push_back(std::move(added));
  }
}

type_origins::origin type_origins::declared_as(type_id type, std::string reason, const source_span& where) const {
  return {{declared_.types().kind(type)}, declared_.types()[type].name, std::move(reason), where};
}

void type_origins::visit_body(const flat_conjunction& body, const std::vector<relation_id>& relations) {
  for (std::size_t position = 0; position < body.size(); ++position) {
    const flat_literal& flat = body[position];
    if (const auto* atom = flat.literal->as<syntax::atom>()) {
      visit_atom(*atom, relations[position], !flat.negated);
    } else if (const auto* constraint = flat.literal->as<syntax::constraint>()) {
      visit_constraint(*constraint);
    }
  }
}

void type_origins::visit_atom(const syntax::atom& atom, relation_id relation, bool binds) {
  for (std::size_t column = 0; column < atom.arguments.size(); ++column) {
    const syntax::argument& term = atom.arguments[column];
    const type_id type = declared_.column_type(relation, column);
    const syntax::attribute& attribute = declared_.column_declaration(relation, column);
    if (type.valid()) {
      std::string reason = "Attribute " + attribute.name.text + " of relation " + atom.name.text + " is declared as " +
                           attribute.type.text;
      add_use(term, {declared_as(type, std::move(reason), attribute.span), nullptr, binds});
    }
    visit(term);
  }
}

void type_origins::visit_constraint(const syntax::constraint& constraint) {
  switch (constraint.op) {
    case syntax::constraint_op::match:
    case syntax::constraint_op::not_match:
    case syntax::constraint_op::contains:
    case syntax::constraint_op::not_contains: {
      const std::string reason = std::string(syntax::spelling(constraint.op)) + " takes symbols";
      for (const syntax::argument* side : {&constraint.left, &constraint.right}) {
        add_use(*side, {origin{{value_kind::symbol}, "symbol", reason, {}}});
      }
      break;
    }
    default:
      add_use(constraint.left, {std::nullopt, &constraint.right});
      add_use(constraint.right, {std::nullopt, &constraint.left});
      break;
  }
  visit(constraint.left);
  visit(constraint.right);
}

void type_origins::visit(const syntax::argument& term) {
  if (const auto* call = term.as<syntax::functor_call>()) visit_call(term, *call);
  if (const auto* call = term.as<syntax::user_functor_call>()) visit_user_call(*call);
  if (const auto* aggregate = term.as<syntax::aggregate>()) visit_aggregate(term, *aggregate);
  if (const auto* cast = term.as<syntax::type_cast>()) visit(*cast->value);
  if (const auto* branch = term.as<syntax::branch_constructor>()) {
    visit_fields(branch->fields, declared_.branch_fields(types_.branch(*branch)), "branch " + branch->branch.text);
  }
  if (const auto* record = term.as<syntax::record_constructor>()) {
    const structure_id structure = types_.structure(term);
    visit_fields(record->fields,
                 structure.valid() ? declared_.types().structure(structure).fields : std::vector<type_id>(),
                 "the record");
  }
}

void type_origins::visit_fields(const std::vector<syntax::argument>& fields, const std::vector<type_id>& types,
                                const std::string& owner) {
  for (std::size_t field = 0; field < fields.size(); ++field) {
    if (field < types.size() && types[field].valid()) {
      std::string reason = "Field " + std::to_string(field + 1) + " of " + owner + " is declared as " +
                           declared_.types()[types[field]].name;
      add_use(fields[field], {declared_as(types[field], std::move(reason), {})});
    }
    visit(fields[field]);
  }
}

void type_origins::visit_call(const syntax::argument& term, const syntax::functor_call& call) {
  const functor_signature& signature = *signature_of(call.op);
  for (std::size_t position = 0; position < call.arguments.size(); ++position) {
    const syntax::argument& argument = call.arguments[position];
    if (const auto kind = only_parameter(signature, position)) {
      std::string reason = "Functor " + std::string(syntax::spelling(call.op)) + " takes " + called(*kind) + " here";
      add_use(argument, {origin{{*kind}, called(*kind), std::move(reason), {}}});
    } else {
      const bool keeps_kind =
          std::all_of(signature.overloads.begin(), signature.overloads.end(),
                      [&](const functor_overload& one) { return one.parameter(position) == one.result; });
      if (keeps_kind) add_use(argument, {std::nullopt, &term});
    }
    visit(argument);
  }
}

void type_origins::visit_user_call(const syntax::user_functor_call& call) {
  const declarations::known_functor& functor = types_.user_functor(call.name);
  for (std::size_t position = 0; position < call.arguments.size(); ++position) {
    const type_id type = functor.parameters[position];
    if (type.valid()) {
      const syntax::attribute& parameter = functor.declaration->parameters[position];
      std::string reason = "Parameter " + std::to_string(position + 1) + " of functor @" + call.name +
                           " is declared as " + parameter.type.text;
      add_use(call.arguments[position], {declared_as(type, std::move(reason), parameter.span)});
    }
    visit(call.arguments[position]);
  }
}

void type_origins::visit_aggregate(const syntax::argument& term, const syntax::aggregate& aggregate) {
  if (aggregate.target) {
    const functor_signature* const signature = signature_of(aggregate.op);
    const auto only = signature == nullptr ? std::nullopt : only_parameter(*signature, 0);
    if (only) {
      std::string reason = "Aggregate " + std::string(signature->name) + " takes " + called(*only);
      add_use(**aggregate.target, {origin{{*only}, called(*only), std::move(reason), {}}});
    } else if (signature != nullptr) {
      add_use(**aggregate.target, {std::nullopt, &term});
    }
    visit(**aggregate.target);
  }
  const auto flat = clause_.aggregates.find(&aggregate);
  if (flat != clause_.aggregates.end()) visit_body(flat->second.body, flat->second.relations);
}

// ---- types of terms -------------------------------------------------------------------------------------------------

const std::vector<type_origins::use>& type_origins::uses_of(const syntax::argument& term) const {
  static const std::vector<use> none;
  if (const auto* variable = term.as<syntax::variable>()) {
    const auto found = variable_uses_.find(variable->name);
    return found == variable_uses_.end() ? none : found->second;
  }
  const auto found = uses_.find(&term);
  return found == uses_.end() ? none : found->second;
}

std::optional<type_origins::origin> type_origins::own(const syntax::argument& term) const {
  visited seen;
  return own(term, seen);
}

std::optional<type_origins::origin> type_origins::own(const syntax::argument& term, visited& seen) const {
  const void* const key = term.as<syntax::variable>() != nullptr ? static_cast<const void*>(&uses_of(term)) : &term;
  if (!seen.insert(key).second) return std::nullopt;
  const auto plain = [](value_kind kind) { return origin{{kind}, called(kind), {}, {}}; };
  if (term.as<syntax::variable>() != nullptr) return of_variable(term, seen);
  if (const auto* number = term.as<syntax::numeric_constant>()) {
    const std::vector<value_kind> kinds = literal_kinds(*number, declared_.words());
    if (kinds.empty()) return std::nullopt;
    return origin{kinds, called(kinds.front()), {}, {}};
  }
  if (term.as<syntax::string_constant>() != nullptr) return plain(value_kind::symbol);
  if (term.as<syntax::counter>() != nullptr) return plain(value_kind::number);
  if (term.as<syntax::iteration_counter>() != nullptr) return plain(value_kind::unsigned_number);
  if (term.as<syntax::nil_constant>() != nullptr) return plain(value_kind::record);
  if (term.as<syntax::record_constructor>() != nullptr) return plain(value_kind::record);
  if (const auto* branch = term.as<syntax::branch_constructor>()) {
    return declared_as(types_.branch(*branch).type, {}, {});
  }
  if (const auto* call = term.as<syntax::functor_call>()) return of_call(*call, seen);
  if (const auto* aggregate = term.as<syntax::aggregate>()) return of_aggregate(*aggregate, seen);
  if (const auto* call = term.as<syntax::user_functor_call>()) {
    const declarations::known_functor& functor = types_.user_functor(call->name);
    if (!functor.result.valid()) return std::nullopt;
    const syntax::qualified_name& result = functor.declaration->result;
    return declared_as(functor.result, "Functor @" + call->name + " is declared to give " + result.text, result.span);
  }
  if (const auto* cast = term.as<syntax::type_cast>()) {
    const auto type = declared_.types().find(cast->type.text);
    if (type) return declared_as(*type, {}, {});
  }
  return std::nullopt;
}

/// Binding uses come first, comparisons last.
std::optional<type_origins::origin> type_origins::of_variable(const syntax::argument& term, visited& seen) const {
  const std::vector<use>& uses = uses_of(term);
  for (const bool binds : {true, false}) {
    for (const use& one : uses) {
      if (one.asked && one.binds == binds) return one.asked;
    }
  }
  for (const use& one : uses) {
    if (one.beside == nullptr) continue;
    if (auto found = own(*one.beside, seen)) return found;
  }
  return std::nullopt;
}

/// Returns the common result of the overloads that the arguments allow.
std::optional<type_origins::origin> type_origins::of_call(const syntax::functor_call& call, visited& seen) const {
  std::vector<std::optional<origin>> arguments;
  for (const syntax::argument& argument : call.arguments) arguments.push_back(own(argument, seen));
  const functor_signature& signature = *signature_of(call.op);
  std::vector<value_kind> kinds;
  for (const functor_overload& overload : signature.overloads) {
    bool fits = true;
    for (std::size_t position = 0; position < arguments.size(); ++position) {
      const auto kind = overload.parameter(position);
      fits = fits && (!kind || !arguments[position] || is_shared({*kind}, arguments[position]->kinds));
    }
    if (fits && std::find(kinds.begin(), kinds.end(), overload.result) == kinds.end()) kinds.push_back(overload.result);
  }
  if (kinds.empty()) return std::nullopt;
  const std::string type = called(kinds.front());
  return origin{kinds, type, {}, {}};
}

std::optional<type_origins::origin> type_origins::of_aggregate(const syntax::aggregate& aggregate,
                                                               visited& seen) const {
  if (aggregate.op == syntax::aggregate_op::count) return origin{{value_kind::number}, "number", {}, {}};
  if (aggregate.op == syntax::aggregate_op::mean) return origin{{value_kind::floating}, "float", {}, {}};
  if (aggregate.op != syntax::aggregate_op::user) return own(**aggregate.target, seen);
  const type_id result = types_.user_functor(aggregate.user_name).result;
  if (!result.valid()) return std::nullopt;
  return declared_as(result, {}, {});
}

std::optional<type_origins::origin> type_origins::asked_of(const use& one) const {
  if (one.asked) return one.asked;
  return own(*one.beside);
}

// ---- notes ----------------------------------------------------------------------------------------------------------

void type_origins::explain_mismatch(const syntax::argument& term, diagnostics::entry& error) const {
  const std::optional<origin> found = own(term);
  if (!found) return;
  for (const use& one : uses_of(term)) {
    const std::optional<origin> asked = asked_of(one);
    if (!asked || is_shared(asked->kinds, found->kinds)) continue;
    std::string line = "Found " + found->type + " where " + asked->type + " is expected";
    if (one.beside != nullptr) line += ", the type of " + text_of(*one.beside);
    error.note(std::move(line));
    if (!asked->reason.empty()) error.note(asked->where, asked->reason);
    return;
  }
}

void type_origins::explain_type(const syntax::argument& term, diagnostics::entry& error) const {
  const std::optional<origin> found = own(term);
  if (found && !found->reason.empty())
    error.note(found->where, text_of(term) + " is " + found->type + ". " + found->reason);
}

void type_origins::explain_functor(const functor_signature& signature, diagnostics::entry& error) {
  const std::string_view name = signature.name;
  for (const functor_overload& overload : signature.overloads) {
    std::string parameters;
    const bool is_open = signature.most_arguments > overload.parameters.size() && !overload.parameters.empty() &&
                         signature.least_arguments != signature.most_arguments;
    for (const value_kind kind : overload.parameters) parameters += (parameters.empty() ? "" : ", ") + called(kind);
    if (is_open) parameters += ", ...";
    if (parameters.empty()) parameters = "any type";
    error.note("   " + std::string(name) + " takes (" + parameters + ") and gives " + called(overload.result));
  }
}

}  // namespace gpulog::sema
