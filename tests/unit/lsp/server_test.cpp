#include "lsp/server.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lsp_session.hpp"

namespace gpulog::lsp {
namespace {

json error(int code, const std::string& message) { return {{"code", code}, {"message", message}}; }

TEST(lsp_server, initialize) {
  const lsp_session session;
  EXPECT_EQ(session.initialized.at("serverInfo"), (json{{"name", "gpulog"}, {"version", "1.2"}}));
  const json& capabilities = session.initialized.at("capabilities");
  EXPECT_EQ(capabilities.at("positionEncoding"), "utf-16");
  EXPECT_EQ(capabilities.at("textDocumentSync"), (json{{"openClose", true}, {"change", 2}, {"save", true}}));
  const lsp_session other(json{{"capabilities", {{"general", {{"positionEncodings", {"utf-32", "utf-8"}}}}}}});
  EXPECT_EQ(other.initialized.at("capabilities").at("positionEncoding"), "utf-8");
}

TEST(lsp_server, stages_of_a_session) {
  std::vector<json> sent;
  server raw({"1", {}}, [&](const std::string& content) { sent.push_back(json::parse(content)); });
  raw.receive(R"({"id":1,"method":"textDocument/formatting","params":{}})");
  EXPECT_EQ(sent.back().at("error"), error(-32002, "the first request has to be initialize"));
  raw.receive(R"({"id":2,"method":"initialize","params":{}})");
  raw.receive(R"({"id":"x","method":"initialize","params":{}})");
  EXPECT_EQ(sent.back().at("id"), "x");
  EXPECT_EQ(sent.back().at("error"), error(-32600, "the server was initialized before"));
  raw.receive(R"({"id":3,"method":"shutdown"})");
  EXPECT_EQ(sent.back(), (json{{"jsonrpc", "2.0"}, {"id", 3}, {"result", nullptr}}));
  raw.receive(R"({"id":4,"method":"textDocument/formatting","params":{}})");
  EXPECT_EQ(sent.back().at("error"), error(-32600, "the server was shut down"));
  EXPECT_FALSE(raw.has_exited());
  raw.receive(R"({"method":"exit"})");
  EXPECT_TRUE(raw.has_exited());
  EXPECT_EQ(raw.exit_status(), 0);
}

/// A session whose questions "slow" wait until they are cancelled.
struct question_session : lsp_session {
  question_session()
      : lsp_session(json::object(), {nullptr, [](const asked_program& asked, const std::string& atom, auto& cancelled) {
                                       while (atom == "slow" && !cancelled) std::this_thread::yield();
                                       if (cancelled) throw std::runtime_error("stopped");
                                       return atom + " of " + asked.files.front().path;
                                     }}) {
    open(".decl a(x:number)\na(1).");
  }

