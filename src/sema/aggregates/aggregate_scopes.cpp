#include "sema/aggregates/aggregate_scopes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sema/rewriting/syntax_walk.hpp"
#include "sema/terms.hpp"

namespace gpulog::sema {

namespace {

using name_set = std::set<std::string>;

template <class Node>
void collect_names(const Node& node, name_set& names) {
  for_each_own_variable(
      node, [&](const syntax::variable& variable, const syntax::argument&) { names.insert(variable.name); });
}

/// An equality that binds `variable` once all names in `needed` are bound.
struct equality {
  std::string variable;
  name_set needed;
};

/// Adds the variables that the atom binds: all variables outside functor calls.
void collect_bound_names(const syntax::atom& atom, name_set& names) {
  walk_terms(atom, [&](const syntax::argument& term) {
    if (const auto* variable = term.as<syntax::variable>()) names.insert(variable->name);
    return term.as<syntax::functor_call>() == nullptr && term.as<syntax::user_functor_call>() == nullptr &&
           term.as<syntax::aggregate>() == nullptr;
  });
}

bool holds(const syntax::argument& tree, const syntax::aggregate* wanted) {
  bool found = false;
  for_each_aggregate(tree, [&](const syntax::aggregate& one, const syntax::argument&) { found |= &one == wanted; });
  return found;
}

/// Adds the equalities for the numbers of parts in split(text, separator, number).
template <class Node>
void collect_numbers_of_parts(const Node& node, std::vector<equality>& equalities) {
  for_each_numbered_split(node, [&equalities](const syntax::functor_call& call) {
    const auto* number = call.arguments[2].as<syntax::variable>();
    if (number == nullptr) return;
    name_set needed;
    for (std::size_t i = 0; i < 2; ++i) collect_names(call.arguments[i], needed);
    equalities.push_back({number->name, std::move(needed)});
  });
}

/// Collects bound names and equalities from the literals.
/// @param except an aggregate whose value binds nothing; may be nullptr
void collect_bindings(const std::vector<syntax::conjunction>& alternatives, const syntax::aggregate* except,
                      name_set& bound, std::vector<equality>& equalities) {
  for (const syntax::conjunction& conjunction : alternatives) {
    for (const syntax::literal& part : conjunction) {
      if (const auto* atom = part.as<syntax::atom>()) collect_bound_names(*atom, bound);
      if (const auto* group = part.as<syntax::group>())
        collect_bindings(group->alternatives, except, bound, equalities);
      const auto* test = part.as<syntax::constraint>();
      if (test != nullptr || part.as<syntax::atom>() != nullptr) collect_numbers_of_parts(part, equalities);
      if (test == nullptr || test->op != syntax::constraint_op::equal) continue;
      for (const auto& [side, value] : {std::pair(&test->left, &test->right), std::pair(&test->right, &test->left)}) {
        name_set targets;
        collect_names(*side, targets);
        name_set needed;
        collect_names(*value, needed);
        if (side->as<syntax::functor_call>() != nullptr || side->as<syntax::user_functor_call>() != nullptr) continue;
        if (except != nullptr && holds(*value, except)) continue;
        for (const std::string& target : targets) equalities.push_back({target, needed});
      }
    }
  }
}

/// Returns `bound` and all variables that the literals bind once `bound` is bound.
/// @param equalities beside the literals
name_set bound_by(const std::vector<syntax::conjunction>& alternatives, name_set bound,
                  const syntax::aggregate* except = nullptr, std::vector<equality> equalities = {}) {
  collect_bindings(alternatives, except, bound, equalities);
  for (bool changed = true; changed;) {
    changed = false;
    for (const equality& each : equalities) {
      if (bound.contains(each.variable)) continue;
      if (!std::includes(bound.begin(), bound.end(), each.needed.begin(), each.needed.end())) continue;
      changed = bound.insert(each.variable).second;
    }
  }
  return bound;
}

class scope_separator {
 public:
  /// @param binds_witnesses false: only names are told apart
  explicit scope_separator(diagnostics& diagnostics, bool binds_witnesses = true)
      : diagnostics_(diagnostics), binds_witnesses_(binds_witnesses) {}

  void run(syntax::clause& clause) {
    scope outer;
    std::vector<equality> equalities;
    for (const syntax::atom& head : clause.heads) {
      collect_names(head, outer.visible);
      collect_numbers_of_parts(head, equalities);
    }
    collect_names(clause.body, outer.visible);
    outer.own = outer.visible;
    outer.bound = bound_by(clause.body, {}, nullptr, std::move(equalities));
    outer.body = &clause.body;
    syntax::conjunction added;
    outer.beside = &added;
    for (syntax::atom& head : clause.heads) {
      for_each_aggregate(
          head, [&](syntax::aggregate& aggregate, syntax::argument& term) { separate(aggregate, term, outer); });
    }
    if (!added.empty() && clause.body.empty()) clause.body.emplace_back();
    for (syntax::conjunction& conjunction : clause.body) {
      conjunction.insert(conjunction.end(), added.begin(), added.end());
    }
    separate_body(clause.body, outer);
  }

