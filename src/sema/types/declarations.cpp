#include "sema/types/declarations.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>

#include "support/suggestion.hpp"
#include "syntax/hint_texts.hpp"

namespace gpulog::sema {

namespace {

directive_kind directive_kind_of(syntax::directive_kind kind) {
  switch (kind) {
    case syntax::directive_kind::input:
      return directive_kind::input;
    case syntax::directive_kind::output:
      return directive_kind::output;
    case syntax::directive_kind::printsize:
      return directive_kind::printsize;
    case syntax::directive_kind::limitsize:
      return directive_kind::limitsize;
  }
  return directive_kind::input;
}

}  // namespace

void report_unsupported(diagnostics& diagnostics, const source_span& where, const std::string& construct) {
  diagnostics.error(where, construct + " is not supported yet");
}

declarations::declarations(const std::vector<syntax::item>& items, program& program, diagnostics& diagnostics,
                           const std::map<std::string, std::string>& pragmas)
    : program_(program), diagnostics_(diagnostics) {
  collect_pragmas(items, pragmas);
  collect_types(items);
  reject_cycles(items);
  for (const syntax::item& item : items) {
    if (const auto* declaration = item.as<syntax::type_declaration>()) {
      static_cast<void>(resolve_type({declaration->name.text, declaration->name.span}, ""));
    }
  }
  complete_structures();
  for (const syntax::item& item : items) {
    if (const auto* declaration = item.as<syntax::relation_declaration>()) declare_relation(*declaration);
    if (const auto* declaration = item.as<syntax::functor_declaration>()) declare_functor(*declaration);
  }
  for (const syntax::item& item : items) {
    if (const auto* directive = item.as<syntax::directive>()) add_directive(*directive);
    if (const auto* declaration = item.as<syntax::relation_declaration>()) check_debug_delta(*declaration);
  }
  declare_lattices(items);
  check_inlined_relations();
}

void declarations::collect_pragmas(const std::vector<syntax::item>& items,
                                   const std::map<std::string, std::string>& outweighing) {
  for (const syntax::item& item : items) {
    if (const auto* pragma = item.as<syntax::pragma>()) program_.pragmas[pragma->name] = pragma->value;
  }
  for (const auto& [name, value] : outweighing) program_.pragmas[name] = value;
  for (const char* const exclusion : {"inline-exclude", "magic-transform-exclude"}) {
    const auto found = program_.pragmas.find(exclusion);
    if (found == program_.pragmas.end()) continue;
    std::istringstream names(found->second);
    for (std::string name; std::getline(names, name, ',');) not_inlined_.insert(name);
  }
}

std::optional<relation_id> declarations::find_relation(const std::string& name) const {
  const auto found = relations_.find(name);
  if (found == relations_.end()) return std::nullopt;
  return found->second;
}

const declarations::known_functor* declarations::find_user_functor(const std::string& name) const {
  const auto found = user_functors_.find(name);
  return found == user_functors_.end() ? nullptr : &found->second;
}

std::vector<std::string> declarations::user_functor_names() const {
  std::vector<std::string> names;
  for (const auto& [name, declaration] : user_functors_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void declarations::report_unknown_relation(const syntax::qualified_name& name) const {
  const auto meant = closest_name(name.text, relation_names_);
  auto& error = diagnostics_.error(name.span, "Undefined relation " + name.text).suggest(name.text, meant);
  const bool is_like_macro =
      std::all_of(name.text.begin(), name.text.end(), [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
  if (syntax::extension_named(name.text)) {
    error.note(name.text + "(...) is a value, not a literal; compare the value, as in x = " + name.text + "(...)");
  } else if (name.text.starts_with('?')) {
    error.note(syntax::query_hint());
  } else if (is_like_macro && !meant) {
    error.note("There is no macro " + name.text + " either; #define defines one");
  }
}

// ---- functors of libraries ------------------------------------------------------------------------------------------

void declarations::declare_functor(const syntax::functor_declaration& declaration) {
  known_functor functor{&declaration, {}, {}, static_cast<std::uint32_t>(program_.functors.size())};
  user_functor described{declaration.name.text, {}, value_kind::number, declaration.stateful};
  const auto add = [&](const syntax::qualified_name& written, const source_span& where, const std::string& role) {
    const auto type = resolve_type(written, role + " of functor " + declaration.name.text);
    if (!type) return std::pair(type_id(), value_kind::number);
    const value_kind kind = types_.kind(*type);
    if (!declaration.stateful && (kind == value_kind::record || kind == value_kind::adt)) {
      diagnostics_.error(where, "Functor " + declaration.name.text + " has to be stateful to have " + written.text +
                                    " as a type: only the record table can tell what a record holds");
    }
    return std::pair(*type, kind);
  };
  for (const syntax::attribute& parameter : declaration.parameters) {
    const auto [type, kind] = add(parameter.type, parameter.span, " in a parameter");
    functor.parameters.push_back(type);
    described.parameters.push_back(kind);
  }
  std::tie(functor.result, described.result) = add(declaration.result, declaration.result.span, " in the result");
  const auto [previous, inserted] = user_functors_.emplace(declaration.name.text, std::move(functor));
  if (inserted) {
    program_.functors.push_back(std::move(described));
    return;
  }
  diagnostics_.error(declaration.name.span, "Redefinition of functor " + declaration.name.text)
      .note(previous->second.declaration->name.span, "Previous definition");
}

// ---- lattices -------------------------------------------------------------------------------------------------------

namespace {

/// Returns whether both declarations come from instances of one component: a component that declares a lattice for an
/// outer type repeats the declaration in each instance.
bool is_repeated(const syntax::lattice_declaration& declaration, const syntax::lattice_declaration& previous) {
  const source_span& written = declaration.span;
  const source_span& written_before = previous.span;
  return written == written_before && declaration == previous;
}

}  // namespace

void declarations::declare_lattices(const std::vector<syntax::item>& items) {
  std::unordered_map<std::string, const syntax::lattice_declaration*> lattices;
  // By type: numbers of functors for least upper bounds.
  std::unordered_map<std::string, std::optional<std::uint32_t>> bounds;
  for (const syntax::item& item : items) {
    const auto* declaration = item.as<syntax::lattice_declaration>();
    if (declaration == nullptr) continue;
    const auto [previous, inserted] = lattices.emplace(declaration->name.text, declaration);
    if (inserted) {
      bounds[declaration->name.text] = check_lattice(*declaration);
    } else if (!is_repeated(*declaration, *previous->second)) {
      diagnostics_.error(declaration->name.span, "Redefinition of lattice " + declaration->name.text)
          .note(previous->second->name.span, "Previous definition");
    }
  }
  for (std::uint32_t number = 0; number < program_.relations.size(); ++number) {
    relation& declared = program_.relations[number];
    const std::vector<syntax::attribute>& attributes = *attributes_[number];
    for (std::uint32_t column = 0; column < attributes.size(); ++column) {
      const syntax::attribute& attribute = attributes[column];
      if (!attribute.is_lattice) continue;
      if (!lattices.contains(attribute.type.text)) {
        diagnostics_.error(attribute.span, "Attribute " + attribute.name.text + " is declared as a lattice, but type " +
                                               attribute.type.text + " has none");
      } else if (!declared.choice_domains.empty() || declared.structure == representation::eqrel ||
                 declared.is_inline) {
        diagnostics_.error(attribute.span,
                           "Relation " + declared.name +
                               " has a lattice attribute and cannot be inlined, be an equivalence relation or "
                               "have a choice-domain");
      } else if (const auto bound = bounds[attribute.type.text]) {
        declared.lattices.push_back({column, *bound});
      }
    }
  }
}

/// Checks a lattice declaration.
/// @return the number of the functor for least upper bounds; nothing after an error
std::optional<std::uint32_t> declarations::check_lattice(const syntax::lattice_declaration& declaration) {
  const auto type = resolve_type({declaration.name.text, declaration.name.span}, " of a lattice");
  if (!type) return std::nullopt;
  std::optional<std::uint32_t> bound;
  bool has_bound = false;
  for (const syntax::lattice_declaration::operation& operation : declaration.operations) {
    const std::string& name = operation.name.text;
    if (name == "Bottom" || name == "Top") continue;
    if (name != "Lub" && name != "Glb" && name != "Leq") {
      diagnostics_.error(operation.name.span,
                         "Unknown lattice operation " + name + "; a lattice has Bottom, Top, Lub, Glb and Leq");
      continue;
    }
    const auto* call = operation.value.as<syntax::user_functor_call>();
    const known_functor* const functor = call == nullptr ? nullptr : find_user_functor(call->name);
    if (name == "Leq" && functor != nullptr) continue;
    has_bound = has_bound || name == "Lub";
    const bool fits =
        functor != nullptr && functor->parameters == std::vector<type_id>{*type, *type} && functor->result == *type;
    if (!fits) {
      diagnostics_.error(operation.value.span,
                         "Lattice operation " + name + " of " + declaration.name.text +
                             " must be a declared functor with two parameters and a result of this type");
    } else if (name == "Lub") {
      bound = functor->number;
    }
  }
  if (!has_bound) diagnostics_.error(declaration.span, "Lattice " + declaration.name.text + " has no Lub");
  return bound;
}

// ---- relations ------------------------------------------------------------------------------------------------------

void declarations::declare_relation(const syntax::relation_declaration& declaration) {
  check_attribute_names(declaration);
  for (const syntax::identifier& name : declaration.names) declare_relation(declaration, name);
}

void declarations::declare_relation(const syntax::relation_declaration& declaration, const syntax::identifier& name) {
  const relation_id id(static_cast<std::uint32_t>(program_.relations.size()));
  const auto [previous, inserted] = relations_.emplace(name.text, id);
  if (!inserted) {
    diagnostics_.error(name.span, "Redefinition of relation " + name.text)
        .note(program_[previous->second].span, "Previous definition");
    return;
  }
  if (const auto type = pending_types_.find(name.text); type != pending_types_.end()) {
    diagnostics_.error(name.span, "Name clash on relation " + name.text)
        .note(type->second.declaration->name.span, "The type of this name");
  }
  relation declared;
  declared.name = name.text;
  declared.span = name.span;
  std::vector<type_id> types;
  for (const syntax::attribute& column : declaration.attributes) {
    const auto type = resolve_type(column.type, " in attribute " + column.name.text + ":" + column.type.text);
    types.push_back(type.value_or(type_id()));
    declared.attributes.push_back({column.name.text, column.type.text, type ? types_.kind(*type) : value_kind::number,
                                   type ? types_[*type].structure : structure_id()});
  }
  apply_qualifiers(declaration, name, declared);
  if (declared.structure == representation::eqrel) check_equivalence(name, declared, types);
  if (declared.structure == representation::btree_delete && declared.arity() == 0) {
    diagnostics_.error(name.span, "Relation " + name.text + " is btree_delete and must not be nullary");
  }
  add_choice_domains(declaration, declared);
  relation_names_.push_back(name.text);
  column_types_.push_back(std::move(types));
  attributes_.push_back(&declaration.attributes);
  program_.relations.push_back(std::move(declared));
}

void declarations::declare_query(const syntax::atom& head, const std::string& text,
                                 std::map<std::string, std::string> parameters) {
  relations_.emplace(head.name.text, relation_id(static_cast<std::uint32_t>(program_.relations.size())));
  relation query;
  query.name = head.name.text;
  query.span = head.span;
  query.is_query = true;
  parameters["name"] = text;
  query.directives.push_back({directive_kind::output, std::move(parameters), head.span});
  std::vector<syntax::attribute>& columns = query_columns_.emplace_back();
  for (const syntax::argument& argument : head.arguments) {
    const std::string& name = argument.as<syntax::variable>()->name;
    query.attributes.push_back({name, {}, value_kind::number, {}});
    syntax::attribute& column = columns.emplace_back();
    column.name = {name, argument.span};
    column.span = argument.span;
  }
  column_types_.emplace_back(columns.size());
  attributes_.push_back(&columns);
  program_.relations.push_back(std::move(query));
}

void declarations::check_attribute_names(const syntax::relation_declaration& declaration) {
  std::unordered_map<std::string, source_span> seen;
  for (const syntax::attribute& column : declaration.attributes) {
    const auto [previous, inserted] = seen.emplace(column.name.text, column.span);
    if (inserted) continue;
    diagnostics_.error(column.span, "Doubly defined attribute name " + column.name.text + ":" + column.type.text)
        .note(previous->second, "Previous definition");
  }
}

void declarations::apply_qualifiers(const syntax::relation_declaration& declaration, const syntax::identifier& name,
                                    relation& relation) {
  using syntax::relation_qualifier;
  const auto represent = [&](const syntax::placed_qualifier& qualifier, representation structure) {
    if (relation.structure != representation::unspecified && relation.structure != structure) {
      diagnostics_.error(qualifier.span, "Relation " + name.text + " has more than one representation");
    }
    relation.structure = structure;
  };
  const auto add_io = [&](const syntax::placed_qualifier& qualifier, directive_kind kind) {
    relation.directives.push_back({kind, {}, qualifier.span});
  };
  bool no_inline = not_inlined_.contains(name.text);
  bool no_magic = false;
  for (const syntax::placed_qualifier& qualifier : declaration.qualifiers) {
    switch (qualifier.what) {
      case relation_qualifier::overridable:
        break;
      case relation_qualifier::is_inline:
        relation.is_inline = true;
        break;
      case relation_qualifier::no_inline:
        no_inline = true;
        break;
      case relation_qualifier::magic:
        relation.is_magic = true;
        break;
      case relation_qualifier::no_magic:
        no_magic = true;
        break;
      case relation_qualifier::brie:
        represent(qualifier, representation::brie);
        break;
      case relation_qualifier::btree:
        represent(qualifier, representation::btree);
        break;
      case relation_qualifier::btree_delete:
        represent(qualifier, representation::btree_delete);
        break;
      case relation_qualifier::eqrel:
        represent(qualifier, representation::eqrel);
        break;
      case relation_qualifier::input:
        add_io(qualifier, directive_kind::input);
        break;
      case relation_qualifier::output:
        add_io(qualifier, directive_kind::output);
        break;
      case relation_qualifier::printsize:
        add_io(qualifier, directive_kind::printsize);
        break;
    }
  }
  // As in Soufflé, an exclusion overrides the declaration.
  relation.is_inline = relation.is_inline && !no_inline;
  relation.is_magic = relation.is_magic && !no_magic;
  relation.is_not_magic = no_magic;
}

void declarations::check_debug_delta(const syntax::relation_declaration& declaration) const {
  if (!declaration.debug_delta_of) return;
  const syntax::identifier& source = *declaration.debug_delta_of;
  const auto found = relations_.find(source.text);
  if (found == relations_.end()) {
    report_unknown_relation({source.text, source.span});
  } else if (declaration.attributes.empty()) {
    report_unsupported(diagnostics_, source.span, "debug_delta of " + source.text + ", which is one itself,");
  }
}

void declarations::check_equivalence(const syntax::identifier& name, const relation& relation,
                                     const std::vector<type_id>& types) {
  if (relation.arity() != 2) {
    diagnostics_.error(name.span, "Equivalence relation " + name.text + " is not binary");
  } else if (types[0].valid() && types[1].valid() && types[0] != types[1]) {
    diagnostics_.error(name.span, "Domains of equivalence relation " + name.text + " are different");
  } else if (relation.is_inline) {
    diagnostics_.error(name.span, "Equivalence relation " + name.text + " cannot be inlined");
  }
}

void declarations::add_choice_domains(const syntax::relation_declaration& declaration, relation& relation) {
  for (const syntax::choice_key& key : declaration.choice_domain) {
    std::vector<std::uint32_t> columns;
    for (const syntax::identifier& wanted : key.attributes) {
      const auto found = std::find_if(relation.attributes.begin(), relation.attributes.end(),
                                      [&](const attribute& column) { return column.name == wanted.text; });
      if (found == relation.attributes.end()) {
        diagnostics_.error(wanted.span,
                           "Undefined attribute " + wanted.text + " in the choice-domain of relation " + relation.name);
        continue;
      }
      columns.push_back(static_cast<std::uint32_t>(found - relation.attributes.begin()));
    }
    // Choice-domains are sets of sets.
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const auto& keys = relation.choice_domains;
    if (!columns.empty() && std::find(keys.begin(), keys.end(), columns) == keys.end()) {
      relation.choice_domains.push_back(std::move(columns));
    }
  }
  if (relation.choice_domains.empty()) return;
  const source_span& where = declaration.choice_domain.front().span;
  if (relation.structure == representation::eqrel) {
    diagnostics_.error(where, "Equivalence relation " + relation.name + " cannot have a choice-domain");
  }
  if (relation.is_inline) {
    diagnostics_.error(where, "Relation " + relation.name + " has a choice-domain and cannot be inlined");
  }
}

// ---- directives -----------------------------------------------------------------------------------------------------

void declarations::check_repetition(const syntax::directive& directive, const syntax::qualified_name& relation) {
  using syntax::directive_kind;
  if (directive.kind != directive_kind::printsize && directive.kind != directive_kind::limitsize) return;
  // Each instance of a component has its own directives.
  if (!relation.is_simple()) return;
  const std::string directive_name(spelling(directive.kind).substr(1));
  const auto [previous, inserted] = single_directives_.emplace(directive_name + ' ' + relation.text, directive.span);
  if (inserted) return;
  diagnostics_.error(directive.span, "Redefinition of " + directive_name + " directives for relation " + relation.text)
      .note(previous->second, "Previous definition");
}

void declarations::add_directive(const syntax::directive& directive) {
  std::map<std::string, std::string> parameters;
  for (const syntax::directive_parameter& parameter : directive.parameters) {
    const auto [previous, inserted] = parameters.emplace(parameter.key.text, parameter.value);
    if (!inserted) diagnostics_.error(parameter.key.span, "Duplicate parameter " + parameter.key.text);
  }
  std::optional<std::uint64_t> size_limit;
  if (directive.kind == syntax::directive_kind::limitsize) {
    const auto written = parameters.find("n");
    std::uint64_t limit = 0;
    const char* const end = written == parameters.end() ? nullptr : written->second.data() + written->second.size();
    if (end == nullptr) {
      diagnostics_.error(directive.span, "The directive .limitsize needs the parameter n");
    } else if (const auto parsed = std::from_chars(written->second.data(), end, limit);
               parsed.ec != std::errc() || parsed.ptr != end) {
      diagnostics_.error(directive.span, "The parameter n of .limitsize is a number of tuples");
    } else {
      size_limit = limit;
    }
  }
  for (const syntax::qualified_name& name : directive.relations) {
    const auto id = find_relation(name.text);
    if (!id) {
      report_unknown_relation(name);
      continue;
    }
    check_repetition(directive, name);
    if (size_limit) program_.relations[id->value].size_limit = size_limit;
    program_.relations[id->value].directives.push_back({directive_kind_of(directive.kind), parameters, name.span});
  }
}

void declarations::check_inlined_relations() {
  for (const relation& relation : program_.relations) {
    if (!relation.is_inline || relation.directives.empty()) continue;
    diagnostics_.error(relation.span, "IO relation " + relation.name + " cannot be inlined")
        .note(relation.directives.front().span, "Directive");
  }
}

}  // namespace gpulog::sema
