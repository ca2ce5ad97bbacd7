#include "lsp/server.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lsp/features/problems.hpp"
#include "lsp/features/questions.hpp"
#include "lsp/features/text_structure.hpp"
#include "lsp/protocol/uri.hpp"
#include "lsp/workspace/project_file.hpp"

namespace gpulog::lsp {

namespace {

/// Values that are nested deeper are ignored: no message of the protocol needs them.
constexpr int deepest_value = 100;

constexpr int incremental_changes = 2;
constexpr const char* project_file_name = "gpulog.toml";

json parse_message(std::string_view content) {
  const auto keep = [](int depth, json::parse_event_t /*event*/, json& /*value*/) { return depth <= deepest_value; };
  return json::parse(content, keep, false);
}

/// Returns the member, or null if `value` is no object or lacks the member.
const json& member(const json& value, const char* name) {
  static const json null;
  const auto found = value.is_object() ? value.find(name) : value.end();
  return value.is_object() && found != value.end() ? *found : null;
}

template <class... Names>
const json& member(const json& value, const char* name, Names... names) {
  return member(member(value, name), names...);
}

std::vector<std::string> texts_of(const json& value) {
  std::vector<std::string> result;
  if (value.is_string()) result.push_back(value);
  if (!value.is_array()) return result;
  for (const json& each : value) {
    if (each.is_string()) result.push_back(each);
  }
  return result;
}

bool is_running(std::int64_t process) {
  return process > 0 && (::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH);
}

std::string identity_of(const std::string& path) { return source_manager().identity(path); }

}  // namespace

// ---- messages -------------------------------------------------------------------------------------------------------

void server::receive(std::string_view content) {
  const json message = parse_message(content);
  if (message.is_discarded()) {
    send_error(nullptr, error_code::parse_error, "the message is no JSON text");
  } else if (!message.is_object()) {
    send_error(nullptr, error_code::invalid_request, "the message is no object");
  } else {
    dispatch(message);
  }
}

void server::dispatch(const json& message) {
  const json& id = member(message, "id");
  const json& method = member(message, "method");
  const bool is_request = id.is_string() || id.is_number();
  if (!method.is_string()) {
    // A response has no method.
    const bool is_response = message.contains("result") || message.contains("error");
    if (!is_response) send_error(is_request ? id : json(), error_code::invalid_request, "the message has no method");
    return;
  }
  if (is_request) {
    answer(id, method, member(message, "params"));
  } else if (stage_ == stage::running || method == "exit") {
    notify(method, member(message, "params"));
  }
}

void server::answer(const json& id, const std::string& method, const json& params) {
  using handler = json (server::*)(const json&);
  static const std::unordered_map<std::string_view, handler> handlers = {
      {"initialize", &server::initialize},
      {"shutdown", &server::shut_down},
      {"textDocument/formatting", &server::format_document},
      {"textDocument/rangeFormatting", &server::format_range},
      {"textDocument/documentSymbol", &server::symbols},
      {"textDocument/codeAction", &server::code_actions},
      {"textDocument/codeLens", &server::lenses},
      {"textDocument/inlayHint", &server::hints},
      {"workspace/executeCommand", &server::execute},
      {"textDocument/definition", &server::definition},
      {"textDocument/references", &server::references},
      {"textDocument/documentHighlight", &server::highlights},
      {"textDocument/hover", &server::hover},
      {"textDocument/completion", &server::complete},
      {"textDocument/signatureHelp", &server::signature_help},
      {"textDocument/prepareRename", &server::prepare_rename},
      {"textDocument/rename", &server::rename},
      {"textDocument/foldingRange", &server::fold},
      {"textDocument/semanticTokens/full", &server::colour},
      {"textDocument/prepareCallHierarchy", &server::prepare_hierarchy},
      {"callHierarchy/incomingCalls", &server::callers},
      {"callHierarchy/outgoingCalls", &server::callees},
      {"workspace/symbol", &server::find_symbols},
  };
  try {
    if (stage_ == stage::starting && method != "initialize")
      throw request_error(error_code::not_initialized, "the first request has to be initialize");
    if (stage_ == stage::shut_down) throw request_error(error_code::invalid_request, "the server was shut down");
    if (starts_question(id, method, params)) return;
    const auto found = handlers.find(method);
    if (found == handlers.end()) throw request_error(error_code::method_not_found, "there is no method " + method);
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", (this->*found->second)(params)}});
  } catch (const request_error& failure) {
    send_error(id, failure.code(), failure.what());
  } catch (const json::exception& failure) {
    send_error(id, error_code::invalid_params, method + ": " + failure.what());
  } catch (const std::bad_alloc&) {
    send_error(id, error_code::internal_error, "the machine has too little memory for the request");
  } catch (const std::exception& failure) {
    send_error(id, error_code::internal_error, failure.what());
  }
}

void server::notify(const std::string& method, const json& params) {
  using handler = void (server::*)(const json&);
  static const std::unordered_map<std::string_view, handler> handlers = {
      {"$/cancelRequest", &server::cancel},
      {"initialized", &server::set_initialized},
      {"exit", &server::exit},
      {"textDocument/didOpen", &server::open},
      {"textDocument/didChange", &server::change},
      {"textDocument/didClose", &server::close},
      {"textDocument/didSave", &server::refresh_files},
      {"workspace/didChangeWatchedFiles", &server::refresh_files},
      {"workspace/didChangeWorkspaceFolders", &server::change_folders},
      {"workspace/didChangeConfiguration", &server::change_settings},
  };
  const auto found = handlers.find(method);
  if (found == handlers.end()) return;
  try {
    (this->*found->second)(params);
  } catch (const std::exception& failure) {
    show_warning(method + ": " + failure.what());
  }
}

void server::send(const json& message) const {
  // Files may have bytes that are no UTF-8.
  send_(message.dump(-1, ' ', false, json::error_handler_t::replace));
}

void server::send_error(const json& id, error_code code, const std::string& message) const {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}});
}

