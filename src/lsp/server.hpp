#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lsp/engine_questions.hpp"
#include "lsp/features/place.hpp"
#include "lsp/protocol/json.hpp"
#include "lsp/question_queue.hpp"
#include "lsp/workspace/workspace.hpp"

/// The Language Server Protocol 3.17 over messages in JSON-RPC.
namespace gpulog::lsp {

struct server_options {
  std::string version;
  workspace_settings settings;  ///< of the command line
  engine_questions questions = {};
  std::function<void()> on_answer = [] {};  ///< called by a second thread if send_answers() has answers to send
};

/// Answers the messages of one client in their order, except that long commands do not delay further messages. No
/// message causes an exception.
class server {
 public:
  /// @param send receives the content of each outgoing message
  server(server_options options, std::function<void(const std::string&)> send)
      : options_(std::move(options)), send_(std::move(send)), questions_(options_.on_answer) {}
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Handles the content of a message.
  void receive(std::string_view content);
  /// Sends the answers of commands that have ended since the last call.
  void send_answers();
  /// Publishes diagnostics if documents have changed since the last call.
  void publish();

  [[nodiscard]] bool has_exited() const { return stage_ == stage::exited; }
  /// Returns 0 if the client ended the session as the protocol requires.
  [[nodiscard]] int exit_status() const { return was_shut_down_ ? 0 : 1; }
  /// Returns whether the client's process has ended since the initialization.
  [[nodiscard]] bool has_lost_client() const;

 private:
  enum class stage : std::uint8_t { starting, running, shut_down, exited };

  void dispatch(const json& message);
  void answer(const json& id, const std::string& method, const json& params);
  void notify(const std::string& method, const json& params);
  void send(const json& message) const;
  void send_error(const json& id, error_code code, const std::string& message) const;
  void show_warning(const std::string& message) const;

  /// @throws request_error if the document is not open
  document& document_of(const json& params);
  /// @throws request_error
  file_view view_of(const document& source);

  json initialize(const json& params);
  json shut_down(const json& params);
  json format_document(const json& params);
  json format_range(const json& params);
  json symbols(const json& params);
  json code_actions(const json& params);
  json lenses(const json& params);
  json hints(const json& params);
  json execute(const json& params);
  /// Starts a command with a delayed answer, which send_answers() sends. Returns false for all further requests.
  bool starts_question(const json& id, const std::string& method, const json& params);
  [[nodiscard]] asked_program asked_program_in(const json& question);
  json definition(const json& params);
  json references(const json& params);
  json highlights(const json& params);
  json hover(const json& params);
  json complete(const json& params);
  json signature_help(const json& params);
  json prepare_rename(const json& params);
  json rename(const json& params);
  json find_symbols(const json& params);
  json fold(const json& params);
  json colour(const json& params);
  json prepare_hierarchy(const json& params);
  json callers(const json& params);
  json callees(const json& params);
  /// Returns the offset of `position` in the document.
  [[nodiscard]] static std::size_t offset_in(const file_view& view, const json& params);
  [[nodiscard]] json capabilities(position_encoding encoding) const;
  /// Returns the folder of the facts of a program.
  [[nodiscard]] std::string fact_folder_of(const compiled_program& program) const;
  /// Shows a text in the editor.
  void show_text(const std::string& name, const std::string& text);
  void request(const std::string& method, json params);
  /// Returns the offset of the name of a call hierarchy item, whose document may be closed.
  template <class Answer>
  json answer_about_item(const json& params, Answer answer_at);

  void cancel(const json& params);
  void set_initialized(const json& params);
  void exit(const json& params);
  void open(const json& params);
  void change(const json& params);
  void close(const json& params);
  void refresh_files(const json& params);
  void change_folders(const json& params);
  void change_settings(const json& params);
  /// Returns the settings in `gpulog.toml` of the first workspace folder.
  [[nodiscard]] json project_settings() const;
  /// Applies the settings of command line, project file and client. Ignores unknown names and values of a wrong type.
  void apply_settings();

  server_options options_;
  std::function<void(const std::string&)> send_;
  workspace workspace_;
  stage stage_ = stage::starting;
  bool was_shut_down_ = false;
  json client_settings_;
  bool can_watch_files_ = false;
  bool takes_snippets_ = false;
  bool shows_documents_ = false;
  bool renews_figures_ = false;
  std::string text_folder_;  ///< of show_text(); empty before the first call
  int last_request_ = 0;
  std::optional<std::int64_t> client_process_;  ///< nothing: unknown, or a process of another container
  std::set<std::string> published_;             ///< URIs with diagnostics
  question_queue questions_;                    // last: the thread of the queue ends before members are destroyed
};

}  // namespace gpulog::lsp