 private:
  struct scope {
    name_set visible;  ///< names inside the scope or an enclosing scope, outside aggregates
    name_set own;      ///< names inside the scope
    name_set bound;
    name_set given;  ///< names bound before the body runs
    const std::vector<syntax::conjunction>* body = nullptr;
    syntax::aggregate* owner = nullptr;  ///< the aggregate whose body is the scope
    const scope* around = nullptr;
    syntax::conjunction* beside = nullptr;  ///< receives literals added to the scope
  };
  using renaming = std::map<std::string, std::string>;

  void separate_body(std::vector<syntax::conjunction>& alternatives, const scope& around) {
    scope here = around;
    here.body = &alternatives;
    for (syntax::conjunction& conjunction : alternatives) {
      syntax::conjunction added;
      here.beside = &added;
      for (syntax::literal& part : conjunction) {
        name_result(part);
        for_each_aggregate(
            part, [&](syntax::aggregate& aggregate, syntax::argument& term) { separate(aggregate, term, here); });
      }
      std::move(added.begin(), added.end(), std::back_inserter(conjunction));
    }
  }

  /// Gives the result in `_ = min x : { .. }` a name: the equality binds witnesses and holds if a result exists.
  void name_result(syntax::literal& part) {
    auto* test = part.as<syntax::constraint>();
    if (test == nullptr || test->op != syntax::constraint_op::equal) return;
    for (const auto& [side, other] : {std::pair(&test->left, &test->right), std::pair(&test->right, &test->left)}) {
      if (side->as<syntax::unnamed_variable>() == nullptr || other->as<syntax::aggregate>() == nullptr) continue;
      *side = variable_term(fresh("_"), side->span);
    }
  }

  template <class Node>
  static void rename(Node& node, const renaming& names) {
    walk_terms(node, [&](syntax::argument& term) {
      if (auto* variable = term.as<syntax::variable>()) {
        if (const auto found = names.find(variable->name); found != names.end()) variable->name = found->second;
      }
      return true;
    });
  }
  static void rename(syntax::aggregate& aggregate, const renaming& names) {
    if (aggregate.target) rename(**aggregate.target, names);
    rename(aggregate.body, names);
  }

  static std::string as_written(const std::string& name) { return name.substr(0, name.find('@')); }

  std::string fresh(const std::string& name) { return name + "@" + std::to_string(++made_); }

  /// Returns the closest scope that uses the name, starting with `around`.
  /// @param name a variable that only an aggregate binds
  static const scope& home_of(const std::string& name, const scope& around) {
    const scope* home = &around;
    while (!home->own.contains(name) && home->around != nullptr) home = home->around;
    return *home;
  }

  /// Returns whether the aggregate, if moved to `home`, would lose variables of inner scopes.
  static bool needs_more_than(const scope& home, const syntax::aggregate& aggregate, const renaming& locals,
                              const scope& around) {
    bool found = false;
    const auto look = [&](const syntax::variable& variable, const syntax::argument&) {
      found |= !locals.contains(variable.name) && around.visible.contains(variable.name) &&
               !home.visible.contains(variable.name);
    };
    if (aggregate.target) for_each_variable(**aggregate.target, look);
    for_each_variable(aggregate.body, look);
    return found;
  }

  /// Returns names of the scope that only the aggregate's value binds: `y = max x : { a(x,y) }`.
  [[nodiscard]] name_set bound_by_result(const syntax::aggregate& aggregate, const scope& around) const {
    name_set given = around.given;
    given.insert(results_.begin(), results_.end());
    const name_set without = bound_by(*around.body, given, &aggregate);
    name_set only = bound_by(*around.body, given);
    for (const std::string& name : without) only.erase(name);
    return only;
  }

