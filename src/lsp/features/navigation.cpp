#include "lsp/features/navigation.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lsp/features/cursor.hpp"
#include "lsp/features/descriptions.hpp"
#include "lsp/features/figures.hpp"

namespace gpulog::lsp {

namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string uses_text(const name_index& names, std::uint32_t symbol) {
  std::size_t rules = 0, facts = 0, readers = 0;
  for (const indexed_clause& clause : names.clauses()) {
    if (std::find(clause.heads.begin(), clause.heads.end(), symbol) == clause.heads.end()) continue;
    ++(clause.is_fact ? facts : rules);
  }
  std::uint32_t last = name_use::no_clause;
  for (const name_use& use : names.uses()) {
    if (use.symbol == symbol && use.role == name_role::reads && use.clause != last) {
      ++readers;
      last = use.clause;
    }
  }
  return counted(rules, "rule") + ", " + counted(facts, "fact") + ", read by " + counted(readers, "rule");
}

std::string code_block(const std::string& text) { return "```souffle\n" + text + "\n```"; }

std::string hover_text(const compiled_program& program, const named_symbol& symbol) {
  if (symbol.kind == name_kind::variable) {
    const auto type = type_of_variable(program, symbol.whole, symbol.name);
    return code_block(symbol.name + (type ? ":" + *type : ""));
  }
  std::string text = code_block(declaration_text(symbol));
  const std::string documentation = documentation_of(symbol.whole);
  if (!documentation.empty()) text += "\n\n" + documentation;
  if (symbol.kind == name_kind::relation)
    text += "\n\n" + uses_text(program.names(), program.names().number_of(symbol));
  return text;
}

}  // namespace

const named_symbol* symbol_at(const file_view& view, std::size_t offset) {
  const name_index& names = view.program.names();
  if (const name_use* use = names.find_use(view.file, offset)) return &names.symbols()[use->symbol];
  const text_cursor cursor(view, offset);
  if (cursor.is_in_text() || cursor.word().empty()) return nullptr;
  if (!cursor.qualifier().empty()) {
    return names.find_relation(std::string(cursor.qualifier()) + "." + std::string(cursor.word()));
  }
  for (const name_kind kind : {name_kind::relation, name_kind::type, name_kind::functor, name_kind::branch,
                               name_kind::component, name_kind::instance}) {
    if (const named_symbol* symbol = names.find_symbol(kind, cursor.word())) return symbol;
  }
  return nullptr;
}

json definition_at(const file_view& view, std::size_t offset) {
  const named_symbol* const symbol = symbol_at(view, offset);
  if (symbol == nullptr || !symbol->declared.valid()) return nullptr;
  return location_of(view.all, view.program, symbol->declared);
}

json references_at(const file_view& view, std::size_t offset, bool with_declaration) {
  json result = json::array();
  const named_symbol* const symbol = symbol_at(view, offset);
  if (symbol == nullptr) return result;
  const name_index& names = view.program.names();
  std::set<std::pair<std::string, std::uint32_t>> seen;
  for (const name_use& use : names.uses()) {
    const bool is_wanted = with_declaration || use.role != name_role::declaration;
    if (use.symbol != names.number_of(*symbol) || !is_wanted) continue;
    // A file that is included twice has each place twice.
    if (seen.emplace(use.span.file->full_path(), use.span.begin).second)
      result.push_back(location_of(view.all, view.program, use.span));
  }
  return result;
}

json highlights_at(const file_view& view, std::size_t offset) {
  constexpr int kind_read = 2, kind_write = 3;
  json result = json::array();
  const name_index& names = view.program.names();
  const name_use* const found = names.find_use(view.file, offset);
  if (found == nullptr) return result;
  for (const name_use& use : names.uses()) {
    if (use.symbol != found->symbol || !view.has(use.span)) continue;
    const bool is_written = use.role == name_role::declaration || use.role == name_role::fills;
    result.push_back({{"range", view.range(use.span)}, {"kind", is_written ? kind_write : kind_read}});
  }
  return result;
}

namespace {

/// Returns the figures of the last run: of the clause whose head is under the cursor, otherwise of the relation.
std::string figures_text(const file_view& view, const named_symbol& symbol, std::size_t offset) {
  if (view.figures == nullptr || symbol.kind != name_kind::relation) return {};
  const name_index& names = view.program.names();
  const name_use* const use = names.find_use(view.file, offset);
  if (use != nullptr && use->role == name_role::fills) {
    if (const auto figures = view.figures->clause(names.clauses()[use->clause].span)) return text_of(*figures);
  }
  const auto figures = symbol.owner.empty() ? view.figures->relation(symbol.name) : std::nullopt;
  return figures ? text_of(*figures) : "";
}

}  // namespace