void server::show_warning(const std::string& message) const {
  constexpr int type_warning = 2;
  send({{"jsonrpc", "2.0"},
        {"method", "window/logMessage"},
        {"params", {{"type", type_warning}, {"message", message}}}});
}

void server::request(const std::string& method, json params) {
  json message = {{"jsonrpc", "2.0"}, {"id", "server-" + std::to_string(++last_request_)}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  send(message);
}

bool server::has_lost_client() const { return client_process_ && !is_running(*client_process_); }

// ---- session --------------------------------------------------------------------------------------------------------

json server::capabilities(position_encoding encoding) const {
  json result = {{"positionEncoding", encoding == position_encoding::utf8 ? "utf-8" : "utf-16"},
                 {"textDocumentSync", {{"openClose", true}, {"change", incremental_changes}, {"save", true}}},
                 {"documentFormattingProvider", true},
                 {"documentRangeFormattingProvider", true},
                 {"documentSymbolProvider", true},
                 {"codeLensProvider", {{"resolveProvider", false}}},
                 {"inlayHintProvider", true},
                 {"definitionProvider", true},
                 {"referencesProvider", true},
                 {"documentHighlightProvider", true},
                 {"hoverProvider", true},
                 {"completionProvider", {{"triggerCharacters", {".", "$", "@", ":"}}}},
                 {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
                 {"renameProvider", {{"prepareProvider", true}}},
                 {"workspaceSymbolProvider", true},
                 {"foldingRangeProvider", true},
                 {"callHierarchyProvider", true},
                 {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}},
                 {"codeActionProvider", {{"codeActionKinds", json::array({"quickfix", "refactor.extract"})}}},
                 {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
  json commands = json::array();
  if (options_.questions.plan_of) commands.push_back(plan_command);
  if (options_.questions.explain) commands.push_back(why_command);
  if (!commands.empty()) result["executeCommandProvider"] = {{"commands", commands}};
  return result;
}

json server::initialize(const json& params) {
  if (stage_ != stage::starting) throw request_error(error_code::invalid_request, "the server was initialized before");
  workspace_settings settings = options_.settings;
  const json& folders = member(params, "workspaceFolders");
  for (const json& folder : folders.is_array() ? folders : json::array()) {
    for (const std::string& uri : texts_of(member(folder, "uri")))
      settings.folders.push_back(identity_of(path_of(uri)));
  }
  if (settings.folders.empty()) {
    for (const std::string& uri : texts_of(member(params, "rootUri"))) {
      settings.folders.push_back(identity_of(path_of(uri)));
    }
  }
  for (const std::string& name : texts_of(member(params, "capabilities", "general", "positionEncodings"))) {
    if (name == "utf-8") settings.encoding = position_encoding::utf8;
  }
  const json& process = member(params, "processId");
  if (process.is_number_integer() && is_running(process)) client_process_ = process;
  takes_snippets_ =
      member(params, "capabilities", "textDocument", "completion", "completionItem", "snippetSupport") == json(true);
  shows_documents_ = member(params, "capabilities", "window", "showDocument", "support") == json(true);
  renews_figures_ = member(params, "capabilities", "workspace", "codeLens", "refreshSupport") == json(true) &&
                    member(params, "capabilities", "workspace", "inlayHint", "refreshSupport") == json(true);
  can_watch_files_ =
      member(params, "capabilities", "workspace", "didChangeWatchedFiles", "dynamicRegistration") == json(true);
  workspace_.configure(settings);
  client_settings_ = member(params, "initializationOptions");
  apply_settings();
  stage_ = stage::running;
  return {{"capabilities", capabilities(settings.encoding)},
          {"serverInfo", {{"name", "gpulog"}, {"version", options_.version}}}};
}

void server::set_initialized(const json& /*params*/) {
  if (!can_watch_files_) return;
  json watchers = json::array({{{"globPattern", "**/*.dl"}}, {{"globPattern", "**/gpulog.toml"}}});
  if (renews_figures_) watchers.push_back({{"globPattern", "**/*.json"}});
  const json watched = {{"watchers", watchers}};
  const json registration = {
      {"id", "files"}, {"method", "workspace/didChangeWatchedFiles"}, {"registerOptions", watched}};
  request("client/registerCapability", {{"registrations", json::array({registration})}});
}

void server::cancel(const json& params) { questions_.cancel(params.at("id")); }

json server::shut_down(const json& /*params*/) {
  stage_ = stage::shut_down;
  was_shut_down_ = true;
  return nullptr;
}

void server::exit(const json& /*params*/) { stage_ = stage::exited; }

json server::project_settings() const {
  json result = json::object();
  const std::vector<std::string>& folders = workspace_.settings().folders;
  std::ifstream in(folders.empty() ? "" : folders.front() + "/" + project_file_name, std::ios::binary);
  if (!in) return result;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const project_values project = parse_project_file(text);
  if (!project.problem.empty()) show_warning(std::string(project_file_name) + ": " + project.problem);
  for (const auto& [name, values] : project.values) result[name] = values;
  return result;
}

void server::apply_settings() {
  workspace_settings changed = workspace_.settings();
  const json project = project_settings();
  // A value of the client replaces the value of the project file.
  const auto values = [&](const char* name) {
    std::vector<std::string> own = texts_of(member(client_settings_, name));
    std::erase(own, "");
    return own.empty() ? texts_of(member(project, name)) : own;
  };
  const auto paths = [&](const char* name, std::vector<std::string> result) {
    const std::string folder = changed.folders.empty() ? "" : changed.folders.front();
    for (const std::string& path : values(name)) {
      result.push_back(identity_of((std::filesystem::path(folder) / path).string()));
    }
    return result;
  };
  changed.main_files = paths("mainFiles", options_.settings.main_files);
  changed.include_directories = paths("includeDirectories", options_.settings.include_directories);
  changed.macros = options_.settings.macros;
  for (const std::string& macro : values("macros")) changed.macros.push_back(macro);
  const std::vector<std::string> records = paths("record", {});
  changed.record = records.empty() ? "" : records.front();
  const std::vector<std::string> facts = paths("facts", {});
  changed.fact_folder = facts.empty() ? "" : facts.front();
  workspace_.configure(std::move(changed));
}

void server::change_settings(const json& params) {
  client_settings_ = member(params, "settings", "gpulog");
  apply_settings();
}

void server::change_folders(const json& params) {
  workspace_settings changed = workspace_.settings();
  const auto folders_in = [&](const char* name) {
    std::vector<std::string> result;
    const json& list = member(params, "event", name);
    for (const json& folder : list.is_array() ? list : json::array()) {
      for (const std::string& uri : texts_of(member(folder, "uri"))) result.push_back(identity_of(path_of(uri)));
    }
    return result;
  };
  for (const std::string& removed : folders_in("removed")) std::erase(changed.folders, removed);
  for (std::string& added : folders_in("added")) changed.folders.push_back(std::move(added));
  workspace_.configure(std::move(changed));
  apply_settings();
}

void server::refresh_files(const json& params) {
  const json& changes = member(params, "changes");
  const auto is_record = [](const json& change) {
    const std::vector<std::string> uris = texts_of(member(change, "uri"));
    return !uris.empty() && uris.front().ends_with(".json");
  };
  const std::size_t records =
      changes.is_array() ? static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), is_record)) : 0;
  if (records > 0 && renews_figures_) {
    request("workspace/codeLens/refresh", nullptr);
    request("workspace/inlayHint/refresh", nullptr);
  }
  if (records == 0 || records < changes.size()) apply_settings();
}

