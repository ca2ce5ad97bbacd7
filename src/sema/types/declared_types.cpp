#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sema/strong_components.hpp"
#include "sema/types/declarations.hpp"
#include "support/suggestion.hpp"
#include "syntax/hint_texts.hpp"

/// Evaluation of `.type` declarations. A type may refer to later types, so a type is defined on its first use.
namespace gpulog::sema {

namespace {

/// Limit for the length of a chain of type definitions, so that recursion over types is safe.
constexpr std::size_t deepest_type = 1000;

constexpr std::string_view role_in_union = " in the definition of union type ";

/// Returns the type that corresponds to a type name of another language; empty if no type corresponds.
std::string_view type_called(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"string", "symbol"}, {"String", "symbol"},  {"str", "symbol"},    {"text", "symbol"}, {"varchar", "symbol"},
      {"int", "number"},    {"integer", "number"}, {"long", "number"},   {"i32", "number"},  {"i64", "number"},
      {"double", "float"},  {"real", "float"},     {"f32", "float"},     {"f64", "float"},   {"uint", "unsigned"},
      {"u32", "unsigned"},  {"u64", "unsigned"},   {"bigint", "number"}, {"char", "symbol"}};
  for (const auto& [foreign, ours] : types) {
    if (foreign == name) return ours;
  }
  return {};
}

}  // namespace

void declarations::collect_types(const std::vector<syntax::item>& items) {
  for (const syntax::item& item : items) {
    const auto* declaration = item.as<syntax::type_declaration>();
    if (declaration == nullptr) continue;
    const std::string& name = declaration->name.text;
    if (types_.find(name)) {
      diagnostics_.error(declaration->name.span, "Redefinition of the predefined type " + name);
      continue;
    }
    const auto [previous, inserted] = pending_types_.emplace(name, pending_type{declaration});
    if (!inserted) {
      diagnostics_.error(declaration->name.span, "Redefinition of type " + name)
          .note(previous->second.declaration->name.span, "Previous definition");
    }
  }
}

void declarations::reject_cycles(const std::vector<syntax::item>& items) {
  std::vector<pending_type*> all;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (const syntax::item& item : items) {
    const auto* declaration = item.as<syntax::type_declaration>();
    if (declaration == nullptr) continue;
    const auto found = pending_types_.find(declaration->name.text);
    if (found == pending_types_.end() || found->second.declaration != declaration) continue;
    numbers.emplace(declaration->name.text, static_cast<std::uint32_t>(all.size()));
    all.push_back(&found->second);
  }
  graph stands_on(all.size());
  for (std::uint32_t number = 0; number < all.size(); ++number) {
    const auto add = [&](const syntax::qualified_name& name) {
      if (const auto found = numbers.find(name.text); found != numbers.end())
        stands_on[number].push_back(found->second);
    };
    const auto& definition = all[number]->declaration->definition;
    if (const auto* subtype = std::get_if<syntax::subtype_definition>(&definition)) add(subtype->base);
    if (const auto* alias = std::get_if<syntax::alias_definition>(&definition)) add(alias->target);
    if (const auto* united = std::get_if<syntax::union_definition>(&definition)) {
      for (const syntax::qualified_name& member : united->members) add(member);
    }
  }
  for (const std::vector<std::uint32_t>& component : strong_components(stands_on)) {
    const std::vector<std::uint32_t>& first = stands_on[component.front()];
    const bool is_cycle =
        component.size() > 1 || std::find(first.begin(), first.end(), component.front()) != first.end();
    if (!is_cycle) continue;
    for (const std::uint32_t number : component) {
      all[number]->state = progress::done;
      const syntax::identifier& name = all[number]->declaration->name;
      diagnostics_.error(name.span, "Infinite descent in the definition of type " + name.text);
    }
  }
}

std::optional<type_id> declarations::resolve_type(const syntax::qualified_name& name, const std::string& role) {
  if (const auto found = types_.find(name.text)) return found;
  const auto pending = pending_types_.find(name.text);
  if (pending == pending_types_.end()) {
    std::vector<std::string> candidates = types_.names();
    for (const auto& [candidate, declaration] : pending_types_) candidates.push_back(candidate);
    std::sort(candidates.begin(), candidates.end());
    const std::string_view ours = type_called(name.text);
    const auto meant = ours.empty() ? closest_name(name.text, candidates) : std::string(ours);
    auto& error = diagnostics_.error(name.span, "Undefined type " + name.text + role).suggest(name.text, meant);
    if (name.text == "bool" || name.text == "boolean" || name.text == "Bool") {
      error.note(std::string(syntax::bool_hint));
    } else if (role.starts_with(role_in_union) && !meant) {
      error.note(std::string(syntax::branch_form));
    }
    return std::nullopt;
  }
  if (pending->second.state == progress::waiting) define_type(pending->second);
  return types_.find(name.text);
}

void declarations::define_type(pending_type& pending) {
  pending.state = progress::done;
  if (type_depth_ >= deepest_type) {
    diagnostics_.error(pending.declaration->name.span, "Type " + pending.declaration->name.text +
                                                           " has a chain of more than " + std::to_string(deepest_type) +
                                                           " types");
  } else {
    ++type_depth_;
    std::visit([&](const auto& definition) { define(*pending.declaration, definition); },
               pending.declaration->definition);
    --type_depth_;
  }
}

void declarations::define(const syntax::type_declaration& declaration, const syntax::subtype_definition& definition) {
  const auto base = resolve_type(definition.base, " as base of type " + declaration.name.text);
  if (!base) return;
  const bool of_union = types_[*base].form == type_form::union_of;
  if (of_union || types_.kind(*base) == value_kind::record) {
    diagnostics_.error(declaration.span, "Subset type " + declaration.name.text + " can't be derived from " +
                                             (of_union ? "union " : "record type ") + definition.base.text);
  }
  types_.add({declaration.name.text, type_form::subtype, types_.kind(*base), *base, {}, types_[*base].structure});
}

