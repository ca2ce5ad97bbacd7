#include "lsp/features/questions.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "sema/rewriting/syntax_walk.hpp"

namespace gpulog::lsp {

namespace {

bool contains(const source_span& span, std::size_t offset) { return span.begin <= offset && offset <= span.end; }

/// Returns the rule at an offset; nullptr if there is none.
const indexed_clause* rule_at(const file_view& view, std::size_t offset) {
  for (const indexed_clause& clause : view.program.names().clauses()) {
    if (!clause.is_fact && view.has(clause.span) && contains(clause.span, offset)) return &clause;
  }
  return nullptr;
}

/// Returns the atom of a declared relation at an offset, outside components.
const syntax::atom* atom_at(const file_view& view, std::size_t offset) {
  const syntax::atom* found = nullptr;
  const auto visit = [&](const syntax::atom& atom) {
    const source_span& span = atom.span;
    if (view.has(span) && contains(span, offset) && view.program.names().find_relation(atom.name.text) != nullptr)
      found = &atom;
  };
  for (const syntax::item& item : view.program.tree.items) {
    const auto* clause = item.as<syntax::clause>();
    if (clause == nullptr || !view.has(clause->span) || !contains(clause->span, offset)) continue;
    for (const syntax::atom& head : clause->heads) visit(head);
    sema::for_each_atom(clause->body, visit);
  }
  return found;
}

json command(const char* name, const std::string& title, json arguments) {
  return {{"title", title}, {"command", name}, {"arguments", std::move(arguments)}};
}

std::size_t indentation_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

}  // namespace

json plan_command_at(const file_view& view, std::size_t offset, const std::string& title) {
  return command(
      plan_command, title,
      json::array({{{"uri", view.all.uri_of_file(view.file)}, {"position", view.range(offset, offset)["start"]}}}));
}

json commands_at(const file_view& view, std::size_t offset) {
  json result = json::array();
  if (rule_at(view, offset) != nullptr) result.push_back(plan_command_at(view, offset, "Show plan of the rule"));
  if (const syntax::atom* atom = atom_at(view, offset)) {
    const source_span& span = atom->span;
    const std::string text(view.file.text().substr(span.begin, span.end - span.begin));
    result.push_back(command(why_command, "Why " + text,
                             json::array({{{"uri", view.all.uri_of_file(view.file)}, {"tuple", text}}})));
  }
  return result;
}

asked_program asked_program_of(const file_view& view, const std::string& fact_folder) {
  const syntax::parse_options options = parse_options_of(view.all.settings());
  asked_program result = {{}, options.include_directories, options.macros, fact_folder};
  std::set<std::string> seen;
  for (const auto& file : view.program.sources.files()) {
    if (seen.insert(file->path()).second)
      result.files.push_back({file->path(), file->full_path(), std::string(file->text())});
  }
  for (const std::string& path : view.program.sources.passed_over()) {
    if (seen.insert(path).second) result.files.push_back({path, view.program.sources.identity(path), ""});
  }
  return result;
}

std::string plan_of_clause(const file_view& view, std::size_t offset, const std::string& plan) {
  const indexed_clause* const clause = rule_at(view, offset);
  if (clause == nullptr) return plan;
  const std::string location = "   " + to_string(clause->span);
  std::string result;
  std::size_t kept_indentation = std::string::npos;
  for (std::size_t begin = 0; begin < plan.size();) {
    const std::size_t end = std::min(plan.find('\n', begin), plan.size());
    const std::string_view line = std::string_view(plan).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t indentation = indentation_of(line);
    if (indentation <= kept_indentation) kept_indentation = std::string::npos;
    if (line.ends_with(location)) kept_indentation = indentation;
    if (kept_indentation != std::string::npos) result += std::string(line.substr(kept_indentation)) + "\n";
  }
  return result.empty() ? plan : result;
}

}  // namespace gpulog::lsp
