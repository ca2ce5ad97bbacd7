#include "sema/checks/clause_checks.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sema/checks/call_checks.hpp"
#include "sema/checks/variable_hints.hpp"
#include "sema/print.hpp"
#include "sema/rewriting/syntax_walk.hpp"
#include "sema/types/clause_types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::sema {

namespace {

// ---- form -----------------------------------------------------------------------------------------------------------

class form_checker {
 public:
  form_checker(const declarations& declared, diagnostics& diagnostics, const syntax::clause* before)
      : declared_(declared), diagnostics_(diagnostics), before_(before) {}

  bool check(const syntax::clause& clause) {
    for (const syntax::atom& head : clause.heads) check_head(head, clause.body.empty());
    check_body(clause.body);
    return good_;
  }

 private:
  enum class underscore : std::uint8_t { allowed, in_head, in_constraint, in_functor };

  diagnostics::entry& fail(const source_span& where, std::string message) {
    good_ = false;
    return diagnostics_.error(where, std::move(message));
  }
  void fail_unsupported(const source_span& where, const std::string& construct) {
    report_unsupported(diagnostics_, where, construct);
    good_ = false;
  }

  void check_head(const syntax::atom& head, bool is_fact) {
    check_relation(head);
    is_fact = is_fact && declared_.find_relation(head.name.text).has_value();
    for (const syntax::argument& argument : head.arguments) {
      check_term(argument, underscore::in_head);
      if (!is_fact) continue;
      walk_terms(argument, [&](const syntax::argument& term) {
        if (const auto* variable = term.as<syntax::variable>()) {
          add_hint_about_fact(
              variable->name, head, before_, declared_,
              diagnostics_.error(term.span, "Argument in fact is not constant: variable " + variable->name));
          good_ = false;
        } else if (term.as<syntax::counter>() != nullptr || term.as<syntax::iteration_counter>() != nullptr) {
          fail(term.span, "Argument in fact is not constant");
        }
        return term.as<syntax::aggregate>() == nullptr;
      });
    }
  }

  void check_relation(const syntax::atom& atom) {
    const auto id = declared_.find_relation(atom.name.text);
    if (!id) {
      declared_.report_unknown_relation(atom.name);
      good_ = false;
      return;
    }
    const std::size_t arity = declared_.arity(*id);
    if (atom.arguments.size() == arity) return;
    diagnostics_
        .error(atom.span, "Mismatching arity of relation " + atom.name.text + " (expected " + std::to_string(arity) +
                              ", got " + std::to_string(atom.arguments.size()) + ")")
        .note(declared_.relation_span(*id), "Declared here");
    good_ = false;
  }

  void check_body(const std::vector<syntax::conjunction>& alternatives) {
    for (const syntax::conjunction& conjunction : alternatives) {
      for (const syntax::literal& literal : conjunction) check_literal(literal);
    }
  }

  void check_literal(const syntax::literal& literal) {
    if (const auto* atom = literal.as<syntax::atom>()) {
      check_relation(*atom);
      for (const syntax::argument& argument : atom->arguments) check_term(argument, underscore::allowed);
    }
    if (const auto* constraint = literal.as<syntax::constraint>()) {
      check_term(constraint->left, place_beside(constraint->right, constraint->op));
      check_term(constraint->right, place_beside(constraint->left, constraint->op));
    }
    if (const auto* negation = literal.as<syntax::negation>()) check_literal(*negation->inner);
    if (const auto* group = literal.as<syntax::group>()) check_body(group->alternatives);
  }

  /// Returns the place for underscores beside `other`: `_ = [x]` is always true, and `_ = min ..` only binds
  /// witnesses.
  static underscore place_beside(const syntax::argument& other, syntax::constraint_op op) {
    const bool is_open = other.as<syntax::record_constructor>() != nullptr || other.as<syntax::aggregate>() != nullptr;
    return is_open && op == syntax::constraint_op::equal ? underscore::allowed : underscore::in_constraint;
  }