void declarations::define(const syntax::type_declaration& declaration, const syntax::alias_definition& definition) {
  const auto target = resolve_type(definition.target, " in the definition of type " + declaration.name.text);
  if (target) types_.add_alias(declaration.name.text, *target);
}

void declarations::define(const syntax::type_declaration& declaration, const syntax::union_definition& definition) {
  type_description description{declaration.name.text, type_form::union_of, value_kind::number, {}, {}, {}};
  std::set<value_kind> kinds;
  for (const syntax::qualified_name& member : definition.members) {
    const auto element = resolve_type(member, std::string(role_in_union) + declaration.name.text);
    if (!element) continue;
    description.elements.push_back(*element);
    kinds.insert(types_.kind(*element));
  }
  if (description.elements.empty()) return;
  description.kind = types_.kind(description.elements.front());
  if (kinds.size() > 1) {
    std::string names;
    for (value_kind kind : kinds) names += (names.empty() ? "" : ", ") + std::string(kind_name(kind));
    diagnostics_.error(declaration.span,
                       "Union type " + declaration.name.text + " contains a mixture of primitive types: " + names);
    // Elements of one kind remain, so that uses of the type cause no further errors.
    std::erase_if(description.elements, [&](type_id element) { return types_.kind(element) != description.kind; });
  }
  description.structure = types_[description.elements.front()].structure;
  for (const type_id element : description.elements) {
    if (types_[element].structure == description.structure) continue;
    diagnostics_.error(declaration.span, "Union type " + declaration.name.text +
                                             " contains different record types or algebraic data types");
    description.elements.resize(1);
    break;
  }
  types_.add(std::move(description));
}

void declarations::define(const syntax::type_declaration& declaration, const syntax::record_definition&) {
  add_structure(declaration, value_kind::record);
}

void declarations::define(const syntax::type_declaration& declaration, const syntax::adt_definition&) {
  add_structure(declaration, value_kind::adt);
}

/// Adds a record or algebraic data type without fields. Fields may have types that are defined later, or the type
/// itself: they are resolved after all types have names.
void declarations::add_structure(const syntax::type_declaration& declaration, value_kind kind) {
  types_.add_structure(declaration.name.text, kind);
  structures_.push_back(&declaration);
  program_.structures.push_back({declaration.name.text, kind, {}, {}});
}

void declarations::complete_structures() {
  for (std::uint32_t number = 0; number < structures_.size(); ++number) {
    const syntax::type_declaration& declaration = *structures_[number];
    structure_fields& types = types_.structure(structure_id(number));
    structure_type& described = program_.structures[number];
    if (const auto* record = std::get_if<syntax::record_definition>(&declaration.definition)) {
      check_field_names(record->fields);
      types.fields = resolve_fields(record->fields, described.fields);
    } else if (const auto* adt = std::get_if<syntax::adt_definition>(&declaration.definition)) {
      complete_branches(*adt, types, described);
    }
  }
}

/// Checks the field names of records only: fields of branches have no names, only positions.
void declarations::check_field_names(const std::vector<syntax::attribute>& fields) {
  std::unordered_map<std::string, source_span> seen;
  for (const syntax::attribute& field : fields) {
    const auto [previous, inserted] = seen.emplace(field.name.text, field.span);
    if (inserted) continue;
    diagnostics_.error(field.span, "Doubly defined field name " + field.name.text + ":" + field.type.text)
        .note(previous->second, "Previous definition");
  }
}

std::vector<type_id> declarations::resolve_fields(const std::vector<syntax::attribute>& fields,
                                                  std::vector<field_type>& described) {
  std::vector<type_id> types;
  for (const syntax::attribute& field : fields) {
    const auto type = resolve_type(field.type, " in the definition of field " + field.name.text);
    types.push_back(type.value_or(type_id()));
    field_type& description = described.emplace_back();
    description.name = field.name.text;
    if (type) description.type = {types_.kind(*type), types_[*type].structure};
  }
  return types;
}

void declarations::complete_branches(const syntax::adt_definition& definition, structure_fields& types,
                                     structure_type& described) {
  std::vector<const syntax::branch_definition*> ordered;
  for (const syntax::branch_definition& branch : definition.branches) ordered.push_back(&branch);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* left, const auto* right) { return left->name.text < right->name.text; });
  for (const syntax::branch_definition* branch : ordered) {
    const auto number = static_cast<std::uint32_t>(described.branches.size());
    const auto [previous, inserted] =
        branches_.emplace(branch->name.text, declared_branch{{types.type, number}, branch->name.span});
    if (!inserted) {
      diagnostics_.error(branch->name.span, "Branch " + branch->name.text + " is defined more than once")
          .note(previous->second.span, "Previous definition");
      std::vector<field_type> unused;
      static_cast<void>(resolve_fields(branch->fields, unused));  // reports errors in the fields
      continue;
    }
    branch_type& description = described.branches.emplace_back();
    description.name = branch->name.text;
    types.branches.push_back(resolve_fields(branch->fields, description.fields));
  }
}

const declarations::known_branch* declarations::find_branch(const std::string& name) const {
  const auto found = branches_.find(name);
  return found == branches_.end() ? nullptr : &found->second.what;
}

std::vector<std::string> declarations::branch_names() const {
  std::vector<std::string> names;
  for (const auto& [name, branch] : branches_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gpulog::sema
