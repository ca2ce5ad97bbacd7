#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/profile/page.hpp"
#include "cli/profile/record.hpp"
#include "gpulog/engine.hpp"
#include "lsp/server.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/format/format.hpp"

/// The module's single function: a request as JSON, an answer as JSON. The engine of the last run stays for questions
/// about its results.
namespace {

using json = nlohmann::ordered_json;

constexpr const char* fact_folder = "/facts";
constexpr const char* include_folder = "/program";
constexpr const char* output_folder = "/output";
constexpr const char* no_run = "No program has run.";

std::unique_ptr<gpulog::engine> last_engine;
std::optional<gpulog::program> last_program;

std::string text_in(const json& object, const char* key, const char* otherwise = "") {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? otherwise : found->get<std::string>();
}

std::uint64_t number_in(const json& object, const char* key, std::uint64_t otherwise) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number_unsigned() ? otherwise : found->get<std::uint64_t>();
}

/// Makes the folder contain exactly these files.
void fill_folder(const char* folder, const json& files) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : files.items()) {
    const std::filesystem::path path = std::filesystem::path(folder) / std::filesystem::path(name).filename();
    std::ofstream(path, std::ios::binary) << text.get<std::string>();
  }
}

json files_in(const char* folder) {
  json files = json::object();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

json to_json(const std::vector<gpulog::diagnostic>& diagnostics) {
  json list = json::array();
  for (const gpulog::diagnostic& one : diagnostics) {
    list.push_back({{"level", one.level == gpulog::severity::error ? "error" : "warning"},
                    {"message", one.message},
                    {"line", one.line},
                    {"column", one.column},
                    {"text", one.text}});
  }
  return list;
}

/// The text of a symbol as in a program.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// @param most maximum number of rows whose values are returned
json rows_of(const gpulog::relation& relation, std::uint64_t most) {
  const std::vector<gpulog::attribute> attributes = relation.attributes();
  json columns = json::array();
  for (const gpulog::attribute& one : attributes) columns.push_back({{"name", one.name}, {"type", one.declared_type}});
  json values = json::array();
  json tuples = json::array();
  for (const gpulog::tuple row : relation) {
    if (values.size() == most) break;
    json texts = json::array();
    std::string tuple = relation.name() + "(";
    for (std::size_t c = 0; c < attributes.size(); ++c) {
      texts.push_back(row.text(c));
      tuple += (c == 0 ? "" : ", ") + (attributes[c].type == "symbol" ? quoted(row.symbol(c)) : row.text(c));
    }
    values.push_back(std::move(texts));
    tuples.push_back(tuple + ")");
  }
  return {{"name", relation.name()}, {"columns", columns},
          {"size", relation.size()}, {"is_complete", relation.is_complete()},
          {"rows", values},          {"tuples", tuples}};
}

json run(const json& request) {
  last_engine.reset();
  last_program.reset();
  fill_folder(fact_folder, request.value("files", json::object()));
  fill_folder(include_folder, request.value("includes", json::object()));
  fill_folder(output_folder, json::object());
  gpulog::compile_options reading;
  reading.include_directories = {include_folder};
  reading.word_size = static_cast<unsigned>(number_in(request, "word_size", reading.word_size));
  last_program = gpulog::program::from_text(text_in(request, "program"), reading);
  json result = {
      {"ok", false}, {"diagnostics", to_json(last_program->diagnostics())}, {"report", last_program->report()}};
  if (!last_program->ok()) return result;
  gpulog::run_options options;
  options.fact_directory = fact_folder;
  options.output_directory = output_folder;
  options.missing_facts_are_empty = request.value("missing_facts_are_empty", false);
  options.backend = gpulog::backend_kind::cpu;
  options.memory_limit = number_in(request, "memory", 0);
  options.proofs = request.value("proofs", false);
  options.count_rows = true;
  last_engine = std::make_unique<gpulog::engine>(*last_program, options);
  last_engine->run();
  std::fflush(stdout);
  const std::uint64_t most = number_in(request, "rows", 0);
  result["relations"] = json::array();
  const std::vector<gpulog::relation_declaration> declared = last_program->relations();
  std::size_t number = 0;
  for (const gpulog::relation& one : last_engine->relations()) {
    if (number == declared.size()) break;  // the rest are queries
    json rows = rows_of(one, most);
    rows["is_output"] = declared[number].is_output;
    rows["is_input"] = declared[number].is_input;
    result["relations"].push_back(std::move(rows));
    ++number;
  }
  result["warnings"] = to_json(last_engine->warnings());
  if (request.value("outputs", false)) result["outputs"] = files_in(output_folder);
  result["ok"] = true;
  return result;
}

json show(const json& request) {
  if (!last_program) return {{"ok", false}, {"message", no_run}};
  return {{"ok", true}, {"text", last_program->show(text_in(request, "stage", "transformed-ram"))}};
}

json why(const json& request) {
  if (!last_engine) return {{"ok", false}, {"message", no_run}};
  const std::string tuple = text_in(request, "tuple");
  const auto shown = last_engine->why(tuple, static_cast<std::size_t>(number_in(request, "depth", 4)));
  if (shown)
    return {{"ok", true},
            {"proof", json::parse(gpulog::to_json(*shown), nullptr, false)},
            {"text", gpulog::to_text(*shown)}};
  std::string text;
  for (const gpulog::failed_rule& rule : last_engine->why_not(tuple)) text += gpulog::to_text(rule, tuple);
  return {{"ok", true}, {"proof", nullptr}, {"text", text}};
}

/// Diagnostics of a program that does not run.
json check(const json& request) {
  fill_folder(include_folder, request.value("includes", json::object()));
  gpulog::compile_options reading;
  reading.include_directories = {include_folder};
  reading.lint = true;
  const auto checked = gpulog::program::from_text(text_in(request, "program"), reading);
  return {{"ok", true}, {"diagnostics", to_json(checked.diagnostics())}};
}

json format(const json& request) {
  gpulog::source_manager sources;
  gpulog::diagnostics report;
  gpulog::source_file& file = sources.add("program.dl", text_in(request, "program"));
  const auto edits = gpulog::syntax::format_program(file, sources, report, {});
  return {{"ok", true}, {"program", gpulog::syntax::apply_edits(file.text(), edits)}};
}

/// The page of `gpulog profile --html` about the last run.
json profile(const json& /*request*/) {
  if (!last_engine) return {{"ok", false}, {"message", no_run}};
  return {{"ok", true},
          {"page", gpulog::cli::page_of(gpulog::cli::record_of(gpulog::to_json(last_engine->figures()), "the run"))}};
}

/// Passes messages of an editor to a language server. Its documents are in the folder of included files.
json edit(const json& request) {
  static std::vector<std::string> sent;
  static gpulog::lsp::server session({std::string(gpulog::version()), {}},
                                     [](const std::string& content) { sent.push_back(content); });
  fill_folder(include_folder, request.value("includes", json::object()));
  sent.clear();
  for (const json& message : request.value("messages", json::array())) session.receive(message.dump());
  json messages = json::array();
  for (const std::string& content : sent) messages.push_back(json::parse(content));
  return {{"ok", true}, {"messages", std::move(messages)}};
}

json act(const json& request) {
  const std::string kind = text_in(request, "do");
  if (kind == "run") return run(request);
  if (kind == "why") return why(request);
  if (kind == "show") return show(request);
  if (kind == "check") return check(request);
  if (kind == "format") return format(request);
  if (kind == "edit") return edit(request);
  if (kind == "profile") return profile(request);
  if (kind == "version") return {{"ok", true}, {"version", gpulog::version()}};
  return {{"ok", false}, {"message", "There is no request '" + kind + "'."}};
}

json guarded(const char* request) {
  try {
    return act(json::parse(request));
  } catch (const std::bad_alloc&) {
    return {{"ok", false}, {"message", "The program needs more memory than a page of a browser has (2 GiB)."}};
  } catch (const std::exception& failure) {
    return {{"ok", false}, {"message", failure.what()}};
  }
}

}  // namespace

/// @return valid until the next call
extern "C" const char* answer(const char* request) {
  static std::string text;
  text = guarded(request).dump(-1, ' ', false, json::error_handler_t::replace);
  return text.c_str();
}
