#pragma once

#include <vector>

#include "syntax/ast.hpp"

/// Visits of the nodes of a syntax tree, in the order of the text, aggregates included.
namespace gpulog::sema {

template <class Action>
void for_each_variable(const syntax::argument& term, const Action& action);

template <class Action>
void for_each_variable(const syntax::atom& atom, const Action& action) {
  for (const syntax::argument& argument : atom.arguments) for_each_variable(argument, action);
}

template <class Action>
void for_each_variable(const std::vector<syntax::conjunction>& alternatives, const Action& action);

template <class Action>
void for_each_variable(const syntax::literal& part, const Action& action) {
  if (const auto* atom = part.as<syntax::atom>()) for_each_variable(*atom, action);
  if (const auto* constraint = part.as<syntax::constraint>()) {
    for_each_variable(constraint->left, action);
    for_each_variable(constraint->right, action);
  }
  if (const auto* negation = part.as<syntax::negation>()) for_each_variable(*negation->inner, action);
  if (const auto* group = part.as<syntax::group>()) for_each_variable(group->alternatives, action);
}

template <class Action>
void for_each_variable(const std::vector<syntax::conjunction>& alternatives, const Action& action) {
  for (const syntax::conjunction& conjunction : alternatives) {
    for (const syntax::literal& part : conjunction) for_each_variable(part, action);
  }
}

/// Calls action(variable, its argument) for all variables of the term.
template <class Action>
void for_each_variable(const syntax::argument& term, const Action& action) {
  const auto all = [&](const std::vector<syntax::argument>& arguments) {
    for (const syntax::argument& argument : arguments) for_each_variable(argument, action);
  };
  if (const auto* variable = term.as<syntax::variable>()) action(*variable, term);
  if (const auto* record = term.as<syntax::record_constructor>()) all(record->fields);
  if (const auto* branch = term.as<syntax::branch_constructor>()) all(branch->fields);
  if (const auto* call = term.as<syntax::functor_call>()) all(call->arguments);
  if (const auto* call = term.as<syntax::user_functor_call>()) all(call->arguments);
  if (const auto* cast = term.as<syntax::type_cast>()) for_each_variable(*cast->value, action);
  if (const auto* aggregate = term.as<syntax::aggregate>()) {
    if (aggregate->target) for_each_variable(**aggregate->target, action);
    if (aggregate->initial) for_each_variable(**aggregate->initial, action);
    for_each_variable(aggregate->body, action);
  }
}

// ---- atoms ----------------------------------------------------------------------------------------------------------

template <class Action>
void for_each_atom(const std::vector<syntax::conjunction>& alternatives, const Action& action);

template <class Action>
void for_each_atom(const syntax::argument& term, const Action& action) {
  const auto all = [&](const std::vector<syntax::argument>& arguments) {
    for (const syntax::argument& argument : arguments) for_each_atom(argument, action);
  };
  if (const auto* record = term.as<syntax::record_constructor>()) all(record->fields);
  if (const auto* branch = term.as<syntax::branch_constructor>()) all(branch->fields);
  if (const auto* call = term.as<syntax::functor_call>()) all(call->arguments);
  if (const auto* call = term.as<syntax::user_functor_call>()) all(call->arguments);
  if (const auto* cast = term.as<syntax::type_cast>()) for_each_atom(*cast->value, action);
  if (const auto* aggregate = term.as<syntax::aggregate>()) for_each_atom(aggregate->body, action);
}

/// Calls action(atom) for all atoms of the literal, those in aggregates too.
template <class Action>
void for_each_atom(const syntax::literal& part, const Action& action) {
  if (const auto* atom = part.as<syntax::atom>()) {
    action(*atom);
    for (const syntax::argument& argument : atom->arguments) for_each_atom(argument, action);
  }
  if (const auto* constraint = part.as<syntax::constraint>()) {
    for_each_atom(constraint->left, action);
    for_each_atom(constraint->right, action);
  }
  if (const auto* negation = part.as<syntax::negation>()) for_each_atom(*negation->inner, action);
  if (const auto* group = part.as<syntax::group>()) for_each_atom(group->alternatives, action);
}

template <class Action>
void for_each_atom(const std::vector<syntax::conjunction>& alternatives, const Action& action) {
  for (const syntax::conjunction& conjunction : alternatives) {
    for (const syntax::literal& part : conjunction) for_each_atom(part, action);
  }
}

}  // namespace gpulog::sema
