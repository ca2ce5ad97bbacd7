#include "sema/types/types.hpp"

#include <algorithm>
#include <array>

#include "support/value_table.hpp"

namespace gpulog::sema {

namespace {

constexpr std::array primitive_kinds = {value_kind::number, value_kind::unsigned_number, value_kind::floating,
                                        value_kind::symbol};

}  // namespace

std::string_view kind_name(value_kind kind) {
  using enum value_kind;
  static constexpr entry<value_kind, std::string_view> table[] = {{number, "number"},  {unsigned_number, "unsigned"},
                                                                  {floating, "float"}, {symbol, "symbol"},
                                                                  {record, "record"},  {adt, "adt"}};
  static_assert(has_all(table, adt));
  return find_in(table, kind).value();
}

type_environment::type_environment() {
  // The kinds have the first numbers, so that of_kind is an index; no name refers to a kind.
  for (value_kind kind : primitive_kinds) {
    types_.push_back({std::string(kind_name(kind)), type_form::kind, kind, {}, {}, {}});
  }
  for (value_kind kind : primitive_kinds) {
    add({std::string(kind_name(kind)), type_form::primitive, kind, of_kind(kind), {}, {}});
  }
}

type_id type_environment::add(type_description description) {
  const type_id id(static_cast<std::uint32_t>(types_.size()));
  by_name_.emplace(description.name, id);
  types_.push_back(std::move(description));
  return id;
}

type_id type_environment::add_structure(std::string name, value_kind kind) {
  const structure_id structure(static_cast<std::uint32_t>(structures_.size()));
  const type_id id = add({std::move(name), type_form::structure, kind, {}, {}, structure});
  structures_.push_back({id, {}, {}});
  return id;
}

void type_environment::add_alias(const std::string& name, type_id target) { by_name_.emplace(name, target); }

std::optional<type_id> type_environment::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

type_id type_environment::of_kind(value_kind kind) const {
  const auto position = std::find(primitive_kinds.begin(), primitive_kinds.end(), kind);
  return type_id(static_cast<std::uint32_t>(position - primitive_kinds.begin()));
}

std::vector<std::string> type_environment::names() const {
  std::vector<std::string> result;
  result.reserve(by_name_.size());
  for (const auto& [name, id] : by_name_) result.push_back(name);
  std::sort(result.begin(), result.end());
  return result;
}

bool type_environment::is_subtype(type_id below, type_id above) const {
  if (below == above) return true;
  const type_description& lower = types_[below.value];
  const type_description& upper = types_[above.value];
  if (lower.form == type_form::union_of) {
    return std::all_of(lower.elements.begin(), lower.elements.end(),
                       [&](type_id element) { return is_subtype(element, above); });
  }
  if (upper.form == type_form::union_of && std::any_of(upper.elements.begin(), upper.elements.end(),
                                                       [&](type_id element) { return is_subtype(below, element); })) {
    return true;
  }
  if (lower.form == type_form::primitive || lower.form == type_form::subtype) return is_subtype(lower.base, above);
  return false;
}

void type_environment::collect_common(type_id candidate, type_id bound, std::set<type_id>& result) const {
  if (is_subtype(candidate, bound)) {
    result.insert(candidate);
    return;
  }
  for (type_id element : types_[candidate.value].elements) collect_common(element, bound, result);
}

std::set<type_id> type_environment::greatest_common_subtypes(type_id left, type_id right) const {
  if (is_subtype(left, right)) return {left};
  if (is_subtype(right, left)) return {right};
  std::set<type_id> result;
  if (types_[left.value].form == type_form::union_of && types_[right.value].form == type_form::union_of) {
    collect_common(left, right, result);
  }
  return result;
}

type_set type_environment::meet(const type_set& left, const type_set& right) const {
  if (left.is_all()) return right;
  if (right.is_all()) return left;
  std::set<type_id> result;
  for (type_id a : left.members()) {
    for (type_id b : right.members()) {
      result.merge(greatest_common_subtypes(a, b));
    }
  }
  return type_set(std::move(result));
}

std::string type_environment::text(const type_set& types) const {
  if (types.is_all()) return "any type";
  if (types.members().size() == 1) return types_[types.members().begin()->value].name;
  std::string result = "{";
  for (type_id id : types.members()) {
    if (result.size() > 1) result += ", ";
    result += types_[id.value].name;
  }
  return result + "}";
}

}  // namespace gpulog::sema