  void separate(syntax::aggregate& aggregate, syntax::argument& term, const scope& around) {
    name_set own;
    collect_names(aggregate.body, own);
    name_set of_target;
    if (aggregate.target) collect_names(**aggregate.target, of_target);
    own.insert(of_target.begin(), of_target.end());
    name_set bound_around = around.bound;
    for (const std::string& name : of_target) bound_around.erase(name);
    const name_set bound_inside = bound_by(aggregate.body, {});
    const name_set bound_with_others = bound_by(aggregate.body, bound_around);
    // A target that is a single variable is local. In an expression, a variable is a witness if no literal outside the
    // aggregate binds the variable.
    const bool is_expression = aggregate.target && (**aggregate.target).as<syntax::variable>() == nullptr;
    const auto is_target_only = [&](const std::string& name) {
      return of_target.contains(name) && !(is_expression && !around.bound.contains(name));
    };

    // An aggregate cannot read its own result: inside the aggregate, the name means another variable.
    const name_set of_result = bound_by_result(aggregate, around);
    renaming locals;
    name_set witnesses;
    for (const std::string& name : own) {
      const bool is_inside = bound_inside.contains(name);
      const bool is_local = !around.visible.contains(name) || of_result.contains(name) ||
                            (is_target_only(name) && bound_with_others.contains(name));
      if (is_local) {
        locals.emplace(name, fresh(name));
      } else if (!around.bound.contains(name) && is_inside) {
        witnesses.insert(name);
      }
    }
    const syntax::place where = term.span;
    if (!witnesses.empty() && binds_witnesses_) {
      const bool has_witnesses = aggregate.op == syntax::aggregate_op::min || aggregate.op == syntax::aggregate_op::max;
      if (!has_witnesses || !aggregate.target) {
        for (const std::string& name : witnesses) {
          diagnostics_.error(where, "Witness problem: argument " + as_written(name) + " is bound only by this " +
                                        std::string(syntax::spelling(aggregate.op)) +
                                        " aggregate and used outside of it");
        }
        return;
      }
      // An outer scope may use the witnesses. The copy of the body and this aggregate then move to the outer scope:
      // the result is the same for all matches of the enclosing aggregate.
      const scope& home = home_of(*witnesses.begin(), around);
      const bool is_one_home = std::all_of(witnesses.begin(), witnesses.end(),
                                           [&](const std::string& name) { return &home_of(name, around) == &home; });
      if (!is_one_home || needs_more_than(home, aggregate, locals, around)) {
        diagnostics_.error(where, "Witness problem: argument " + as_written(*witnesses.begin()) +
                                      " is bound only by this " + std::string(syntax::spelling(aggregate.op)) +
                                      " aggregate, which depends on variables of the aggregate around it, and used "
                                      "outside of both");
        return;
      }
      for (const scope* left = &around; left != &home; left = left->around) {
        if (left->owner != nullptr) left->owner->held_aggregate = true;
      }
      syntax::aggregate copy = aggregate;
      renaming copied;
      for (const auto& [name, unused] : locals) copied.emplace(name, fresh(name));
      rename(copy, copied);
      for (const std::string& name : witnesses) locals.emplace(name, fresh(name));
      scope extended = home;
      for (const auto& [unused, name] : copied) {
        extended.visible.insert(name);
        extended.own.insert(name);
      }
      extended.given = extended.bound;
      extended.bound = bound_by(copy.body, extended.bound);
      const std::string result = fresh("");
      results_.insert(result);
      syntax::conjunction copies;
      for (const syntax::conjunction& conjunction : copy.body) {
        copies.insert(copies.end(), conjunction.begin(), conjunction.end());
      }
      copies.push_back(equality_of(**copy.target, variable_term(result, where), where));
      std::vector<syntax::conjunction> whole{std::move(copies)};
      separate_body(whole, extended);
      std::move(whole.front().begin(), whole.front().end(), std::back_inserter(*home.beside));
      separate_inside(aggregate, locals, home);
      syntax::argument moved{std::move(aggregate), where};
      home.beside->push_back(equality_of(variable_term(result, where), std::move(moved), where));
      term = variable_term(result, where);
      return;
    }
    separate_inside(aggregate, locals, around);
  }

  void separate_inside(syntax::aggregate& aggregate, const renaming& locals, const scope& around) {
    rename(aggregate, locals);
    scope inner = around;
    inner.around = &around;
    inner.owner = &aggregate;
    inner.given = around.bound;
    inner.body = &aggregate.body;
    inner.own.clear();
    collect_names(aggregate.body, inner.own);
    if (aggregate.target) collect_names(**aggregate.target, inner.own);
    inner.visible.insert(inner.own.begin(), inner.own.end());
    inner.bound = bound_by(aggregate.body, inner.bound);
    separate_body(aggregate.body, inner);
    if (!aggregate.target) return;
    syntax::conjunction added;
    inner.beside = &added;
    for_each_aggregate(**aggregate.target,
                       [&](syntax::aggregate& nested, syntax::argument& term) { separate(nested, term, inner); });
    for (syntax::conjunction& conjunction : aggregate.body) {
      conjunction.insert(conjunction.end(), added.begin(), added.end());
    }
  }

  diagnostics& diagnostics_;
  bool binds_witnesses_;
  std::size_t made_ = 0;
  name_set results_;  ///< results of aggregates moved to an outer scope: bound at each use
};

}  // namespace

namespace {

bool has_aggregate(const syntax::clause& clause) {
  bool found = false;
  const auto look = [&](const syntax::aggregate&, const syntax::argument&) { found = true; };
  for (const syntax::atom& head : clause.heads) for_each_aggregate(head, look);
  for_each_aggregate(clause.body, look);
  return found;
}

}  // namespace

std::optional<syntax::clause> rename_local_variables(const syntax::clause& clause) {
  if (!has_aggregate(clause)) return std::nullopt;
  diagnostics unseen;
  syntax::clause result = clause;
  scope_separator(unseen, false).run(result);
  return result;
}

std::optional<syntax::clause> separate_scopes(const syntax::clause& clause, diagnostics& diagnostics) {
  if (!has_aggregate(clause)) return std::nullopt;
  syntax::clause result = clause;
  scope_separator(diagnostics).run(result);
  return result;
}

}  // namespace gpulog::sema
