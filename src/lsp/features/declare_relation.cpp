#include "lsp/features/declare_relation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lsp/features/atom_search.hpp"
#include "lsp/features/descriptions.hpp"
#include "lsp/features/problems.hpp"

namespace gpulog::lsp {

namespace {

constexpr std::string_view undefined_relation = "Undefined relation ";

/// A use of an undefined relation, with the clause that contains the use.
struct undefined_use {
  const syntax::atom* atom = nullptr;
  source_span clause;
};

undefined_use find_atom(const std::vector<syntax::item>& items, const source_span& name) {
  undefined_use result;
  for_each_atom_in(items, [&](const syntax::atom& atom, const atom_owner& owner) {
    if (result.atom == nullptr && is_at(atom.name.span, name)) result = {&atom, owner.item};
  });
  return result;
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
    text += (at == 0 ? "" : ", ") + name + ":" + type_of_argument(view.program, use.clause, argument);
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
