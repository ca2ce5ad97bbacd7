#include <utility>
#include <variant>

#include "lsp/names/name_collector.hpp"

namespace gpulog::lsp {

named_symbol& name_collector::add(name_scope::names& names, name_kind kind, const syntax::identifier& name,
                                  const source_span& whole) {
  const auto number = static_cast<std::uint32_t>(out_.symbols_.size());
  const auto [entry, is_new] = names.emplace(name.text, number);
  if (is_new) {
    named_symbol& made = out_.symbols_.emplace_back();
    made.kind = kind;
    made.name = name.text;
    made.declared = name.span;
    made.whole = whole;
  }
  use(entry->second, name.span, name.text, name_role::declaration);
  return out_.symbols_[entry->second];
}

void name_collector::declare(const std::vector<syntax::item>& items, name_scope& scope) {
  for (const syntax::item& item : items) {
    std::visit([&](const auto& node) { declare(node, scope); }, item.value);
  }
}

void name_collector::declare_fields(const std::vector<syntax::attribute>& fields, const std::string& owner) {
  name_scope::names names;
  for (const syntax::attribute& field : fields) {
    if (field.name.text.empty()) continue;
    named_symbol& made = add(names, name_kind::attribute, field.name, field.span);
    made.owner = owner;
    fields_[&field] = out_.number_of(made);
  }
}

void name_collector::declare(const syntax::relation_declaration& node, name_scope& scope) {
  const std::string owner = scope.component == nullptr ? "" : scope.component->type.name.text;
  for (const syntax::identifier& name : node.names) {
    named_symbol& made = add(scope.relations, name_kind::relation, name, node.span);
    made.owner = owner;
    made.attributes = &node.attributes;
  }
  if (!node.names.empty()) declare_fields(node.attributes, node.names.front().text);
}

void name_collector::declare(const syntax::type_declaration& node, name_scope& scope) {
  add(scope.types, name_kind::type, node.name, node.span).type = &node;
  if (const auto* record = std::get_if<syntax::record_definition>(&node.definition)) {
    declare_fields(record->fields, node.name.text);
  }
  if (const auto* adt = std::get_if<syntax::adt_definition>(&node.definition)) {
    for (const syntax::branch_definition& branch : adt->branches) {
      named_symbol& made = add(scope.branches, name_kind::branch, branch.name, branch.span);
      made.owner = node.name.text;
      made.attributes = &branch.fields;
      declare_fields(branch.fields, branch.name.text);
    }
  }
}

void name_collector::declare(const syntax::functor_declaration& node, name_scope& scope) {
  named_symbol& made = add(scope.functors, name_kind::functor, node.name, node.span);
  made.functor = &node;
  made.attributes = &node.parameters;
}

void name_collector::declare(const syntax::component& node, name_scope& scope) {
  add(scope.components, name_kind::component, node.type.name, node.span);
  name_scope& inner = scopes_.emplace_back();
  inner.around = &scope;
  inner.component = &node;
  scope.scopes.emplace(node.type.name.text, &inner);
  scope_of_[&node] = &inner;
  for (const syntax::identifier& parameter : node.type.parameters) {
    add(inner.types, name_kind::type_parameter, parameter, parameter.span);
  }
  declare(node.items, inner);
}

void name_collector::declare(const syntax::component_instance& node, name_scope& scope) {
  add(scope.instances, name_kind::instance, node.name, node.span);
  scope.instance_of.emplace(node.name.text, &node.type);
}

void name_collector::add_members(const name_scope& scope) {
  for (const auto& [instance, type] : scope.instance_of) {
    const name_scope* const content = find_component(scope, type->name.text);
    if (content == nullptr) continue;
    for (const name_scope* each : with_bases(*content)) {
      for (const auto& [name, number] : each->relations) out_.members_.push_back({instance, number});
    }
  }
}

}  // namespace gpulog::lsp
