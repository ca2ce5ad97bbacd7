#include "lsp/names/name_collector.hpp"

#include <utility>
#include <variant>

#include "syntax/lexer.hpp"

namespace gpulog::lsp {

namespace {

/// Returns the place of the word in the text at `span`; nothing if the text lacks the word, as in calls of macros.
std::optional<source_span> place_of_word(const source_span& span, std::string_view word) {
  if (!span.valid()) return std::nullopt;
  const std::string_view text = span.file->text().substr(span.begin, span.end - span.begin);
  if (text == word) return span;
  const auto is_part = [&](std::size_t at) { return at < text.size() && syntax::is_identifier_part(text[at]); };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if ((at > 0 && is_part(at - 1)) || is_part(at + word.size())) continue;
    const auto begin = static_cast<std::uint32_t>(span.begin + at);
    return source_span{span.file, begin, static_cast<std::uint32_t>(begin + word.size())};
  }
  return std::nullopt;
}

}  // namespace

void name_collector::run(const syntax::program& tree) {
  name_scope& top = scopes_.emplace_back();
  declare(tree.items, top);
  add_members(top);
  resolve(tree.items, top);
}

void name_collector::use(std::uint32_t symbol, const source_span& span, std::string_view name, name_role role) {
  if (!span.valid()) return;
  const std::optional<source_span> word = place_of_word(span, name);
  out_.uses_.push_back({word.value_or(span), symbol, clause_, role, word.has_value()});
}

void name_collector::resolve(const std::vector<syntax::item>& items, const name_scope& scope) {
  for (const syntax::item& item : items) {
    std::visit([&](const auto& node) { resolve(node, scope); }, item.value);
  }
}

void name_collector::resolve_qualified(const syntax::qualified_name& name, const name_scope& scope,
                                       name_scope::names name_scope::*kind, name_role role) {
  if (name.is_simple()) {
    if (const auto symbol = find_name(scope, kind, name.text)) use(*symbol, name.span, name.text, role);
    return;
  }
  const name_scope* in = &scope;
  source_span rest = name.span;
  std::string_view text = name.text;
  for (bool is_first = true; in != nullptr; is_first = false) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const bool is_last = dot == std::string_view::npos;
    name_scope::names name_scope::*own = is_last ? kind : &name_scope::instances;
    const auto symbol = is_first ? find_name(*in, own, part) : find_member(*in, own, part);
    if (!symbol) return;
    use(*symbol, rest, part, is_last ? role : name_role::mentions);
    if (is_last) return;
    if (const auto word = place_of_word(rest, part)) rest.begin = word->end;
    in = find_instance(*in, part);
    text.remove_prefix(dot + 1);
  }
}

// ---- clauses --------------------------------------------------------------------------------------------------------

void name_collector::begin_clause(const source_span& span, bool is_fact) {
  clause_ = static_cast<std::uint32_t>(out_.clauses_.size());
  out_.clauses_.push_back({span, {}, is_fact});
}

void name_collector::end_clause() {
  clause_ = name_use::no_clause;
  variables_.clear();
}

void name_collector::resolve(const syntax::clause& node, const name_scope& scope) {
  begin_clause(node.span, node.body.empty());
  for (const syntax::atom& head : node.heads) resolve_atom(head, scope, name_role::fills);
  resolve_body(node.body, scope);
  end_clause();
}

void name_collector::resolve(const syntax::subsumption& node, const name_scope& scope) {
  begin_clause(node.span, false);
  resolve_atom(node.dominated, scope, name_role::fills);
  resolve_atom(node.dominating, scope, name_role::reads);
  resolve_body(node.body, scope);
  end_clause();
}

void name_collector::resolve_body(const std::vector<syntax::conjunction>& body, const name_scope& scope) {
  for (const syntax::conjunction& conjunction : body) {
    for (const syntax::literal& part : conjunction) resolve_literal(part, scope);
  }
}

void name_collector::resolve_literal(const syntax::literal& part, const name_scope& scope) {
  if (const auto* atom = part.as<syntax::atom>()) resolve_atom(*atom, scope, name_role::reads);
  if (const auto* constraint = part.as<syntax::constraint>()) {
    resolve_term(constraint->left, scope);
    resolve_term(constraint->right, scope);
  }
  if (const auto* negation = part.as<syntax::negation>()) resolve_literal(*negation->inner, scope);
  if (const auto* group = part.as<syntax::group>()) resolve_body(group->alternatives, scope);
}

void name_collector::resolve_atom(const syntax::atom& atom, const name_scope& scope, name_role role) {
  const std::size_t before = out_.uses_.size();
  resolve_qualified(atom.name, scope, &name_scope::relations, role);
  if (role == name_role::fills && out_.uses_.size() > before && out_.uses_.back().role == role) {
    out_.clauses_[clause_].heads.push_back(out_.uses_.back().symbol);
  }
  for (const syntax::argument& argument : atom.arguments) resolve_term(argument, scope);
}

void name_collector::resolve_term(const syntax::argument& term, const name_scope& scope) {
  const auto all = [&](const auto& terms) {
    for (const syntax::argument& each : terms) resolve_term(each, scope);
  };
  if (const auto* variable = term.as<syntax::variable>()) use_variable(variable->name, term.span);
  if (const auto* record = term.as<syntax::record_constructor>()) all(record->fields);
  if (const auto* branch = term.as<syntax::branch_constructor>()) {
    resolve_qualified(branch->branch, scope, &name_scope::branches, name_role::reads);
    all(branch->fields);
  }
  if (const auto* call = term.as<syntax::functor_call>()) all(call->arguments);
  if (const auto* call = term.as<syntax::user_functor_call>()) {
    use_functor(call->name, term.span, scope);
    all(call->arguments);
  }
  if (const auto* cast = term.as<syntax::type_cast>()) {
    resolve_term(*cast->value, scope);
    resolve_type(cast->type, scope);
  }
  if (const auto* aggregate = term.as<syntax::aggregate>()) {
    if (aggregate->op == syntax::aggregate_op::user) use_functor(aggregate->user_name, term.span, scope);
    if (aggregate->initial) resolve_term(**aggregate->initial, scope);
    if (aggregate->target) resolve_term(**aggregate->target, scope);
    resolve_body(aggregate->body, scope);
  }
}