// ---- documents ------------------------------------------------------------------------------------------------------

document& server::document_of(const json& params) {
  const std::string uri = params.at("textDocument").at("uri");
  document* const found = workspace_.find(uri);
  if (found == nullptr) throw request_error(error_code::invalid_params, uri + " is not open");
  return *found;
}

file_view server::view_of(const document& source) {
  const compiled_program& program = workspace_.program_of(source);
  const source_file* const file = program.find_file(source.identity);
  if (file == nullptr) throw request_error(error_code::request_failed, source.uri + " cannot be read");
  return {workspace_, program, *file, program.index(*file)};
}

void server::open(const json& params) {
  const json& opened = params.at("textDocument");
  workspace_.open(opened.at("uri"), opened.at("text"),
                  opened.contains("version") ? integer_of(opened.at("version")) : 0);
}

void server::change(const json& params) {
  document& changed = document_of(params);
  for (const json& edit : params.at("contentChanges")) {
    const std::string text = edit.at("text");
    const json& range = member(edit, "range");
    if (range.is_null()) {
      workspace_.set_text(changed, text);
    } else {
      workspace_.replace(changed, position_of(range.at("start")), position_of(range.at("end")), text);
    }
  }
  if (const json& version = member(params, "textDocument", "version"); version.is_number_integer())
    changed.version = version;
}

void server::close(const json& params) { workspace_.close(document_of(params).uri); }

void server::publish() {
  if (stage_ != stage::running || !workspace_.is_outdated()) return;
  std::map<std::string, json> lists = diagnostics_of(workspace_, workspace_.programs());
  // A file that no program includes any more has no diagnostics.
  for (const std::string& uri : published_) lists.try_emplace(uri, json::array());
  std::set<std::string> shown;
  for (const auto& [uri, list] : lists) {
    const document* const open = workspace_.find(uri);
    if (open == nullptr && list.empty() && !published_.contains(uri)) continue;
    json params = {{"uri", uri}, {"diagnostics", list}};
    if (open != nullptr) params["version"] = open->version;
    send({{"jsonrpc", "2.0"}, {"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
    if (!list.empty()) shown.insert(uri);
  }
  published_ = std::move(shown);
}

}  // namespace gpulog::lsp
