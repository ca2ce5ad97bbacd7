#include "sema/rewriting/debug_delta.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace gpulog::sema {

namespace {

const syntax::relation_declaration* debug_delta(const syntax::item& item) {
  const auto* declaration = item.as<syntax::relation_declaration>();
  return declaration != nullptr && declaration->debug_delta_of ? declaration : nullptr;
}

syntax::clause filling_rule(const syntax::relation_declaration& declaration, std::size_t columns) {
  const syntax::place span = declaration.span;
  syntax::atom body{{declaration.debug_delta_of->text, declaration.debug_delta_of->span}, {}, span};
  for (std::size_t column = 0; column < columns; ++column) {
    // Programs cannot contain such a name.
    body.arguments.push_back({syntax::variable{"@delta" + std::to_string(column)}, span});
  }
  syntax::atom head{{declaration.names.front().text, declaration.names.front().span}, body.arguments, span};
  const syntax::argument now{syntax::iteration_counter{}, span};
  const syntax::argument one{syntax::numeric_constant{"1", syntax::numeric_form::unsigned_number}, span};
  head.arguments.push_back({syntax::functor_call{syntax::functor::subtract, {now, one}}, span});
  syntax::clause rule;
  rule.span = span;
  rule.heads.push_back(std::move(head));
  rule.body.push_back({{std::move(body), span}});
  return rule;
}

}  // namespace

bool has_debug_deltas(const std::vector<syntax::item>& items) {
  return std::any_of(items.begin(), items.end(), [](const syntax::item& item) { return debug_delta(item) != nullptr; });
}

std::vector<syntax::item> define_debug_deltas(std::vector<syntax::item> items) {
  std::unordered_map<std::string, const std::vector<syntax::attribute>*> attributes;
  for (const syntax::item& item : items) {
    const auto* declaration = item.as<syntax::relation_declaration>();
    if (declaration == nullptr || declaration->debug_delta_of) continue;
    for (const syntax::identifier& name : declaration->names) attributes.emplace(name.text, &declaration->attributes);
  }
  std::vector<syntax::item> rules;
  for (syntax::item& item : items) {
    auto* declaration = item.as<syntax::relation_declaration>();
    if (declaration == nullptr || !declaration->debug_delta_of) continue;
    const auto source = attributes.find(declaration->debug_delta_of->text);
    if (source == attributes.end()) continue;
    declaration->attributes = *source->second;
    declaration->attributes.push_back(
        {{"<iteration>", declaration->span}, {"unsigned", declaration->span}, false, declaration->span});
    rules.push_back({filling_rule(*declaration, source->second->size())});
  }
  items.insert(items.end(), std::make_move_iterator(rules.begin()), std::make_move_iterator(rules.end()));
  return items;
}

std::vector<dependency> debug_delta_dependencies(const std::vector<syntax::item>& items, const declarations& declared) {
  std::vector<dependency> dependencies;
  for (const syntax::item& item : items) {
    const auto* declaration = debug_delta(item);
    if (declaration == nullptr) continue;
    const auto filled = declared.find_relation(declaration->names.front().text);
    const auto source = declared.find_relation(declaration->debug_delta_of->text);
    if (filled && source) dependencies.push_back({*filled, *source, false});
  }
  return dependencies;
}

}  // namespace gpulog::sema