  void ask_why(int id, const std::string& atom) {
    raw().receive(json({{"id", id},
                        {"method", "workspace/executeCommand"},
                        {"params", {{"command", "gpulog.why"}, {"arguments", {{{"uri", uri}, {"tuple", atom}}}}}}})
                      .dump());
  }
  void cancel(int id) { notify("$/cancelRequest", {{"id", id}}); }
};

TEST(lsp_questions, do_not_delay_other_requests) {
  question_session session;
  session.ask_why(101, "slow");
  session.ask_why(102, "next");
  EXPECT_TRUE(session.sent().empty());
  EXPECT_EQ(session.ask("documentSymbol").size(), 1U);
  session.cancel(101);
  EXPECT_EQ(
      session.messages_after_question(),
      (std::vector<json>{{{"jsonrpc", "2.0"}, {"id", 101}, {"error", error(-32800, "the command was cancelled")}}}));
  const std::vector<json> messages = session.messages_after_question();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages.front().at("method"), "window/showMessage");
  EXPECT_EQ(messages.back(), (json{{"jsonrpc", "2.0"}, {"id", 102}, {"result", "next of untitled:test.dl"}}));
}

TEST(lsp_questions, may_be_cancelled_before_they_begin) {
  question_session session;
  session.cancel(101);  // unknown
  session.ask_why(101, "slow");
  session.ask_why(102, "slow");
  session.cancel(102);
  session.cancel(101);
  EXPECT_EQ(session.messages_after_question().back().at("error").at("code"), -32800);
  EXPECT_EQ(session.messages_after_question().back().at("id"), 102);
  EXPECT_TRUE(session.sent().empty());
}

TEST(lsp_questions, end_with_the_session) {
  question_session session;
  session.ask_why(101, "slow");
  session.ask_why(102, "slow");
}

TEST(lsp_questions, that_fail) {
  question_session session;
  session.ask_why(101, "slow");
  session.open("a(", "untitled:errors.dl");
  EXPECT_EQ(
      session.request("workspace/executeCommand",
                      {{"command", "gpulog.why"}, {"arguments", {{{"uri", "untitled:errors.dl"}, {"tuple", "a"}}}}}),
      error(-32803, "the program has errors"));
  EXPECT_EQ(session.request("workspace/executeCommand", {{"command", "gpulog.why"}}).at("code"), -32602);
}

TEST(lsp_server, exit_without_shutdown_is_an_error) {
  lsp_session session;
  session.notify("exit", nullptr);
  EXPECT_TRUE(session.raw().has_exited());
  EXPECT_EQ(session.raw().exit_status(), 1);
}

TEST(lsp_server, messages_that_are_no_requests) {
  lsp_session session;
  const auto answer_to = [&](const std::string& content) {
    session.sent().clear();
    session.raw().receive(content);
    return session.sent().empty() ? json() : session.sent().back().at("error");
  };
  EXPECT_EQ(answer_to("{"), error(-32700, "the message is no JSON text"));
  EXPECT_EQ(answer_to("\"\xff\""), error(-32700, "the message is no JSON text"));
  EXPECT_EQ(answer_to("[]"), error(-32600, "the message is no object"));
  EXPECT_EQ(answer_to("{\"id\":1}"), error(-32600, "the message has no method"));
  EXPECT_EQ(answer_to("{\"id\":1,\"result\":null}"), json());
  EXPECT_EQ(answer_to("{\"method\":\"$/unknown\"}"), json());
  EXPECT_EQ(answer_to("{\"id\":1,\"method\":\"unknown\"}"), error(-32601, "there is no method unknown"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(answer_to("{\"id\":1,\"method\":\"textDocument/formatting\",\"params\":" + deep + "}").at("code"), -32602);
  EXPECT_EQ(session.ask("formatting"), error(-32602, "untitled:test.dl is not open"));
  session.sent().clear();
  session.notify("textDocument/didOpen", {{"textDocument", 1}});
  EXPECT_EQ(session.sent().back().at("method"), "window/logMessage");
}

TEST(lsp_server, diagnostics_follow_edits) {
  lsp_session session;
  session.open(".decl a(x:number)\na(1).\na(y) :- b(y).\n.output a\n");
  const json undefined = {{"range", range(2, 8, 9)},
                          {"severity", 1},
                          {"source", "gpulog"},
                          {"message", "Undefined relation b, did you mean 'a'?"}};
  json without_suggestion = undefined;
  without_suggestion["message"] = "Undefined relation b";
  EXPECT_EQ(session.diagnostics(),
            (std::vector<json>{{{"uri", lsp_session::uri}, {"version", 1}, {"diagnostics", {without_suggestion}}}}));
  EXPECT_EQ(session.diagnostics(), std::vector<json>());
  session.edit({2, 8}, {2, 9}, "a");
  EXPECT_EQ(session.diagnostics(),
            (std::vector<json>{{{"uri", lsp_session::uri}, {"version", 2}, {"diagnostics", json::array()}}}));
  session.notify("textDocument/didClose", {{"textDocument", {{"uri", lsp_session::uri}}}});
  EXPECT_EQ(session.diagnostics(), std::vector<json>());
}

TEST(lsp_server, changes_of_whole_texts_and_of_lines) {
  lsp_session session;
  session.open("\xF0\x9F\x98\x80 x\r\ny");
  session.edit({0, 2}, {0, 3}, "");         // UTF-16: after the first character
  session.edit({1, 1}, {0, 3}, ".\n");      // a reversed range
  session.edit({7, 0}, {9, 9}, "a( 1 ).");  // after the end
  const json edits = session.ask("formatting");
  EXPECT_EQ(edits, json::array());  // a syntax error: no edits
  session.notify("textDocument/didChange", {{"textDocument", {{"uri", lsp_session::uri}, {"version", 3}}},
                                            {"contentChanges", {{{"text", "a( 1 ).\nb( 1 ).\n"}}}}});
  EXPECT_EQ(session.ask("formatting"), (json{{{"range", range(0, 0, 1, 0)}, {"newText", "a(1).\n"}},
                                             {{"range", range(1, 0, 2, 0)}, {"newText", "b(1).\n"}}}));
  EXPECT_EQ(session.ask("rangeFormatting", {{"range", range(1, 0, 2, 0)}}),
            (json{{{"range", range(1, 0, 2, 0)}, {"newText", "b(1).\n"}}}));
}

TEST(lsp_server, notes_with_a_place_are_related_information) {
  lsp_session session;
  session.open(".decl a(x:number)\n.decl a(x:number)\na(1).\n");
  const json list = session.diagnostics().front().at("diagnostics");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("message"), "Redefinition of relation a");
  EXPECT_EQ(list[0].at("range"), range(1, 6, 7));
  EXPECT_EQ(list[0].at("relatedInformation"),
            (json{{{"location", {{"uri", lsp_session::uri}, {"range", range(0, 6, 7)}}},
                   {"message", "Previous definition"}}}));
}

TEST(lsp_server, suggestions_are_quick_fixes) {
  lsp_session session;
  session.open(".decl edge(x:number)\nedge(1).\n.decl r(x:number)\nr(x) :- egde(x).\n");
  const json actions =
      session.ask("codeAction", {{"range", range(3, 9, 9)}, {"context", {{"diagnostics", json::array()}}}});
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(actions[1].at("title"), "Declare relation egde");
  EXPECT_EQ(actions[0].at("title"), "Change 'egde' to 'edge'");
  EXPECT_EQ(actions[0].at("kind"), "quickfix");
  EXPECT_EQ(actions[0].at("isPreferred"), true);
  EXPECT_EQ(actions[0].at("diagnostics")[0].at("message"), "Undefined relation egde, did you mean 'edge'?");
  EXPECT_EQ(actions[0].at("edit"),
            (json{{"changes", {{lsp_session::uri, {{{"range", range(3, 8, 12)}, {"newText", "edge"}}}}}}}));
  EXPECT_EQ(session.ask("codeAction", {{"range", range(0, 0, 0)}}), json::array());
}

TEST(lsp_server, kinds_of_quick_fixes) {
  const auto titles = [](const std::string& text) {
    lsp_session session;
    session.open(text);
    std::vector<std::string> result;
    for (const json& action : session.ask("codeAction", {{"range", range(0, 0, 99, 0)}}))
      result.push_back(action.at("title"));
    return result;
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(titles(".decl a(x:nubmer)\na(1).\n"), names{"Change 'nubmer' to 'number'"});
  EXPECT_EQ(titles(".functor func(x:number):number\n.decl a(x:number)\na(@fnuc(1)).\n"),
            names{"Change 'fnuc' to 'func'"});
  EXPECT_EQ(titles(".type T = Leaf {} | Node {x:number}\n.decl a(x:T)\na($Lefa()).\n"),
            names{"Change 'Lefa' to 'Leaf'"});
  EXPECT_EQ(titles(".decl a(x:number)\na(1).\n.output a(delimeter=\",\")\n"),
            names{"Change 'delimeter' to 'delimiter'"});
  EXPECT_EQ(titles(".decl a(value:number)\na(valeu) :- a(value).\n"), names{"Change 'valeu' to 'value'"});
  EXPECT_EQ(titles(".comp Comp {}\n.init c = Cmop\n"), names{"Change 'Cmop' to 'Comp'"});
  EXPECT_EQ(titles(".decl a(x:number)\na(1)\na(2).\n"), names{"Insert '.'"});
  EXPECT_EQ(titles(".decl a(x:number)\na(1).\n.ouput a\n"), names{"Change 'ouput' to 'output'"});
}

TEST(lsp_server, undefined_relations_can_be_declared) {
  const auto edits = [](const std::string& text, std::size_t line) {
    lsp_session session;
    session.open(text);
    json result = json::array();
    for (const json& action : session.ask("codeAction", {{"range", range(line, 0, line, 99)}})) {
      if (action.at("title").get<std::string>().starts_with("Declare"))
        result.push_back(action.at("edit").at("changes").at(lsp_session::uri)[0]);
    }
    return result;
  };
  const std::string edge = ".decl edge(x:symbol, y:unsigned)\nedge(\"a\", 1).\n";
  EXPECT_EQ(edits(edge + "path(x, y, x, _, \"t\", 2u, 1.5, y+1) :- edge(x, y).\n", 2),
            (json::array({{{"range", range(2, 0, 0)},
                           {"newText",
                            ".decl path(x:symbol, y:unsigned, a3:symbol, a4:number, a5:symbol, a6:unsigned, a7:float, "
                            "a8:number)\n"}}})));
  EXPECT_EQ(edits(edge + ".comp C {\n  edge(x, 1) :- other(x).\n}\n.init c = C\n", 3),
            (json::array({{{"range", range(3, 0, 0)}, {"newText", "  .decl other(x:symbol)\n"}}})));
  EXPECT_EQ(edits(edge + "edge(\"b\", 2). edge(x, 1) :- none(), edge(x, _).\n", 2),
            (json::array({{{"range", range(2, 14, 14)}, {"newText", ".decl none() "}}})));
}

json symbol(const std::string& name, const std::string& detail, int kind, const json& whole, const json& selected) {
  return {{"name", name}, {"detail", detail}, {"kind", kind}, {"range", whole}, {"selectionRange", selected}};
}

TEST(lsp_server, document_symbols) {
  lsp_session session;
  session.open(
      ".decl e(x:number, y:symbol)\n.type T = A {} | B {f:T}\ne(1, \"x\").\n"
      "e(x, y) :-\n  e(x, y).\n.comp C {\n  .decl r(x:T)\n}\n.init c = C\n.functor f(x:number):number\n"
      "broken( :- .\n.type R = [a:T]\n");
  json relation = symbol("e", "(x:number, y:symbol)", 5, range(0, 0, 27), range(0, 6, 7));
  relation["children"] = {symbol("x", "number", 8, range(0, 8, 16), range(0, 8, 9)),
                          symbol("y", "symbol", 8, range(0, 18, 26), range(0, 18, 19))};
  json branch_a = symbol("A", "", 22, range(1, 10, 14), range(1, 10, 11));
  branch_a["children"] = json::array();
  json branch_b = symbol("B", "", 22, range(1, 17, 24), range(1, 17, 18));
  branch_b["children"] = json::array({symbol("f", "T", 8, range(1, 20, 23), range(1, 20, 21))});
  json type = symbol("T", "", 10, range(1, 0, 24), range(1, 6, 7));
  type["children"] = {branch_a, branch_b};
  json inner = symbol("r", "(x:T)", 5, range(6, 2, 14), range(6, 8, 9));
  inner["children"] = json::array({symbol("x", "T", 8, range(6, 10, 13), range(6, 10, 11))});
  json component = symbol("C", "component", 2, range(5, 0, 7, 1), range(5, 6, 7));
  component["children"] = json::array({inner});
  json record = symbol("R", "", 23, range(11, 0, 15), range(11, 6, 7));
  record["children"] = json::array({symbol("a", "T", 8, range(11, 11, 14), range(11, 11, 12))});
  EXPECT_EQ(session.ask("documentSymbol"),
            (json{relation, type, symbol("e(x, y)", "rule", 6, range(3, 0, 4, 10), range(3, 0, 1)), component,
                  symbol("c", "C", 19, range(8, 0, 11), range(8, 6, 7)),
                  symbol("f", "functor", 12, range(9, 0, 27), range(9, 9, 10)), record}));
}

/// A workspace folder with files.
class lsp_folder : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::canonical(std::filesystem::temp_directory_path()) / ("gpulog-lsp-" + test);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "inner");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string uri(const std::string& name = "") const {
    return "file://" + (name.empty() ? folder_ : folder_ / name).string();
  }
  [[nodiscard]] json parameters(const json& settings = nullptr) const {
    return {{"workspaceFolders", {{{"uri", uri()}, {"name", "x"}}}}, {"initializationOptions", settings}};
  }

  std::filesystem::path folder_;
};

/// Returns the messages of published diagnostics, by URI.
std::map<std::string, std::vector<std::string>> messages(const std::vector<json>& published) {
  std::map<std::string, std::vector<std::string>> result;
  for (const json& each : published) {
    std::vector<std::string>& texts = result[each.at("uri")];
    for (const json& diagnostic : each.at("diagnostics")) texts.push_back(diagnostic.at("message"));
  }
  return result;
}

using published_messages = std::map<std::string, std::vector<std::string>>;

TEST_F(lsp_folder, the_main_file_is_found_by_its_includes) {
  write("main.dl", ".decl a(x:number)\n.include \"inner/rules.dl\"\n.output a\n");
  const std::string rules = "a(1).\na(x) :- b(x).\n";
  write("inner/rules.dl", rules);
  lsp_session session(parameters());
  session.open(rules, uri("inner/rules.dl"));
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("inner/rules.dl"), {"Undefined relation b"}}}));
  // The editor's text of the main file replaces the file.
  session.open(".decl a,b(x:number)\nb(1).\n.include \"inner/rules.dl\"\n.output a\n", uri("main.dl"));
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("inner/rules.dl"), {}}, {uri("main.dl"), {}}}));
  // No longer included: the file is a program of its own.
  session.edit({2, 0}, {3, 0}, "", uri("main.dl"));
  EXPECT_EQ(messages(session.diagnostics()),
            (published_messages{
                {uri("inner/rules.dl"), {"Undefined relation a", "Undefined relation a", "Undefined relation b"}},
                {uri("main.dl"), {"No rules/facts defined for relation a"}}}));
}

