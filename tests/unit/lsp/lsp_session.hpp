#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "lsp/server.hpp"

namespace gpulog::lsp {

/// A server with one client, which sees each outgoing message.
class lsp_session {
 public:
  static constexpr const char* uri = "untitled:test.dl";

  /// Initializes the server.
  explicit lsp_session(json parameters = json::object(), engine_questions questions = {})
      : server_({"1.2", {}, std::move(questions), [this] { ended_.release(); }},
                [this](const std::string& content) { sent_.push_back(json::parse(content)); }) {
    initialized = request("initialize", std::move(parameters));
  }
  lsp_session(const lsp_session&) = delete;
  lsp_session& operator=(const lsp_session&) = delete;

  json request(const std::string& method, json params) {
    server_.receive(
        json({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", std::move(params)}}).dump());
    const json answer = sent_.back();
    sent_.pop_back();
    EXPECT_EQ(answer.at("id"), last_id_);
    return answer.contains("error") ? answer.at("error") : answer.at("result");
  }

  void notify(const std::string& method, json params) {
    server_.receive(json({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}).dump());
  }

  void open(const std::string& text, const std::string& name = uri) {
    notify("textDocument/didOpen",
           {{"textDocument", {{"uri", name}, {"languageId", "souffle"}, {"version", 1}, {"text", text}}}});
  }

  /// Replaces the text between two positions.
  void edit(const text_position& begin, const text_position& end, const std::string& text,
            const std::string& name = uri) {
    notify("textDocument/didChange",
           {{"textDocument", {{"uri", name}, {"version", 2}}},
            {"contentChanges", {{{"range", {{"start", to_json(begin)}, {"end", to_json(end)}}}, {"text", text}}}}});
  }

  /// Returns the answer to a request about a document.
  json ask(const std::string& method, json params = json::object(), const std::string& name = uri) {
    params["textDocument"] = {{"uri", name}};
    return request("textDocument/" + method, std::move(params));
  }

  /// Returns the answer to a request about a position.
  json ask_at(const std::string& method, std::size_t line, std::size_t character, json params = json::object(),
              const std::string& name = uri) {
    params["position"] = to_json(text_position{line, character});
    return ask(method, std::move(params), name);
  }

  /// Returns the parameters of the published diagnostics since the last call.
  std::vector<json> diagnostics() {
    server_.publish();
    std::vector<json> result;
    for (const json& message : sent_) {
      if (message.at("method") == "textDocument/publishDiagnostics") result.push_back(message.at("params"));
    }
    sent_.clear();
    return result;
  }

  /// Waits for the end of a question. Returns the further messages.
  std::vector<json> messages_after_question() {
    ended_.acquire();
    server_.send_answers();
    return std::exchange(sent_, {});
  }

  server& raw() { return server_; }
  std::vector<json>& sent() { return sent_; }

  json initialized;

 private:
  std::counting_semaphore<> ended_{0};
  std::vector<json> sent_;
  server server_;
  int last_id_ = 0;
};

inline json range(std::size_t line, std::size_t begin, std::size_t end_line, std::size_t end) {
  return {{"start", {{"line", line}, {"character", begin}}}, {"end", {{"line", end_line}, {"character", end}}}};
}

/// A range in one line.
inline json range(std::size_t line, std::size_t begin, std::size_t end) { return range(line, begin, line, end); }

}  // namespace gpulog::lsp