  void check_term(const syntax::argument& term, underscore place) {
    if (term.as<syntax::unnamed_variable>() != nullptr) {
      switch (place) {
        case underscore::allowed:
          break;
        case underscore::in_head:
          fail(term.span, "Underscore in head of rule");
          break;
        case underscore::in_constraint:
          fail(term.span, "Underscore in binary relation");
          break;
        case underscore::in_functor:
          fail(term.span, "Underscore in argument of functor");
          break;
      }
    } else if (const auto* call = term.as<syntax::functor_call>()) {
      check_call(term, *call);
    } else if (const auto* user_call = term.as<syntax::user_functor_call>()) {
      check_user_call(term, *user_call);
    } else if (const auto* cast = term.as<syntax::type_cast>()) {
      check_cast(*cast, place);
    } else if (const auto* record = term.as<syntax::record_constructor>()) {
      check_fields(record->fields, place);
    } else if (const auto* branch = term.as<syntax::branch_constructor>()) {
      check_branch(term, *branch);
      check_fields(branch->fields, place);
    } else if (const auto* aggregate = term.as<syntax::aggregate>()) {
      check_aggregate(term, *aggregate);
    }
  }

  /// Checks fields of a pattern, which may contain underscores.
  void check_fields(const std::vector<syntax::argument>& fields, underscore place) {
    for (const syntax::argument& field : fields) {
      check_term(field, place == underscore::in_constraint ? underscore::allowed : place);
    }
  }

  void check_branch(const syntax::argument& term, const syntax::branch_constructor& constructor) {
    const std::string& name = constructor.branch.text;
    const declarations::known_branch* branch = declared_.find_branch(name);
    if (branch == nullptr) {
      fail(constructor.branch.span, "Undefined branch $" + name)
          .suggest(name, closest_name(name, declared_.branch_names()));
      return;
    }
    const std::size_t expected = declared_.branch_fields(*branch).size();
    if (constructor.fields.size() == expected) return;
    fail(term.span, "Mismatching arity of branch " + name + " (expected " + std::to_string(expected) + ", got " +
                        std::to_string(constructor.fields.size()) + ")");
  }

  void check_call(const syntax::argument& term, const syntax::functor_call& call) {
    for (std::size_t at = 0; at < call.arguments.size(); ++at) {
      const bool is_bound_here = call.op == syntax::functor::split && at == 2;
      check_term(call.arguments[at], is_bound_here ? underscore::allowed : underscore::in_functor);
    }
    if (signature_of(call.op) == nullptr) {
      fail_unsupported(term.span, "Functor " + std::string(syntax::spelling(call.op)));
    } else if (!check_call_form(term, diagnostics_)) {
      good_ = false;
    }
  }

  void check_user_call(const syntax::argument& term, const syntax::user_functor_call& call) {
    for (const syntax::argument& argument : call.arguments) check_term(argument, underscore::in_functor);
    const declarations::known_functor* const functor = declared_.find_user_functor(call.name);
    if (functor == nullptr) {
      fail(term.span, "User-defined functor hasn't been declared: @" + call.name)
          .suggest(call.name, closest_name(call.name, declared_.user_functor_names()));
    } else if (call.arguments.size() != functor->parameters.size()) {
      fail(term.span, "Mismatching arity of functor " + call.name + " (expected " +
                          std::to_string(functor->parameters.size()) + ", got " +
                          std::to_string(call.arguments.size()) + ")");
    }
  }

  void check_cast(const syntax::type_cast& cast, underscore place) {
    check_term(*cast.value, place == underscore::allowed ? underscore::in_functor : place);
    if (declared_.types().find(cast.type.text)) return;
    // The definition of the type was already reported.
    if (declared_.is_defined_wrongly(cast.type.text)) {
      good_ = false;
      return;
    }
    fail(cast.type.span, "Type cast to the undeclared type " + cast.type.text)
        .suggest(cast.type.text, closest_name(cast.type.text, declared_.types().names()));
  }