TEST_F(lsp_folder, errors_of_included_files_and_of_two_programs) {
  write("one.dl", ".decl a(x:number)\n.include \"rules.dl\"\n");
  write("two.dl", ".decl a,b(x:number)\nb(1).\n.include \"rules.dl\"\n");
  write("rules.dl", "a(x) :- b(x).\n");
  lsp_session session(parameters());
  session.open(".decl a(x:number)\n.include \"rules.dl\"\n", uri("one.dl"));
  EXPECT_EQ(messages(session.diagnostics()),
            (published_messages{{uri("rules.dl"), {"Undefined relation b"}}, {uri("one.dl"), {}}}));
  session.open(".decl a,b(x:number)\nb(1).\nb(y).\n.include \"rules.dl\"\n", uri("two.dl"));
  const auto both = messages(session.diagnostics());
  EXPECT_EQ(both.at(uri("rules.dl")), std::vector<std::string>{"Undefined relation b"});
  EXPECT_EQ(both.at(uri("two.dl")).size(), 1U);
  session.notify("textDocument/didClose", {{"textDocument", {{"uri", uri("one.dl")}}}});
  const auto one = messages(session.diagnostics());
  EXPECT_EQ(one.at(uri("rules.dl")), std::vector<std::string>());
}

TEST_F(lsp_folder, renaming_changes_all_programs_of_a_file) {
  write("shared.dl", ".decl a(x:number)\n");
  write("one.dl", ".include \"shared.dl\"\na(1).\n");
  write("two.dl", ".include \"shared.dl\"\n#include \"shared.dl\"\n");
  const std::string three = ".include \"shared.dl\"\n.decl b(x:number)\nb(x) :- a(x).\na(2).\n";
  write("three.dl", three);
  lsp_session session(parameters());
  session.open(three, uri("three.dl"));
  const auto edit = [](const json& where) -> json { return json::array({{{"range", where}, {"newText", "c"}}}); };
  json changes = session.ask_at("rename", 2, 8, {{"newName", "c"}}, uri("three.dl")).at("changes");
  EXPECT_EQ(changes, (json{{uri("shared.dl"), edit(range(0, 6, 7))},
                           {uri("one.dl"), edit(range(1, 0, 1))},
                           {uri("three.dl"), {edit(range(2, 8, 9))[0], edit(range(3, 0, 1))[0]}}}));
  EXPECT_EQ(session.ask_at("rename", 3, 0, {{"newName", "b"}}, uri("three.dl")).at("message"),
            "the program would have another meaning: b has one already");
}

