#pragma once

#include <type_traits>
#include <vector>

#include "syntax/ast.hpp"

/// Visits the nodes of a syntax tree in the order of the text, including aggregates.
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

// ---- terms ----------------------------------------------------------------------------------------------------------

/// Calls action(term) for each term of the node (an argument, atom, literal or list of alternatives, constant or not),
/// outer terms first. If action returns false, skips the nested terms.
template <class Node, class Action>
void walk_terms(Node& node, const Action& action) {
  using plain = std::remove_const_t<Node>;
  if constexpr (std::is_same_v<plain, std::vector<syntax::conjunction>>) {
    for (auto& conjunction : node) {
      for (auto& part : conjunction) walk_terms(part, action);
    }
  } else if constexpr (std::is_same_v<plain, syntax::atom>) {
    for (auto& argument : node.arguments) walk_terms(argument, action);
  } else if constexpr (std::is_same_v<plain, syntax::literal>) {
    if (auto* atom = node.template as<syntax::atom>()) walk_terms(*atom, action);
    if (auto* constraint = node.template as<syntax::constraint>()) {
      walk_terms(constraint->left, action);
      walk_terms(constraint->right, action);
    }
    if (auto* negation = node.template as<syntax::negation>()) walk_terms(*negation->inner, action);
    if (auto* group = node.template as<syntax::group>()) walk_terms(group->alternatives, action);
  } else {
    if (!action(node)) return;
    const auto all = [&](auto& terms) {
      for (auto& term : terms) walk_terms(term, action);
    };
    if (auto* record = node.template as<syntax::record_constructor>()) all(record->fields);
    if (auto* branch = node.template as<syntax::branch_constructor>()) all(branch->fields);
    if (auto* call = node.template as<syntax::functor_call>()) all(call->arguments);
    if (auto* call = node.template as<syntax::user_functor_call>()) all(call->arguments);
    if (auto* cast = node.template as<syntax::type_cast>()) walk_terms(*cast->value, action);
    if (auto* aggregate = node.template as<syntax::aggregate>()) {
      if (aggregate->target) walk_terms(**aggregate->target, action);
      if (aggregate->initial) walk_terms(**aggregate->initial, action);
      walk_terms(aggregate->body, action);
    }
  }
}

/// Calls action(variable, its argument) for the variables outside aggregates.
template <class Node, class Action>
void for_each_own_variable(const Node& node, const Action& action) {
  walk_terms(node, [&](const syntax::argument& term) {
    if (const auto* variable = term.as<syntax::variable>()) action(*variable, term);
    return term.as<syntax::aggregate>() == nullptr;
  });
}

/// Calls action(call) for each split(text, separator, number) outside aggregates. The call binds the number.
template <class Node, class Action>
void for_each_numbered_split(const Node& node, Action&& action) {
  walk_terms(node, [&](const syntax::argument& term) {
    const auto* call = term.as<syntax::functor_call>();
    if (call != nullptr && call->op == syntax::functor::split && call->arguments.size() == 3) action(*call);
    return term.as<syntax::aggregate>() == nullptr;
  });
}

/// Calls action(aggregate, its argument) for the outermost aggregates.
template <class Node, class Action>
void for_each_aggregate(Node& node, const Action& action) {
  walk_terms(node, [&](auto& term) {
    auto* aggregate = term.template as<syntax::aggregate>();
    if (aggregate == nullptr) return true;
    action(*aggregate, term);
    return false;
  });
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

/// Calls action(atom) for all atoms of the literal, including atoms in aggregates.
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
