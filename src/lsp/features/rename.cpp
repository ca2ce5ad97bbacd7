#include "lsp/features/rename.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "lsp/features/navigation.hpp"
#include "syntax/format/format.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::lsp {

namespace {

[[noreturn]] void refuse(const std::string& reason) { throw request_error(error_code::request_failed, reason); }

bool is_identifier(const std::string& name) {
  return !name.empty() && name != "_" && syntax::is_identifier_start(name.front()) &&
         std::all_of(name.begin(), name.end(), syntax::is_identifier_part) &&
         syntax::kind_of_word(name) == syntax::token_kind::identifier;
}

/// Returns whether files or outputs of the directive have the name of the relation.
bool uses_relation_name(const syntax::directive& directive) {
  if (directive.kind == syntax::directive_kind::limitsize) return false;
  if (directive.kind == syntax::directive_kind::printsize) return true;
  bool has_name = false, is_file = true;
  for (const syntax::directive_parameter& parameter : directive.parameters) {
    if (parameter.key.text == "filename") has_name = true;
    if (parameter.key.text == "IO" && parameter.value != "file") is_file = false;
  }
  return !has_name || !is_file;
}

void check_directives(const compiled_program& program, const std::vector<syntax::item>& items,
                      const named_symbol& symbol) {
  for (const syntax::item& item : items) {
    if (const auto* component = item.as<syntax::component>()) check_directives(program, component->items, symbol);
    if (const auto* pragma = item.as<syntax::pragma>();
        pragma != nullptr && pragma->value.find(symbol.name) != std::string::npos)
      refuse("a pragma names " + symbol.name);
    const auto* directive = item.as<syntax::directive>();
    if (directive == nullptr) continue;
    if (symbol.kind != name_kind::relation) {
      if (symbol.kind == name_kind::variable || symbol.kind == name_kind::type) continue;
      refuse("files of " + std::string(spelling(directive->kind)) + " may contain the name " + symbol.name);
    }
    for (const syntax::qualified_name& name : directive->relations) {
      const bool is_named = name.text == symbol.name || name.text.ends_with("." + symbol.name);
      if (!is_named || !uses_relation_name(*directive)) continue;
      const source_position place = directive->span.file->position(directive->span.begin);
      refuse(std::string(spelling(directive->kind)) + " in line " + std::to_string(place.line) + " uses the name " +
             symbol.name +
             (directive->kind == syntax::directive_kind::printsize
                  ? " in the output"
                  : " for a file; give it the parameter filename first"));
    }
  }
}

/// @throws request_error if results or files depend on the name
void check_symbol(const compiled_program& program, const named_symbol& symbol) {
  if (symbol.kind == name_kind::functor) refuse("a library defines the functor " + symbol.name);
  const bool may_be_outside = symbol.kind == name_kind::relation || symbol.kind == name_kind::branch ||
                              symbol.kind == name_kind::attribute || symbol.kind == name_kind::instance;
  if (may_be_outside) check_directives(program, program.tree.items, symbol);
}

/// Edits of one file, by the begin of the replaced name.
using file_edits = std::map<std::uint32_t, source_span>;

/// Adds the uses of the symbol.
void collect(const compiled_program& program, std::uint32_t symbol, std::map<std::string, file_edits>& edits) {
  for (const name_use& use : program.names().uses()) {
    if (use.symbol != symbol) continue;
    if (!use.is_written) refuse("a macro contains the name " + program.names().symbols()[symbol].name);
    edits[use.span.file->full_path()].emplace(use.span.begin, use.span);
  }
}

std::string renamed_text(std::string_view text, const file_edits& edits, const std::string& name) {
  std::vector<syntax::text_edit> list;
  for (const auto& [begin, span] : edits) list.push_back({span.begin, span.end, name});
  return syntax::apply_edits(text, list);
}

/// Returns the symbols of all uses in the order of the files in the program, numbered by their first use.
std::vector<std::uint32_t> partition_of(const compiled_program& program) {
  std::map<const source_file*, std::vector<std::uint32_t>> by_file;
  for (const name_use& use : program.names().uses()) by_file[use.span.file].push_back(use.symbol);
  std::vector<std::uint32_t> result;
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (const auto& file : program.sources.files()) {
    for (const std::uint32_t symbol : by_file[file.get()]) {
      result.push_back(numbers.emplace(symbol, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
  }
  return result;
}

/// @throws request_error if names of the program would have other meanings
void check_result(workspace& all, const compiled_program& before, const std::map<std::string, file_edits>& edits,
                  const std::string& name) {
  open_texts texts = all.texts();
  std::map<std::string, std::string> changed;
  for (const auto& file : before.sources.files()) {
    const auto own = edits.find(file->full_path());
    if (own != edits.end()) changed[file->full_path()] = renamed_text(file->text(), own->second, name);
  }
  for (const auto& [identity, text] : changed) texts[identity] = text;
  const auto after = compile(before.main->full_path(), texts, all.settings());
  const bool is_equal = after->report.error_count() == before.report.error_count() &&
                        after->report.warning_count() == before.report.warning_count() &&
                        partition_of(*after) == partition_of(before);
  if (!is_equal) refuse("the program would have another meaning: " + name + " has one already");
}

}  // namespace

json renamable_at(const file_view& view, std::size_t offset) {
  const name_use* const use = view.program.names().find_use(view.file, offset);
  if (use == nullptr) return nullptr;
  const named_symbol& symbol = view.program.names().symbols()[use->symbol];
  check_symbol(view.program, symbol);
  if (!use->is_written) refuse("a macro contains the name " + symbol.name);
  return {{"range", view.range(use->span)}, {"placeholder", symbol.name}};
}

json rename_at(workspace& all, const document& source, std::size_t offset, const std::string& name) {
  if (!is_identifier(name)) refuse("'" + name + "' is no name");
  std::map<std::string, file_edits> edits;
  std::set<std::string> mains;
  // The declaration may be in a file of further programs.
  std::vector<std::string> waiting = {source.identity};
  std::set<std::string> seen = {source.identity};
  const source_span* asked = nullptr;
  source_span place;
  while (!waiting.empty()) {
    const std::string file_identity = waiting.back();
    waiting.pop_back();
    for (const auto& [main, program] : all.programs_with(file_identity)) {
      if (!mains.insert(main).second) continue;
      const source_file* const file = program->find_file(asked == nullptr ? source.identity : place.file->full_path());
      const name_use* const use =
          file == nullptr ? nullptr : program->names().find_use(*file, asked == nullptr ? offset : place.begin);
      if (use == nullptr) continue;
      const named_symbol& symbol = program->names().symbols()[use->symbol];
      check_symbol(*program, symbol);
      collect(*program, use->symbol, edits);
      if (asked == nullptr) {
        place = symbol.declared;
        asked = &place;
      }
      for (const auto& [identity, list] : edits) {
        if (seen.insert(identity).second) waiting.push_back(identity);
      }
    }
  }
  if (asked == nullptr) refuse("there is no name to rename");
  json changes = json::object();
  for (const std::string& main : mains) {
    const compiled_program& program = all.program(main);
    if (program.main != nullptr) check_result(all, program, edits, name);
    for (const auto& [identity, list] : edits) {
      const source_file* const file = program.find_file(identity);
      if (file == nullptr || changes.contains(all.uri_of_file(*file))) continue;
      json& texts = changes[all.uri_of_file(*file)] = json::array();
      for (const auto& [begin, span] : list)
        texts.push_back({{"range", range_of(program.index(*file), span.begin, span.end)}, {"newText", name}});
    }
  }
  return {{"changes", std::move(changes)}};
}

}  // namespace gpulog::lsp