  void check_aggregate(const syntax::argument& term, const syntax::aggregate& aggregate) {
    if (aggregate.op == syntax::aggregate_op::user) check_user_aggregate(term, aggregate);
    if (aggregate.body.size() > 1) {
      fail(term.span, "Disjunctions in aggregation clauses are not supported");
    }
    if (aggregate.target) check_term(**aggregate.target, underscore::in_functor);
    check_body(aggregate.body);
  }

  void check_user_aggregate(const syntax::argument& term, const syntax::aggregate& aggregate) {
    const declarations::known_functor* const functor = declared_.find_user_functor(aggregate.user_name);
    if (functor == nullptr) {
      fail(term.span, "User-defined functor hasn't been declared: @" + aggregate.user_name)
          .suggest(aggregate.user_name, closest_name(aggregate.user_name, declared_.user_functor_names()));
    } else if (functor->parameters.size() != 2) {
      fail(term.span, "Mismatching arity of functor " + aggregate.user_name + " (expected 2 of an aggregate, got " +
                          std::to_string(functor->parameters.size()) + ")");
    } else if (functor->parameters[0] != functor->result) {
      fail(term.span,
           "Functor " + aggregate.user_name +
               " of an aggregate must return the type of its first parameter, the result of the previous step");
    }
    if (!aggregate.target) fail(term.span, "Aggregate @@" + aggregate.user_name + " needs a value to fold");
    if (!is_constant(**aggregate.initial)) {
      fail_unsupported((**aggregate.initial).span,
                       "Initial value of @@" + aggregate.user_name + " other than a number, a text or nil");
    }
    check_term(**aggregate.initial, underscore::in_functor);
  }

  static bool is_constant(const syntax::argument& term) {
    if (const auto* cast = term.as<syntax::type_cast>()) return is_constant(*cast->value);
    return term.as<syntax::numeric_constant>() != nullptr || term.as<syntax::string_constant>() != nullptr ||
           term.as<syntax::nil_constant>() != nullptr;
  }

  const declarations& declared_;
  diagnostics& diagnostics_;
  const syntax::clause* before_;
  bool good_ = true;
};

/// Returns the variable inside any casts, or nullptr if the term is no variable.
const syntax::variable* as_variable(const syntax::argument& term) {
  if (const auto* cast = term.as<syntax::type_cast>()) return as_variable(*cast->value);
  return term.as<syntax::variable>();
}

/// Returns the fields of a record or branch constructor, or nullptr for all other terms.
const std::vector<syntax::argument>* fields_of(const syntax::argument& term) {
  if (const auto* cast = term.as<syntax::type_cast>()) return fields_of(*cast->value);
  if (const auto* record = term.as<syntax::record_constructor>()) return &record->fields;
  const auto* branch = term.as<syntax::branch_constructor>();
  return branch == nullptr ? nullptr : &branch->fields;
}

/// Finds the first underscore in a field, which leaves the record without a definite value.
const syntax::argument* find_open_field(const syntax::argument& term) {
  if (term.as<syntax::unnamed_variable>() != nullptr) return &term;
  if (const auto* fields = fields_of(term)) {
    for (const syntax::argument& field : *fields) {
      if (const auto* found = find_open_field(field)) return found;
    }
  }
  return nullptr;
}

/// Calls action(variable) for a term that is a variable, or for each variable in the fields of a constructor: the
/// term's value determines the values of all visited variables.
template <class Action>
void for_each_field_variable(const syntax::argument& term, const Action& action) {
  if (const auto* variable = as_variable(term)) action(*variable);
  if (const auto* fields = fields_of(term)) {
    for (const syntax::argument& field : *fields) for_each_field_variable(field, action);
  }
}

template <class Node>
void count_variables(const Node& node, std::unordered_map<std::string, std::size_t>& uses) {
  for_each_variable(node, [&](const syntax::variable& variable, const syntax::argument&) { ++uses[variable.name]; });
}

/// The set of bound variables, with the equalities that may bind further variables.
class grounding {
 public:
  /// @param uses number of occurrences of each variable in the clause
  explicit grounding(const std::unordered_map<std::string, std::size_t>& uses) : uses_(&uses) {}

