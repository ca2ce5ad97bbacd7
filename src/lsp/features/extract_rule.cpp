#include "lsp/features/extract_rule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/features/atom_search.hpp"
#include "lsp/features/descriptions.hpp"
#include "syntax/format/format.hpp"

namespace gpulog::lsp {

namespace {

/// Literals of one alternative of a clause's body.
struct selected_literals {
  const syntax::clause* clause = nullptr;
  std::vector<const syntax::literal*> inside, outside;

  [[nodiscard]] source_span span() const { return join(inside.front()->span, inside.back()->span); }
};

/// Divides the literals of an alternative. Returns no value if the selection begins or ends inside of a literal.
std::optional<selected_literals> divided(const file_view& view, const syntax::clause& clause,
                                         const syntax::conjunction& alternative, std::size_t begin, std::size_t end) {
  selected_literals result = {&clause, {}, {}};
  for (const syntax::literal& part : alternative) {
    const source_span span = part.span;
    if (!view.has(span)) return std::nullopt;
    const bool is_inside = begin <= span.begin && span.end <= end;
    if (!is_inside && span.begin < end && begin < span.end) return std::nullopt;
    (is_inside ? result.inside : result.outside).push_back(&part);
  }
  return result.inside.empty() ? std::nullopt : std::optional(result);
}

std::optional<selected_literals> selected(const file_view& view, const std::vector<syntax::item>& items,
                                          std::size_t begin, std::size_t end) {
  for (const syntax::item& item : items) {
    if (const auto* component = item.as<syntax::component>()) {
      if (auto found = selected(view, component->items, begin, end)) return found;
    }
    const auto* clause = item.as<syntax::clause>();
    const source_span span = clause == nullptr ? source_span() : source_span(clause->span);
    if (clause == nullptr || !view.has(span) || begin < span.begin || end > span.end) continue;
    for (const syntax::conjunction& alternative : clause->body) {
      if (auto found = divided(view, *clause, alternative, begin, end)) return found;
    }
  }
  return std::nullopt;
}

/// The variables of literals, with the numbers of their places: all, and those outside aggregates.
struct variable_names {
  std::map<std::string, int> all, own;
  std::set<std::string> bound;  ///< by atoms outside aggregates

