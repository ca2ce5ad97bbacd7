#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "lsp/features/completion.hpp"
#include "lsp/features/declare_relation.hpp"
#include "lsp/features/extract_rule.hpp"
#include "lsp/features/figures.hpp"
#include "lsp/features/formatting.hpp"
#include "lsp/features/missing_column.hpp"
#include "lsp/features/navigation.hpp"
#include "lsp/features/outline.hpp"
#include "lsp/features/problems.hpp"
#include "lsp/features/questions.hpp"
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
  const auto add = [&result](json actions) {
    for (json& action : actions) result.push_back(std::move(action));
  };
  add(declaring_fixes(view, begin, end));
  add(column_fixes(view, begin, end));
  add(extracting_actions(view, begin, end));
  if (!view.program.report.has_errors() && options_.questions.explain) add(commands_at(view, begin));
  const json context = params.value("context", json::object());
  if (!context.contains("only")) return result;
  const auto is_wanted = [&](const json& action) {
    const std::string kind = action.value("kind", "");
    return std::any_of(context["only"].begin(), context["only"].end(), [&](const json& only) {
      const std::string& wanted = only.get_ref<const std::string&>();
      return wanted.empty() || kind == wanted || kind.starts_with(wanted + ".");
    });
  };
  json chosen = json::array();
  std::copy_if(result.begin(), result.end(), std::back_inserter(chosen), is_wanted);
  return chosen;
}

std::size_t server::offset_in(const file_view& view, const json& params) {
  return view.index.offset(position_of(params.at("position")));
}

json server::lenses(const json& params) {
  file_view view = view_of(document_of(params));
  view.figures = workspace_.figures_of(view.program);
  return code_lenses(view, options_.questions.plan_of != nullptr);
}

json server::hints(const json& params) {
  file_view view = view_of(document_of(params));
  view.figures = workspace_.figures_of(view.program);
  const json& range = params.at("range");
  return inlay_hints(view, view.index.offset(position_of(range.at("start"))),
                     view.index.offset(position_of(range.at("end"))));
}

std::string server::fact_folder_of(const compiled_program& program) const {
  const std::string& folder = workspace_.settings().fact_folder;
  return folder.empty() ? std::filesystem::path(program.main->full_path()).parent_path().string() : folder;
}

asked_program server::asked_program_in(const json& question) {
  const file_view view = view_of(document_of({{"textDocument", {{"uri", question.at("uri")}}}}));
  if (view.program.report.has_errors()) throw request_error(error_code::request_failed, "the program has errors");
  return asked_program_of(view, fact_folder_of(view.program));
}

bool server::starts_question(const json& id, const std::string& method, const json& params) {
  if (method != "workspace/executeCommand" || !options_.questions.explain) return false;
  if (params.at("command") != why_command) return false;
  const json& question = params.at("arguments").at(0);
  const std::string atom = question.at("tuple");
  questions_.add(id, [explain = options_.questions.explain, atom, program = asked_program_in(question)](
                         std::atomic<bool>& cancelled) { return explain(program, atom, cancelled); });
  return true;
}

void server::send_answers() {
  while (const std::optional<question_queue::answer> ended = questions_.take_answer()) {
    if (ended->was_cancelled) {
      send_error(ended->id, error_code::request_cancelled, "the command was cancelled");
    } else if (ended->has_failed) {
      send_error(ended->id, error_code::request_failed, ended->text);
    } else {
      show_text("why.txt", ended->text);
      send({{"jsonrpc", "2.0"}, {"id", ended->id}, {"result", ended->text}});
    }
  }
}

json server::execute(const json& params) {
  const std::string command = params.at("command");
  if (command != plan_command || !options_.questions.plan_of)
    throw request_error(error_code::invalid_params, "there is no command " + command);
  const json& question = params.at("arguments").at(0);
  const asked_program program = asked_program_in(question);
  std::string text;
  try {
    text = options_.questions.plan_of(program);
  } catch (const std::exception& failure) {
    throw request_error(error_code::request_failed, failure.what());
  }
  if (question.contains("position")) {
    const file_view view = view_of(document_of({{"textDocument", {{"uri", question.at("uri")}}}}));
    text = plan_of_clause(view, offset_in(view, question), text);
  }
  show_text("plan.txt", text);
  return text;
}

void server::show_text(const std::string& name, const std::string& text) {
  if (!shows_documents_) {
    constexpr int type_info = 3;
    send({{"jsonrpc", "2.0"}, {"method", "window/showMessage"}, {"params", {{"type", type_info}, {"message", text}}}});
    return;
  }
  if (text_folder_.empty()) {
    std::string folder = (std::filesystem::temp_directory_path() / "gpulog-lsp-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw request_error(error_code::internal_error, "cannot write " + folder);
    text_folder_ = folder;
  }
  const std::string path = text_folder_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  request("window/showDocument", {{"uri", uri_of(path)}, {"external", false}, {"takeFocus", true}});
}

server::~server() {
  std::error_code ignored;
  if (!text_folder_.empty()) std::filesystem::remove_all(text_folder_, ignored);
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