  /// Marks the variable as bound.
  /// @return whether the variable was unbound before
  bool add(const std::string& variable) {
    const bool is_new = bound_.insert(variable).second;
    if (is_new) newly_bound_.push_back(variable);
    return is_new;
  }

  /// Adds `side = value`: once all variables of `value` are bound, the equality binds `side`, if `side` is a variable,
  /// and the variables in the fields of `side`.
  void add_equality(const syntax::argument& side, const syntax::argument& value) {
    const auto* fields = fields_of(side);
    const auto* values = fields_of(value);
    if (fields != nullptr && values != nullptr) {
      for (std::size_t field = 0; field < std::min(fields->size(), values->size()); ++field) {
        add_equality((*fields)[field], (*values)[field]);
      }
      return;
    }
    if (find_open_field(value) != nullptr) return;
    std::unordered_set<std::string> needed;
    const auto need = [&](const std::string& name) {
      if (!bound_.contains(name)) needed.insert(name);
    };
    for_each_own_variable(value, [&](const syntax::variable& each, const syntax::argument&) { need(each.name); });
    // An aggregate needs variables that occur both inside and outside the aggregate.
    for_each_aggregate(value, [&](const syntax::aggregate&, const syntax::argument& term) {
      std::unordered_map<std::string, std::size_t> inside;
      count_variables(term, inside);
      for (const auto& [name, uses] : inside) {
        if (uses < uses_->at(name)) need(name);
      }
    });
    for_each_field_variable(side, [&](const syntax::variable& variable) {
      for (const std::string& name : needed) waiting_[name].push_back(equalities_.size());
      if (needed.empty()) add(variable.name);
      equalities_.push_back({variable.name, needed.size()});
    });
  }