TEST_F(lsp_folder, cyclic_and_missing_includes) {
  write("a.dl", ".include \"b.dl\"\n");
  write("b.dl", ".include \"a.dl\"\n.include \"missing.dl\"\n");
  lsp_session session(parameters());
  session.open(".include \"b.dl\"\n", uri("a.dl"));
  EXPECT_EQ(
      messages(session.diagnostics()),
      (published_messages{
          {uri("a.dl"), {}},
          {uri("b.dl"), {"include cycle: file \"a.dl\" includes itself", "cannot find include file \"missing.dl\""}}}));
  write("missing.dl", "");
  session.notify("workspace/didChangeWatchedFiles", {{"changes", json::array()}});
  EXPECT_EQ(messages(session.diagnostics()).at(uri("b.dl")).size(), 1U);
}

TEST_F(lsp_folder, settings_name_main_files_directories_and_macros) {
  write("a_test.dl", ".include \"rules.dl\"\n");
  write("main.dl", ".decl a(x:number)\n.include \"rules.dl\"\n#include \"other.dl\"\n");
  write("inner/other.dl", ".decl other(x:number)\nother(N).\n");
  write("rules.dl", "a(1).\n");
  const json settings = {{"mainFiles", {"main.dl"}}, {"includeDirectories", {"inner"}}, {"macros", {"N=7"}}};
  lsp_session session(parameters(settings));
  session.open("a(1).\n", uri("rules.dl"));
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {}}}));
  session.notify("workspace/didChangeConfiguration", {{"settings", {{"gpulog", {{"macros", 5}}}}}});
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {"Undefined relation a"}}}));
}

