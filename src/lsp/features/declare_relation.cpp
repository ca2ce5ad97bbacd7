#include "lsp/features/declare_relation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lsp/features/descriptions.hpp"
#include "lsp/features/problems.hpp"
#include "sema/rewriting/syntax_walk.hpp"

namespace gpulog::lsp {

namespace {

constexpr std::string_view undefined_relation = "Undefined relation ";

/// A use of an undefined relation, with the clause that contains the use.
struct undefined_use {
  const syntax::atom* atom = nullptr;
  source_span clause;
};

/// Compares places, which == of syntax::place does not.
bool begins_at(const source_span& node, const source_span& span) { return node == span; }

undefined_use find_atom(const std::vector<syntax::item>& items, const source_span& name) {
  undefined_use result;
  for (const syntax::item& item : items) {
    const auto visit = [&](const syntax::atom& atom, const source_span& clause) {
      if (result.atom == nullptr && begins_at(atom.name.span, name)) result = {&atom, clause};
    };
    if (const auto* clause = item.as<syntax::clause>()) {
      for (const syntax::atom& head : clause->heads) visit(head, clause->span);
      sema::for_each_atom(clause->body, [&](const syntax::atom& atom) { visit(atom, clause->span); });
    }
    if (const auto* component = item.as<syntax::component>(); component != nullptr && result.atom == nullptr)
      result = find_atom(component->items, name);
    if (result.atom != nullptr) break;
  }
  return result;
}

std::string type_of(const file_view& view, const undefined_use& use, const syntax::argument& argument) {
  if (const auto* variable = argument.as<syntax::variable>()) {
    return type_of_variable(view.program, use.clause, variable->name).value_or("number");
  }
  if (argument.as<syntax::string_constant>() != nullptr) return "symbol";
  if (const auto* number = argument.as<syntax::numeric_constant>()) {
    if (number->form == syntax::numeric_form::unsigned_number) return "unsigned";
    if (number->form == syntax::numeric_form::floating) return "float";
  }
  if (const auto* branch = argument.as<syntax::branch_constructor>()) {
    const named_symbol* const symbol = view.program.names().find_symbol(name_kind::branch, branch->branch.text);
    if (symbol != nullptr) return symbol->owner;
  }
  if (const auto* cast = argument.as<syntax::type_cast>()) return cast->type.text;
  return "number";
}

/// Returns `.decl name(x:number, a2:symbol)`: an argument that is no variable has its number as the name.
std::string declaration(const file_view& view, const undefined_use& use) {
  std::set<std::string> names;
  std::string text = ".decl " + use.atom->name.text + "(";
  for (std::size_t at = 0; at < use.atom->arguments.size(); ++at) {
    const syntax::argument& argument = use.atom->arguments[at];
    const auto* variable = argument.as<syntax::variable>();
    std::string name = variable == nullptr ? "" : variable->name;
    if (name.empty() || !names.insert(name).second) {
      name = "a" + std::to_string(at + 1);
      while (!names.insert(name).second) name += "_";
    }
    text += (at == 0 ? "" : ", ") + name + ":" + type_of(view, use, argument);
  }
  return text + ")";
}

}  // namespace

json declaring_fixes(const file_view& view, std::size_t begin, std::size_t end) {
  json result = json::array();
  for (const diagnostics::entry* entry : view.program.report.sorted()) {
    const bool is_wanted = view.has(entry->span) && entry->span.begin <= end && entry->span.end >= begin &&
                           entry->message.starts_with(undefined_relation);
    if (!is_wanted) continue;
    const undefined_use use = find_atom(view.program.tree.items, entry->span);
    if (use.atom == nullptr || !use.atom->name.is_simple() || !view.has(use.clause)) continue;
    const std::string_view text = view.file.text();
    const std::size_t line = use.clause.begin == 0 ? 0 : text.rfind('\n', use.clause.begin - 1) + 1;
    const std::string_view indent = text.substr(line, use.clause.begin - line);
    const bool begins_line = indent.find_first_not_of(" \t") == std::string_view::npos;
    const std::string made = declaration(view, use);
    const std::string inserted = begins_line ? std::string(indent) + made + "\n" : made + " ";
    const std::size_t at = begins_line ? line : use.clause.begin;
    const json edit = {{"range", view.range(at, at)}, {"newText", inserted}};
    result.push_back({{"title", "Declare relation " + use.atom->name.text},
                      {"kind", "quickfix"},
                      {"diagnostics", json::array({diagnostic_of(view.all, view.program, *entry)})},
                      {"edit", {{"changes", {{view.all.uri_of_file(view.file), json::array({edit})}}}}}});
  }
  return result;
}

}  // namespace gpulog::lsp