  /// Returns all names except `others`, as written in the program, in lexical order.
  [[nodiscard]] std::vector<std::string> names_without(const std::vector<std::string>& others) const {
    std::vector<std::string> names;
    for (const std::string& name : bound_) {
      if (std::find(others.begin(), others.end(), name) == others.end()) names.push_back(without_made_names(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void propagate() {
    while (!newly_bound_.empty()) {
      const std::string variable = std::move(newly_bound_.back());
      newly_bound_.pop_back();
      const auto found = waiting_.find(variable);
      if (found == waiting_.end()) continue;
      for (const std::size_t number : found->second) {
        if (--equalities_[number].missing == 0) add(equalities_[number].variable);
      }
    }
  }

 private:
  struct equality {
    std::string variable;
    std::size_t missing;  ///< number of unbound variables on the opposite side
  };
  const std::unordered_map<std::string, std::size_t>* uses_;
  std::unordered_set<std::string> bound_;
  std::vector<std::string> newly_bound_;
  std::vector<equality> equalities_;
  std::unordered_map<std::string, std::vector<std::size_t>> waiting_;  ///< equalities, by variable on the opposite side
};

}  // namespace

bool check_form(const syntax::clause& clause, const declarations& declared, diagnostics& diagnostics,
                const syntax::clause* before) {
  return form_checker(declared, diagnostics, before).check(clause);
}

namespace {

/// The numbers of the parts of a text: split(text, separator, number) binds the number.
template <class Node>
void add_numbers_of_parts(const Node& node, grounding& bound) {
  for_each_numbered_split(node, [&bound](const syntax::functor_call& call) {
    const syntax::record_constructor needed{{{call.arguments[0], call.arguments[1]}}};
    bound.add_equality(call.arguments[2], {needed, call.arguments[2].span});
  });
}

void add_bindings(const flat_conjunction& body, grounding& bound) {
  for (const flat_literal& flat : body) {
    add_numbers_of_parts(*flat.literal, bound);
    if (const auto* atom = flat.literal->as<syntax::atom>(); atom != nullptr && !flat.negated) {
      for (const syntax::argument& argument : atom->arguments) {
        for_each_field_variable(argument, [&](const syntax::variable& variable) { bound.add(variable.name); });
      }
    }
    if (const auto* constraint = flat.literal->as<syntax::constraint>()) {
      const syntax::constraint_op op = flat.negated ? syntax::negated(constraint->op) : constraint->op;
      if (op == syntax::constraint_op::equal) {
        bound.add_equality(constraint->left, constraint->right);
        bound.add_equality(constraint->right, constraint->left);
      }
    }
  }
  bound.propagate();
}

/// Checks that each variable in an aggregate is bound by the surrounding body or by the aggregate's body.
bool check_aggregate(const flat_clause& clause, const syntax::aggregate& aggregate, grounding bound,
                     diagnostics& diagnostics) {
  const flat_conjunction& body = clause.aggregates.at(&aggregate).body;
  add_bindings(body, bound);
  bool good = true;
  const auto check = [&](const syntax::variable& variable, const syntax::argument& term) {
    if (!bound.add(variable.name)) return;
    diagnostics.error(term.span, "Ungrounded variable " + without_made_names(variable.name));
    good = false;
  };
  const auto check_nested = [&](const syntax::aggregate& nested, const syntax::argument&) {
    good &= check_aggregate(clause, nested, bound, diagnostics);
  };
  if (aggregate.target) {
    for_each_own_variable(**aggregate.target, check);
    for_each_aggregate(**aggregate.target, check_nested);
  }
  for (const flat_literal& flat : body) {
    for_each_own_variable(*flat.literal, check);
    for_each_aggregate(*flat.literal, check_nested);
  }
  return good;
}

}  // namespace

bool check_groundedness(const flat_clause& clause, const declarations& declared, diagnostics& diagnostics) {
  std::unordered_map<std::string, std::size_t> uses;
  count_variables(*clause.head, uses);
  for (const flat_literal& flat : *clause.body) count_variables(*flat.literal, uses);
  grounding bound(uses);
  add_numbers_of_parts(*clause.head, bound);
  add_bindings(*clause.body, bound);
  std::vector<std::string> ungrounded;
  bool good = true;
  const auto check = [&](const syntax::variable& variable, const syntax::argument& term) {
    if (!bound.add(variable.name)) return;
    const std::string name = without_made_names(variable.name);
    std::string hint = hint_about_branch(name, declared);
    if (hint.empty()) hint = hint_about_value(*clause.body, variable, name);
    ungrounded.push_back(variable.name);
    const auto meant = closest_name(name, bound.names_without(ungrounded));
    auto& error = diagnostics.error(term.span, "Ungrounded variable " + name).suggest(name, meant);
    if (hint.empty() && !meant) hint = "No atom binds " + name + "; add an atom with the argument " + name;
    if (!hint.empty()) error.note(std::move(hint));
    good = false;
  };
  const auto check_closed = [&](const syntax::argument& term) {
    const auto* const open = fields_of(term) == nullptr ? nullptr : find_open_field(term);
    if (open == nullptr) return;
    diagnostics.error(open->span, "Underscore in a record that has to be constructed");
    good = false;
  };
  const auto check_nested = [&](const syntax::aggregate& nested, const syntax::argument&) {
    good &= check_aggregate(clause, nested, bound, diagnostics);
  };
  for_each_own_variable(*clause.head, check);
  for_each_aggregate(*clause.head, check_nested);
  for (const flat_literal& flat : *clause.body) {
    for_each_own_variable(*flat.literal, check);
    for_each_aggregate(*flat.literal, check_nested);
    if (const auto* atom = flat.literal->as<syntax::atom>(); atom != nullptr && flat.negated) {
      for (const syntax::argument& argument : atom->arguments) check_closed(argument);
    }
    if (const auto* constraint = flat.literal->as<syntax::constraint>()) {
      const syntax::constraint_op op = flat.negated ? syntax::negated(constraint->op) : constraint->op;
      if (op == syntax::constraint_op::equal) continue;
      check_closed(constraint->left);
      check_closed(constraint->right);
    }
  }
  return good;
}

}  // namespace gpulog::sema