json hover_at(const file_view& view, std::size_t offset) {
  const auto shown = [](const std::string& text) -> json {
    return {{"contents", {{"kind", "markdown"}, {"value", text}}}};
  };
  if (const named_symbol* symbol = symbol_at(view, offset)) {
    const std::string figures = figures_text(view, *symbol, offset);
    return shown(hover_text(view.program, *symbol) + (figures.empty() ? "" : "\n\n" + figures));
  }
  const text_cursor cursor(view, offset);
  const std::vector<std::string>& functors = syntax::functor_names();
  const std::string word(cursor.word());
  const bool is_functor = std::find(functors.begin(), functors.end(), word) != functors.end();
  if (cursor.is_in_text() || !is_functor) return nullptr;
  // Variables and relations may have the names of functors that Soufflé does not know.
  const std::size_t next = cursor.before() + 1;
  const bool is_call = next < cursor.item_end() && cursor.kind(next) == syntax::token_kind::left_parenthesis;
  if (syntax::extension_named(word) && !is_call) return nullptr;
  return shown(code_block(signature_of(view.program, word)->label));
}

// ---- call hierarchy -------------------------------------------------------------------------------------------------

namespace {

constexpr int kind_of_relation = 5;

json hierarchy_item(const file_view& view, const named_symbol& symbol, const source_span& whole,
                    const source_span& name) {
  const bool is_inside = name.file == whole.file && name.begin >= whole.begin && name.end <= whole.end;
  return {{"name", symbol.name},
          {"kind", kind_of_relation},
          {"uri", view.all.uri_of_file(*whole.file)},
          {"range", range_of(view.program, whole)},
          {"selectionRange", range_of(view.program, is_inside ? name : whole)}};
}

/// A relation in a file, with the places of its calls.
struct call_group {
  std::uint32_t symbol;
  const source_file* file;
  source_span whole, name;
  json ranges = json::array();
};

call_group& group_of(std::vector<call_group>& groups, std::uint32_t symbol, const source_span& whole,
                     const source_span& name) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const call_group& each) {
    return each.symbol == symbol && each.file == whole.file;
  });
  if (found != groups.end()) return *found;
  return groups.emplace_back(call_group{symbol, whole.file, whole, name});
}

json calls_of(const file_view& view, const char* end, const std::vector<call_group>& groups) {
  json result = json::array();
  for (const call_group& group : groups) {
    const named_symbol& symbol = view.program.names().symbols()[group.symbol];
    result.push_back({{end, hierarchy_item(view, symbol, group.whole, group.name)}, {"fromRanges", group.ranges}});
  }
  return result;
}

const named_symbol* relation_at(const file_view& view, std::size_t offset) {
  const named_symbol* const symbol = symbol_at(view, offset);
  return symbol != nullptr && symbol->kind == name_kind::relation ? symbol : nullptr;
}

}  // namespace

json prepared_hierarchy(const file_view& view, std::size_t offset) {
  const named_symbol* const symbol = relation_at(view, offset);
  if (symbol == nullptr) return nullptr;
  return json::array({hierarchy_item(view, *symbol, symbol->whole, symbol->declared)});
}

json incoming_calls(const file_view& view, std::size_t offset) {
  const named_symbol* const symbol = relation_at(view, offset);
  if (symbol == nullptr) return nullptr;
  const name_index& names = view.program.names();
  std::vector<call_group> groups;
  for (const name_use& use : names.uses()) {
    if (use.symbol != names.number_of(*symbol) || use.role != name_role::reads) continue;
    const indexed_clause& clause = names.clauses()[use.clause];
    for (const std::uint32_t head : clause.heads) {
      if (clause.span.file == use.span.file)
        group_of(groups, head, clause.span, clause.span).ranges.push_back(range_of(view.program, use.span));
    }
  }
  for (call_group& group : groups) {
    // Shows the head of the first clause that reads the relation.
    for (const name_use& use : names.uses()) {
      const bool is_head = use.symbol == group.symbol && use.role == name_role::fills &&
                           use.span.file == group.whole.file && use.span.begin >= group.whole.begin;
      if (!is_head) continue;
      group.name = use.span;
      break;
    }
  }
  return calls_of(view, "from", groups);
}

json outgoing_calls(const file_view& view, std::size_t offset) {
  const named_symbol* const symbol = relation_at(view, offset);
  if (symbol == nullptr) return nullptr;
  const name_index& names = view.program.names();
  std::vector<call_group> groups;
  for (const name_use& use : names.uses()) {
    const bool is_read = use.role == name_role::reads && use.clause != name_use::no_clause && view.has(use.span);
    if (!is_read || names.symbols()[use.symbol].kind != name_kind::relation) continue;
    const std::vector<std::uint32_t>& heads = names.clauses()[use.clause].heads;
    if (std::find(heads.begin(), heads.end(), names.number_of(*symbol)) == heads.end()) continue;
    const named_symbol& callee = names.symbols()[use.symbol];
    group_of(groups, use.symbol, callee.whole, callee.declared).ranges.push_back(view.range(use.span));
  }
  return calls_of(view, "to", groups);
}

}  // namespace gpulog::lsp
