#include "sema/types/type_constraints.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>

namespace gpulog::sema {

type_constraints::unknown type_constraints::add_unknown() {
  solution_.emplace_back();
  watchers_.emplace_back();
  return static_cast<unknown>(solution_.size() - 1);
}

void type_constraints::add(constraint added, std::vector<unknown> terms) {
  const auto number = static_cast<std::uint32_t>(constraints_.size());
  constraints_.push_back(std::move(added));
  for (const unknown term : terms) watchers_[term].push_back(number);
  is_waiting_.push_back(false);
  enqueue(number);
}

void type_constraints::enqueue(std::uint32_t number) {
  if (is_waiting_[number]) return;
  is_waiting_[number] = true;
  (std::holds_alternative<overloaded>(constraints_[number]) ? waiting_functors_ : waiting_).push_back(number);
}

type_id type_constraints::bound_of(type_id named) const {
  const value_kind kind = types_.kind(named);
  const bool is_structure = kind == value_kind::record || kind == value_kind::adt;
  return precision_ == type_precision::declared || is_structure ? named : types_.of_kind(kind);
}

void type_constraints::require_subtype(unknown term, type_id bound, source_span where) {
  add(bound_by_type{term, bound_of(bound)}, {});
  demands_.push_back({term, bound, where});
}

void type_constraints::require_subtype(unknown term, unknown bound) { add(bound_by_term{term, bound}, {bound}); }

void type_constraints::require_kind_among(unknown term, std::vector<value_kind> kinds, source_span where) {
  if (kinds.size() == 1) {
    require_subtype(term, types_.of_kind(kinds.front()), where);
    return;
  }
  add(among{term, std::move(kinds)}, {});
}

void type_constraints::require_overload(unknown result, std::vector<unknown> arguments,
                                        const functor_signature& signature) {
  std::vector<unknown> terms = arguments;
  terms.push_back(result);
  add(overloaded{result, std::move(arguments), &signature}, std::move(terms));
}

void type_constraints::set(unknown term, type_set types) {
  if (types == solution_[term]) return;
  solution_[term] = std::move(types);
  for (const std::uint32_t watcher : watchers_[term]) enqueue(watcher);
}

void type_constraints::shrink(unknown term, const type_set& bound) {
  if (!bound.is_all()) set(term, types_.meet(solution_[term], bound));
}

void type_constraints::shrink_to_kinds(unknown term, const std::vector<value_kind>& kinds) {
  std::set<type_id> remaining;
  if (solution_[term].is_all()) {
    for (value_kind kind : kinds) remaining.insert(types_.of_kind(kind));
  } else {
    for (type_id type : solution_[term].members()) {
      if (std::find(kinds.begin(), kinds.end(), types_.kind(type)) != kinds.end()) remaining.insert(type);
    }
  }
  set(term, type_set(std::move(remaining)));
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

void type_constraints::apply(const overloaded& functor) {
  std::vector<const functor_overload*> candidates;
  std::vector<value_kind> results;
  for (const functor_overload& candidate : functor.signature->overloads) {
    if (!fits(candidate, functor.result, functor.arguments)) continue;
    candidates.push_back(&candidate);
    results.push_back(candidate.result);
  }
  // Without a candidate, the result has no type but the operands keep their types, so that only the functor is
  // reported.
  shrink_to_kinds(functor.result, results);
  if (candidates.empty()) return;
  for (std::size_t position = 0; position < functor.arguments.size(); ++position) {
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
    if (!any) shrink_to_kinds(functor.arguments[position], kinds);
  }
}

void type_constraints::require_record(unknown record, std::vector<placed> fields) {
  add(constructed{record, std::move(fields)}, {record});
}

structure_id type_constraints::structure(unknown term) const {
  const type_set& types = solution_[term];
  if (types.is_all() || types.empty()) return {};
  const structure_id first = types_[*types.members().begin()].structure;
  const bool same = std::all_of(types.members().begin(), types.members().end(),
                                [&](type_id type) { return types_[type].structure == first; });
  return same ? first : structure_id();
}

void type_constraints::apply(const constructed& record) {
  const structure_id structure_of_record = structure(record.record);
  if (!structure_of_record.valid()) return;
  const std::vector<type_id>& fields = types_.structure(structure_of_record).fields;
  if (fields.size() != record.fields.size()) return;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    if (fields[field].valid()) shrink(record.fields[field].term, type_set({bound_of(fields[field])}));
  }
}

void type_constraints::solve() {
  while (!waiting_.empty() || !waiting_functors_.empty()) {
    std::deque<std::uint32_t>& queue = waiting_.empty() ? waiting_functors_ : waiting_;
    const std::uint32_t number = queue.front();
    queue.pop_front();
    is_waiting_[number] = false;
    std::visit([this](const auto& kind_of_constraint) { apply(kind_of_constraint); }, constraints_[number]);
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

bool type_constraints::takes(const std::vector<unknown>& arguments, const functor_signature& signature) const {
  return std::any_of(signature.overloads.begin(), signature.overloads.end(), [&](const functor_overload& candidate) {
    for (std::size_t position = 0; position < arguments.size(); ++position) {
      const auto parameter = candidate.parameter(position);
      if (parameter && !may_have(arguments[position], *parameter)) return false;
    }
    return true;
  });
}

std::vector<type_constraints::demand> type_constraints::demands_on(unknown term) const {
  std::vector<demand> result;
  std::copy_if(demands_.begin(), demands_.end(), std::back_inserter(result),
               [term](const demand& one) { return one.term == term; });
  for (const constraint& one : constraints_) {
    const auto* const record = std::get_if<constructed>(&one);
    if (record == nullptr || !structure(record->record).valid()) continue;
    const std::vector<type_id>& types = types_.structure(structure(record->record)).fields;
    if (types.size() != record->fields.size()) continue;
    for (std::size_t field = 0; field < types.size(); ++field) {
      const auto& [value, where] = record->fields[field];
      if (value == term && types[field].valid()) result.push_back({term, types[field], where});
    }
  }
  return result;
}

type_set type_constraints::met_by(const std::vector<demand>& demands) const {
  type_set types;
  for (const demand& one : demands) types = types_.meet(types, type_set({bound_of(one.type)}));
  return types;
}

std::vector<type_constraints::demand> type_constraints::incompatible_demands(unknown term) const {
  std::vector<demand> demands;
  std::set<type_id> seen;
  for (const demand& one : demands_on(term)) {
    if (seen.insert(one.type).second) demands.push_back(one);
  }
  if (!met_by(demands).empty()) return {};
  for (std::size_t place = 0; place < demands.size();) {
    std::vector<demand> fewer = demands;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(place));
    if (met_by(fewer).empty()) {
      demands = std::move(fewer);
    } else {
      ++place;
    }
  }
  return demands;
}

std::vector<type_constraints::unknown> type_constraints::incompatible_terms(unknown term) const {
  const type_set own = met_by(demands_on(term));
  std::vector<unknown> all;
  std::vector<unknown> incompatible;
  for (const constraint& one : constraints_) {
    const auto* const compared = std::get_if<bound_by_term>(&one);
    if (compared == nullptr || compared->term != term || compared->bound == term) continue;
    if (std::find(all.begin(), all.end(), compared->bound) != all.end()) continue;
    all.push_back(compared->bound);
    if (types_.meet(own, met_by(demands_on(compared->bound))).empty()) incompatible.push_back(compared->bound);
  }
  return incompatible.empty() ? all : incompatible;
}

}  // namespace gpulog::sema
