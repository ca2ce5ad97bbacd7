#include "sema/type_constraints.hpp"

#include <algorithm>

namespace gpulog::sema {

type_constraints::unknown type_constraints::add_unknown() {
  solution_.emplace_back();
  return static_cast<unknown>(solution_.size() - 1);
}

void type_constraints::require_subtype(unknown term, type_id bound, source_span where) {
  type_bounds_.push_back({term, bound});
  demands_.push_back({term, types_[bound].name, where});
}

void type_constraints::require_subtype(unknown term, unknown bound) { term_bounds_.push_back({term, bound}); }

void type_constraints::require_kind_among(unknown term, std::vector<value_kind> kinds, source_span where) {
  if (kinds.size() == 1) {
    require_subtype(term, types_.of_kind(kinds.front()), where);
    return;
  }
  kind_choices_.push_back({term, std::move(kinds)});
}

void type_constraints::require_overload(unknown result, std::vector<unknown> arguments,
                                        const functor_signature& signature) {
  overloads_.push_back({result, std::move(arguments), &signature});
}

bool type_constraints::shrink(unknown term, const type_set& bound) {
  if (bound.is_all()) return false;
  type_set smaller = types_.meet(solution_[term], bound);
  if (smaller == solution_[term]) return false;
  solution_[term] = std::move(smaller);
  return true;
}

bool type_constraints::shrink_to_kinds(unknown term, const std::vector<value_kind>& kinds) {
  std::set<type_id> remaining;
  if (solution_[term].is_all()) {
    for (value_kind kind : kinds) remaining.insert(types_.of_kind(kind));
  } else {
    for (type_id type : solution_[term].members()) {
      if (std::find(kinds.begin(), kinds.end(), types_.kind(type)) != kinds.end()) remaining.insert(type);
    }
    if (remaining.size() == solution_[term].members().size()) return false;
  }
  solution_[term] = type_set(std::move(remaining));
  return true;
}

bool type_constraints::may_have(unknown term, value_kind kind) const {
  const type_set& types = solution_[term];
  return types.is_all() || std::any_of(types.members().begin(), types.members().end(),
                                       [&](type_id type) { return types_.kind(type) == kind; });
}

bool type_constraints::fits(const functor_overload& candidate, unknown result,
                            const std::vector<unknown>& arguments) const {
  if (!may_have(result, candidate.result)) return false;
  for (std::size_t position = 0; position < arguments.size(); ++position) {
    const auto kind = candidate.parameter(position);
    if (kind && !may_have(arguments[position], *kind)) return false;
  }
  return true;
}

bool type_constraints::apply(const overloaded& constraint) {
  std::vector<const functor_overload*> candidates;
  for (const functor_overload& candidate : constraint.signature->overloads) {
    if (fits(candidate, constraint.result, constraint.arguments)) candidates.push_back(&candidate);
  }
  // Without a candidate the result has no type, but the operands keep theirs: one message, at the functor.
  std::vector<value_kind> results;
  for (const functor_overload* candidate : candidates) results.push_back(candidate->result);
  bool changed = shrink_to_kinds(constraint.result, results);
  if (candidates.empty()) return changed;
  for (std::size_t position = 0; position < constraint.arguments.size(); ++position) {
    std::vector<value_kind> kinds;
    bool any = false;
    for (const functor_overload* candidate : candidates) {
      const auto kind = candidate->parameter(position);
      if (kind) {
        kinds.push_back(*kind);
      } else {
        any = true;
      }
    }
    if (!any) changed |= shrink_to_kinds(constraint.arguments[position], kinds);
  }
  return changed;
}

void type_constraints::solve() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const bound_by_type& bound : type_bounds_) changed |= shrink(bound.term, type_set({bound.bound}));
    for (const bound_by_term& bound : term_bounds_) changed |= shrink(bound.term, solution_[bound.bound]);
    for (const among& choice : kind_choices_) changed |= shrink_to_kinds(choice.term, choice.kinds);
    for (const overloaded& constraint : overloads_) changed |= apply(constraint);
  }
}

value_kind type_constraints::kind(unknown term) const {
  for (value_kind kind : {value_kind::number, value_kind::unsigned_number, value_kind::floating, value_kind::symbol,
                          value_kind::record, value_kind::adt}) {
    if (!solution_[term].is_all() && may_have(term, kind)) return kind;
  }
  return value_kind::number;
}

const functor_overload* type_constraints::overload(unknown result, const std::vector<unknown>& arguments,
                                                   const functor_signature& signature) const {
  const value_kind result_kind = kind(result);
  for (const functor_overload& candidate : signature.overloads) {
    bool fitting = candidate.result == result_kind;
    for (std::size_t position = 0; fitting && position < arguments.size(); ++position) {
      const auto parameter = candidate.parameter(position);
      fitting = !parameter || *parameter == kind(arguments[position]);
    }
    if (fitting) return &candidate;
  }
  return nullptr;
}

}  // namespace gpulog::sema