TEST_F(lsp_folder, project_file) {
  write("gpulog.toml", "# settings\nmainFiles = 'main.dl'\nmacros = [\n  \"N=7\", # seven\n]\n");
  write("a_test.dl", ".include \"rules.dl\"\n");
  write("main.dl", ".decl a(x:number)\n.include \"rules.dl\"\n#define UNUSED\na(N).\n");
  lsp_session session(parameters());
  session.open("a(1).\n", uri("rules.dl"));
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {}}}));
  // Settings of the editor replace those of the file.
  session.notify("workspace/didChangeConfiguration", {{"settings", {{"gpulog", {{"mainFiles", {"a_test.dl"}}}}}}});
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {"Undefined relation a"}}}));
  session.notify("workspace/didChangeConfiguration", {{"settings", nullptr}});
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {}}}));
  write("gpulog.toml", "mainFiles = 'main.dl'\nmacros = 7\n");
  session.notify("workspace/didChangeWatchedFiles", json::object());
  ASSERT_EQ(session.sent().size(), 1U);
  EXPECT_EQ(session.sent()[0].at("params").at("message"),
            "gpulog.toml: line 2 is not NAME = \"TEXT\" or NAME = [\"TEXT\", ...]");
}

TEST_F(lsp_folder, without_a_workspace_folder) {
  write("main.dl", ".decl a(x:number)\n.include \"rules.dl\"\n");
  lsp_session session;
  session.open("a(1).\n", uri("rules.dl"));
  EXPECT_EQ(messages(session.diagnostics()), (published_messages{{uri("rules.dl"), {}}}));
}

TEST_F(lsp_folder, files_are_watched) {
  json watching = parameters();
  watching["capabilities"]["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] = true;
  lsp_session session(watching);
  session.notify("initialized", json::object());
  ASSERT_EQ(session.sent().size(), 1U);
  EXPECT_EQ(session.sent().front().at("method"), "client/registerCapability");
}

}  // namespace
}  // namespace gpulog::lsp