  template <class Node>
  void add(const Node& node) {
    sema::for_each_variable(node, [&](const syntax::variable& each, const auto&) { ++all[each.name]; });
    sema::for_each_own_variable(node, [&](const syntax::variable& each, const auto&) { ++own[each.name]; });
  }
  [[nodiscard]] bool is_in_aggregate(const std::string& name) const {
    return all.contains(name) && (!own.contains(name) || all.at(name) > own.at(name));
  }
};

/// Returns the variables that both parts of the rule use, in the order of their names. Returns no list if an aggregate
/// of the selected literals uses a variable that only the remaining literals bind. Aggregates do not share a variable
/// that occurs only in aggregates.
std::optional<std::vector<std::string>> common_variables(const selected_literals& literals) {
  variable_names inside, outside;
  for (const syntax::literal* part : literals.inside) {
    inside.add(*part);
    const auto bind = [&](const syntax::variable& each, const auto&) { inside.bound.insert(each.name); };
    if (const auto* atom = part->as<syntax::atom>()) sema::for_each_own_variable(*atom, bind);
  }
  for (const syntax::literal* part : literals.outside) outside.add(*part);
  for (const syntax::atom& head : literals.clause->heads) outside.add(head);
  std::vector<std::string> result;
  for (const auto& [name, count] : inside.all) {
    if (inside.own.contains(name) && outside.all.contains(name)) result.push_back(name);
    if (inside.is_in_aggregate(name) && !inside.bound.contains(name) && outside.own.contains(name)) return std::nullopt;
  }
  return result;
}

/// Returns whether the relation of the atom may lose tuples, which an extracted relation would keep.
bool loses_tuples(const compiled_program& program, const std::vector<syntax::item>& items, const syntax::atom& atom) {
  const named_symbol* const relation = program.names().find_relation(atom.name.text);
  const bool is_lattice = relation != nullptr && relation->attributes != nullptr &&
                          std::any_of(relation->attributes->begin(), relation->attributes->end(),
                                      [](const syntax::attribute& each) { return each.is_lattice; });
  return is_lattice || std::any_of(items.begin(), items.end(), [&](const syntax::item& item) {
           const auto* component = item.as<syntax::component>();
           if (component != nullptr) return loses_tuples(program, component->items, atom);
           const auto* subsumption = item.as<syntax::subsumption>();
           return subsumption != nullptr && subsumption->dominated.name.text == atom.name.text;
         });
}

bool counts_iterations(const syntax::clause& clause) {
  bool result = false;
  const auto visit = [&](const syntax::argument& term) {
    if (term.as<syntax::iteration_counter>() != nullptr) result = true;
    return true;
  };
  for (const syntax::atom& head : clause.heads) sema::walk_terms(head, visit);
  sema::walk_terms(clause.body, visit);
  return result;
}

/// Returns whether results depend on the number of iterations, which a further relation changes.
bool shows_iterations(const std::vector<syntax::item>& items) {
  return std::any_of(items.begin(), items.end(), [](const syntax::item& item) {
    if (const auto* component = item.as<syntax::component>()) return shows_iterations(component->items);
    const auto* relation = item.as<syntax::relation_declaration>();
    const auto* directive = item.as<syntax::directive>();
    const auto* clause = item.as<syntax::clause>();
    return (clause != nullptr && counts_iterations(*clause)) || (relation != nullptr && relation->debug_delta_of) ||
           (directive != nullptr && directive->kind == syntax::directive_kind::limitsize);
  });
}

bool may_move(const compiled_program& program, const selected_literals& literals) {
  bool result = literals.clause->plan.empty() && !shows_iterations(program.tree.items);
  for (const syntax::literal* part : literals.inside) {
    sema::walk_terms(*part, [&](const syntax::argument& term) {
      if (term.as<syntax::counter>() != nullptr) result = false;
      return true;
    });
    sema::for_each_atom(*part, [&](const syntax::atom& atom) {
      if (loses_tuples(program, program.tree.items, atom)) result = false;
    });
  }
  return result;
}

std::string unused_name(const compiled_program& program) {
  const auto is_used = [&](const std::string& name) {
    const auto& symbols = program.names().symbols();
    return std::any_of(symbols.begin(), symbols.end(), [&](const named_symbol& each) { return each.name == name; });
  };
  std::string name = "extracted";
  for (int number = 2; is_used(name); ++number) name = "extracted" + std::to_string(number);
  return name;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : ", ") + text;
  return result;
}

bool compiles(const file_view& view, const std::vector<syntax::text_edit>& edits) {
  const std::string text = syntax::apply_edits(view.file.text(), edits);
  open_texts texts = view.all.texts();
  texts[view.file.full_path()] = text;
  return compile(view.program.main->full_path(), texts, view.all.settings())->report.error_count() == 0;
}

}  // namespace

json extracting_actions(const file_view& view, std::size_t begin, std::size_t end) {
  json result = json::array();
  if (begin == end || view.program.report.has_errors() || view.program.main == nullptr) return result;
  const auto literals = selected(view, view.program.tree.items, begin, end);
  if (!literals || !may_move(view.program, *literals)) return result;
  const auto variables = common_variables(*literals);
  if (!variables) return result;
  std::vector<std::string> columns;
  for (const std::string& name : *variables)
    columns.push_back(name + ":" + type_of_variable(view.program, literals->inside, name).value_or("number"));
  const std::string name = unused_name(view.program);
  const std::string atom = name + "(" + joined(*variables) + ")";
  const std::string_view text = view.file.text();
  const source_span body = literals->span(), clause = literals->clause->span;
  const std::size_t line = clause.begin == 0 ? 0 : text.rfind('\n', clause.begin - 1) + 1;
  const std::string_view blank = text.substr(line, clause.begin - line);
  const bool begins_line = blank.find_first_not_of(" \t") == std::string_view::npos;
  const std::string indent = begins_line ? std::string(blank) : "";
  const std::string rule = ".decl " + name + "(" + joined(columns) + ")\n" + indent + atom + " :- " +
                           std::string(text.substr(body.begin, body.end - body.begin)) + ".\n" + indent;
  const std::vector<syntax::text_edit> edits = {{clause.begin, clause.begin, rule}, {body.begin, body.end, atom}};
  if (!compiles(view, edits)) return result;
  json changes = json::array();
  for (const syntax::text_edit& edit : edits)
    changes.push_back({{"range", view.range(edit.begin, edit.end)}, {"newText", edit.text}});
  result.push_back({{"title", "Extract relation " + name},
                    {"kind", "refactor.extract"},
                    {"edit", {{"changes", {{view.all.uri_of_file(view.file), changes}}}}}});
  return result;
}

}  // namespace gpulog::lsp
