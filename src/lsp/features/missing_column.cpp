#include "lsp/features/missing_column.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lsp/features/atom_search.hpp"
#include "lsp/features/descriptions.hpp"
#include "lsp/features/problems.hpp"

namespace gpulog::lsp {

namespace {

constexpr std::string_view mismatching_arity = "Mismatching arity of relation ";

/// Edits by the URI of their file.
class edit_list {
 public:
  explicit edit_list(const file_view& view) : view_(&view) {}

  void insert(const source_file& file, std::size_t at, const std::string& text) {
    json& list = changes_[view_->all.uri_of_file(file)];
    list.push_back({{"range", range_of(view_->program.index(file), at, at)}, {"newText", text}});
  }
  [[nodiscard]] json changes() const { return {{"changes", changes_}}; }

 private:
  const file_view* view_;
  json changes_ = json::object();
};

/// Returns the offset of the closing parenthesis of the node; nothing if the node ends otherwise, as in a macro.
std::optional<std::size_t> end_of_list(const source_span& span) {
  if (!span.valid() || span.end <= span.begin || span.file->text()[span.end - 1] != ')') return std::nullopt;
  return span.end - 1;
}

const name_use* use_of(const compiled_program& program, const syntax::atom& atom) {
  const source_span name = atom.name.span;
  const name_use* const use = name.valid() ? program.names().find_use(*name.file, name.begin) : nullptr;
  return use != nullptr && use->is_written && program.names().symbols()[use->symbol].kind == name_kind::relation
             ? use
             : nullptr;
}

/// Returns text for a list with `count` elements before it.
std::string appended(std::size_t count, const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (count++ == 0 ? "" : ", ") + text;
  return result;
}

struct atom_fix {
  std::string title;
  edit_list edits;
};

/// Adds arguments: `_` in a body, the names of the columns in the head of a rule.
std::optional<atom_fix> with_arguments(const file_view& view, const syntax::atom& atom, const atom_owner& owner,
                                       const std::vector<syntax::attribute>& columns) {
  const auto end = end_of_list(atom.span);
  if (!end || owner.is_fact) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t at = atom.arguments.size(); at < columns.size(); ++at)
    texts.push_back(owner.is_head ? columns[at].name.text : "_");
  atom_fix fix = {"Add '" + appended(0, texts) + "' to " + atom.name.text, edit_list(view)};
  fix.edits.insert(*atom.span.file, *end, appended(atom.arguments.size(), texts));
  return fix;
}

/// Returns texts `name:type` for the arguments without column.
std::vector<std::string> new_columns(const file_view& view, const syntax::atom& atom, const source_span& clause,
                                     const std::vector<syntax::attribute>& columns) {
  std::set<std::string> names;
  for (const syntax::attribute& column : columns) names.insert(column.name.text);
  std::vector<std::string> result;
  for (std::size_t at = columns.size(); at < atom.arguments.size(); ++at) {
    const auto* variable = atom.arguments[at].as<syntax::variable>();
    std::string name = variable == nullptr ? "" : variable->name;
    if (name.empty() || !names.insert(name).second) {
      name = "a" + std::to_string(at + 1);
      while (!names.insert(name).second) name += "_";
    }
    result.push_back(name + ":" + type_of_argument(view.program, clause, atom.arguments[at]));
  }
  return result;
}

/// Adds columns to the declaration, and `_` to each atom of a body with the old number of arguments.
std::optional<atom_fix> with_columns(const file_view& view, const syntax::atom& atom, const atom_owner& owner,
                                     const named_symbol& relation) {
  const std::vector<syntax::attribute>& columns = *relation.attributes;
  const source_span declaration = relation.whole;
  const std::string_view text = declaration.file->text();
  // Another name of the same declaration would get the column, too.
  const std::size_t open = text.find('(', relation.declared.end);
  const bool has_one_name =
      open < declaration.end &&
      text.substr(declaration.begin, open - declaration.begin).find(',') == std::string_view::npos;
  if (!has_one_name) return std::nullopt;
  const std::vector<std::string> added = new_columns(view, atom, owner.item, columns);
  atom_fix fix = {
      "Add column" + std::string(added.size() == 1 ? " " : "s ") + appended(0, added) + " to " + relation.name,
      edit_list(view)};
  fix.edits.insert(*declaration.file, columns.empty() ? open + 1 : source_span(columns.back().span).end,
                   appended(columns.size(), added));
  const std::vector<std::string> unnamed(added.size(), "_");
  std::set<std::pair<const source_file*, std::size_t>> seen;
  for_each_atom_in(view.program.tree.items, [&](const syntax::atom& each, const atom_owner& place) {
    if (place.is_head || each.arguments.size() != columns.size()) return;
    const name_use* const use = use_of(view.program, each);
    const auto end = end_of_list(each.span);
    if (use == nullptr || !end || use->symbol != view.program.names().number_of(relation)) return;
    const source_file& file = *source_span(each.span).file;
    if (seen.emplace(&file, *end).second) fix.edits.insert(file, *end, appended(columns.size(), unnamed));
  });
  return fix;
}

}  // namespace

json column_fixes(const file_view& view, std::size_t begin, std::size_t end) {
  json result = json::array();
  for (const diagnostics::entry* entry : view.program.report.sorted()) {
    const bool is_wanted = view.has(entry->span) && entry->span.begin <= end && entry->span.end >= begin &&
                           entry->message.starts_with(mismatching_arity);
    if (!is_wanted) continue;
    std::optional<atom_fix> fix;
    for_each_atom_in(view.program.tree.items, [&](const syntax::atom& atom, const atom_owner& owner) {
      if (fix || !is_at(atom.span, entry->span)) return;
      const name_use* const use = use_of(view.program, atom);
      if (use == nullptr) return;
      const named_symbol& relation = view.program.names().symbols()[use->symbol];
      if (relation.attributes == nullptr) return;
      fix = atom.arguments.size() < relation.attributes->size()
                ? with_arguments(view, atom, owner, *relation.attributes)
                : with_columns(view, atom, owner, relation);
    });
    if (!fix) continue;
    result.push_back({{"title", fix->title},
                      {"kind", "quickfix"},
                      {"diagnostics", json::array({diagnostic_of(view.all, view.program, *entry)})},
                      {"edit", fix->edits.changes()}});
  }
  return result;
}

}  // namespace gpulog::lsp