void name_collector::use_variable(const std::string& name, const source_span& span) {
  if (clause_ == name_use::no_clause) return;
  const auto [entry, is_new] = variables_.emplace(name, static_cast<std::uint32_t>(out_.symbols_.size()));
  if (is_new) {
    named_symbol& made = out_.symbols_.emplace_back();
    made.kind = name_kind::variable;
    made.name = name;
    made.declared = place_of_word(span, name).value_or(span);
    made.whole = out_.clauses_[clause_].span;
  }
  use(entry->second, span, name, name_role::reads);
}

void name_collector::use_functor(const std::string& name, const source_span& span, const name_scope& scope) {
  if (const auto symbol = find_name(scope, &name_scope::functors, name)) use(*symbol, span, name, name_role::reads);
}

// ---- declarations ---------------------------------------------------------------------------------------------------

void name_collector::resolve_type(const syntax::qualified_name& name, const name_scope& scope) {
  resolve_qualified(name, scope, &name_scope::types, name_role::mentions);
}

void name_collector::resolve_fields(const std::vector<syntax::attribute>& fields, const name_scope& scope) {
  for (const syntax::attribute& field : fields) resolve_type(field.type, scope);
}

void name_collector::resolve(const syntax::relation_declaration& node, const name_scope& scope) {
  resolve_fields(node.attributes, scope);
  if (node.debug_delta_of) {
    resolve_qualified({node.debug_delta_of->text, node.debug_delta_of->span}, scope, &name_scope::relations,
                      name_role::mentions);
  }
  for (const syntax::choice_key& key : node.choice_domain) {
    for (const syntax::identifier& name : key.attributes) {
      for (const syntax::attribute& attribute : node.attributes) {
        const auto symbol = fields_.find(&attribute);
        if (attribute.name.text == name.text && symbol != fields_.end())
          use(symbol->second, name.span, name.text, name_role::mentions);
      }
    }
  }
}

void name_collector::resolve(const syntax::type_declaration& node, const name_scope& scope) {
  std::visit(
      [&](const auto& definition) {
        using form = std::decay_t<decltype(definition)>;
        if constexpr (std::is_same_v<form, syntax::subtype_definition>) resolve_type(definition.base, scope);
        if constexpr (std::is_same_v<form, syntax::alias_definition>) resolve_type(definition.target, scope);
        if constexpr (std::is_same_v<form, syntax::union_definition>) {
          for (const syntax::qualified_name& member : definition.members) resolve_type(member, scope);
        }
        if constexpr (std::is_same_v<form, syntax::record_definition>) resolve_fields(definition.fields, scope);
        if constexpr (std::is_same_v<form, syntax::adt_definition>) {
          for (const syntax::branch_definition& branch : definition.branches) resolve_fields(branch.fields, scope);
        }
      },
      node.definition);
}

void name_collector::resolve(const syntax::lattice_declaration& node, const name_scope& scope) {
  resolve_type({node.name.text, node.name.span}, scope);
  for (const syntax::lattice_declaration::operation& each : node.operations) resolve_term(each.value, scope);
}

void name_collector::resolve(const syntax::functor_declaration& node, const name_scope& scope) {
  resolve_fields(node.parameters, scope);
  resolve_type(node.result, scope);
}

void name_collector::resolve(const syntax::directive& node, const name_scope& scope) {
  for (const syntax::qualified_name& name : node.relations) {
    resolve_qualified(name, scope, &name_scope::relations, name_role::mentions);
  }
}

void name_collector::resolve_component(const syntax::component_type& type, const name_scope& scope) {
  if (const auto parameter = find_name(scope, &name_scope::types, type.name.text)) {
    use(*parameter, type.name.span, type.name.text, name_role::mentions);
  } else if (const auto symbol = find_name(scope, &name_scope::components, type.name.text)) {
    use(*symbol, type.name.span, type.name.text, name_role::mentions);
  }
  for (const syntax::identifier& actual : type.parameters) resolve_type({actual.text, actual.span}, scope);
}

void name_collector::resolve(const syntax::component& node, const name_scope& scope) {
  const auto inner = scope_of_.find(&node);
  if (inner == scope_of_.end()) return;
  for (const syntax::component_type& base : node.bases) {
    if (const auto symbol = find_name(scope, &name_scope::components, base.name.text)) {
      use(*symbol, base.name.span, base.name.text, name_role::mentions);
    } else if (const auto parameter = find_name(*inner->second, &name_scope::types, base.name.text)) {
      use(*parameter, base.name.span, base.name.text, name_role::mentions);
    }
    for (const syntax::identifier& actual : base.parameters) resolve_type({actual.text, actual.span}, *inner->second);
  }
  resolve(node.items, *inner->second);
}

void name_collector::resolve(const syntax::component_instance& node, const name_scope& scope) {
  resolve_component(node.type, scope);
}

void name_collector::resolve(const syntax::override_declaration& node, const name_scope& scope) {
  resolve_qualified({node.name.text, node.name.span}, scope, &name_scope::relations, name_role::mentions);
}

}  // namespace gpulog::lsp
