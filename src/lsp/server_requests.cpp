#include <utility>

#include "lsp/features/completion.hpp"
#include "lsp/features/declare_relation.hpp"
#include "lsp/features/figures.hpp"
#include "lsp/features/formatting.hpp"
#include "lsp/features/navigation.hpp"
#include "lsp/features/outline.hpp"
#include "lsp/features/problems.hpp"
#include "lsp/features/rename.hpp"
#include "lsp/features/text_structure.hpp"
#include "lsp/protocol/uri.hpp"
#include "lsp/server.hpp"

/// The requests about documents.
namespace gpulog::lsp {

json server::format_document(const json& params) {
  const document& source = document_of(params);
  return formatting_edits(workspace_, source, 0, source.text.size());
}

json server::format_range(const json& params) {
  const document& source = document_of(params);
  const text_index index(source.text, workspace_.settings().encoding);
  const json& range = params.at("range");
  const std::size_t begin = index.offset(position_of(range.at("start")));
  return formatting_edits(workspace_, source, begin, std::max(begin, index.offset(position_of(range.at("end")))));
}

json server::symbols(const json& params) { return document_symbols(view_of(document_of(params))); }

json server::code_actions(const json& params) {
  const file_view view = view_of(document_of(params));
  const json& range = params.at("range");
  const std::size_t begin = view.index.offset(position_of(range.at("start")));
  const std::size_t end = view.index.offset(position_of(range.at("end")));
  json result = quick_fixes(view, begin, end);
  for (json& fix : declaring_fixes(view, begin, end)) result.push_back(std::move(fix));
  return result;
}

std::size_t server::offset_in(const file_view& view, const json& params) {
  return view.index.offset(position_of(params.at("position")));
}

json server::lenses(const json& params) {
  file_view view = view_of(document_of(params));
  view.figures = workspace_.figures_of(view.program);
  return code_lenses(view);
}

json server::definition(const json& params) {
  const file_view view = view_of(document_of(params));
  return definition_at(view, offset_in(view, params));
}

json server::references(const json& params) {
  const file_view view = view_of(document_of(params));
  const bool with_declaration = params.at("context").at("includeDeclaration");
  return references_at(view, offset_in(view, params), with_declaration);
}

json server::highlights(const json& params) {
  const file_view view = view_of(document_of(params));
  return highlights_at(view, offset_in(view, params));
}

json server::hover(const json& params) {
  file_view view = view_of(document_of(params));
  view.figures = workspace_.figures_of(view.program);
  return hover_at(view, offset_in(view, params));
}

json server::complete(const json& params) {
  const file_view view = view_of(document_of(params));
  return completions_at(view, offset_in(view, params), takes_snippets_);
}

json server::signature_help(const json& params) {
  const file_view view = view_of(document_of(params));
  return signature_help_at(view, offset_in(view, params));
}

json server::prepare_rename(const json& params) {
  const file_view view = view_of(document_of(params));
  return renamable_at(view, offset_in(view, params));
}

json server::rename(const json& params) {
  const document& source = document_of(params);
  const std::size_t offset = offset_in(view_of(source), params);
  return rename_at(workspace_, source, offset, params.at("newName"));
}

json server::find_symbols(const json& params) {
  const std::string query = params.at("query");
  const bool was_outdated = workspace_.is_outdated();
  json result = workspace_symbols(workspace_, workspace_.programs(), query);
  if (was_outdated) workspace_.outdate_diagnostics();
  return result;
}

json server::fold(const json& params) { return folding_ranges(view_of(document_of(params))); }

json server::colour(const json& params) { return semantic_tokens(view_of(document_of(params))); }

json server::prepare_hierarchy(const json& params) {
  const file_view view = view_of(document_of(params));
  return prepared_hierarchy(view, offset_in(view, params));
}

template <class Answer>
json server::answer_about_item(const json& params, Answer answer_at) {
  const json& item = params.at("item");
  const std::string uri = item.at("uri");
  const text_position place = position_of(item.at("selectionRange").at("start"));
  const std::string identity = source_manager().identity(path_of(uri));
  for (const auto& [main_file, program] : workspace_.programs_with(identity)) {
    const source_file* const file = program->find_file(identity);
    if (file == nullptr) continue;
    const text_index& index = program->index(*file);
    return answer_at(file_view{workspace_, *program, *file, index}, index.offset(place));
  }
  return nullptr;
}

json server::callers(const json& params) { return answer_about_item(params, incoming_calls); }

json server::callees(const json& params) { return answer_about_item(params, outgoing_calls); }

}  // namespace gpulog::lsp
