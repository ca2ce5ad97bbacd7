#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lsp_session.hpp"

/// Definitions, references, hover, hierarchy and renaming.
namespace gpulog::lsp {
namespace {

const std::string reach =
    "// Edges of\n// the graph.\n.decl edge(x:number, y:number)\nedge(1, 2).\n"      // 0 to 3
    ".decl reach(x:number, y:number)\nreach(x, y) :- edge(x, y).\n"                  // 4, 5
    "reach(x, z) :- reach(x, y), edge(y, z).\nbroken(x :- edge(.\n.output reach\n";  // 6 to 8

json location(const json& where) { return {{"uri", lsp_session::uri}, {"range", where}}; }

json with_declaration(bool value) { return {{"context", {{"includeDeclaration", value}}}}; }

TEST(lsp_names, definitions) {
  lsp_session session;
  session.open(reach);
  EXPECT_EQ(session.ask_at("definition", 6, 29), location(range(2, 6, 10)));   // edge
  EXPECT_EQ(session.ask_at("definition", 6, 32), location(range(2, 6, 10)));   // directly after the name
  EXPECT_EQ(session.ask_at("definition", 8, 10), location(range(4, 6, 11)));   // in a directive
  EXPECT_EQ(session.ask_at("definition", 6, 24), location(range(6, 24, 25)));  // the first y
  EXPECT_EQ(session.ask_at("definition", 7, 15), location(range(2, 6, 10)));   // in an item with an error
  EXPECT_EQ(session.ask_at("definition", 0, 5), nullptr);                      // in a comment
  EXPECT_EQ(session.ask_at("definition", 99, 0), nullptr);
}

TEST(lsp_names, references_and_highlights) {
  lsp_session session;
  session.open(reach);
  EXPECT_EQ(session.ask_at("references", 3, 1, with_declaration(true)),
            (json{location(range(2, 6, 10)), location(range(3, 0, 4)), location(range(5, 15, 19)),
                  location(range(6, 28, 32))}));
  EXPECT_EQ(session.ask_at("references", 8, 9, with_declaration(false)),
            (json{location(range(5, 0, 5)), location(range(6, 0, 5)), location(range(6, 15, 20)),
                  location(range(8, 8, 13))}));
  EXPECT_EQ(session.ask_at("documentHighlight", 5, 7),
            (json{{{"range", range(5, 6, 7)}, {"kind", 2}}, {{"range", range(5, 20, 21)}, {"kind", 2}}}));
}

TEST(lsp_names, hover) {
  lsp_session session;
  session.open(reach);
  const auto hover = [&](std::size_t line, std::size_t character) {
    const json answer = session.ask_at("hover", line, character);
    return answer.is_null() ? "" : answer.at("contents").at("value").get<std::string>();
  };
  EXPECT_EQ(
      hover(6, 30),
      "```souffle\n.decl edge(x:number, y:number)\n```\n\nEdges of\nthe graph.\n\n0 rules, 1 fact, read by 2 rules");
  EXPECT_EQ(hover(6, 9), "```souffle\nz:number\n```");
  EXPECT_EQ(hover(0, 4), "");
  session.open(".decl a(x:symbol)\na(to_string(1)).\n");
  EXPECT_EQ(hover(1, 4), "```souffle\nto_string(number|unsigned|float|symbol):symbol\n```");
  session.open(".decl a(x:symbol)\na(trim(x)) :- a(trim), x = split(trim, \".\").\n.decl split(n:number)\nsplit(1).\n");
  EXPECT_EQ(hover(1, 3), "```souffle\ntrim(symbol):symbol\n```");
  EXPECT_EQ(hover(1, 17), "```souffle\ntrim:symbol\n```") << "a variable";
}

TEST(lsp_names, components) {
  lsp_session session;
  session.open(
      ".comp Base<T> {\n  .decl r(x:T)\n  .decl s(x:T) overridable\n  s(x) :- r(x).\n}\n"  // 0 to 4
      ".comp Derived : Base<number> {\n  .override s\n  s(x) :- r(x), x > 1.\n}\n"         // 5 to 8
      ".init c = Derived\nc.r(1).\n.output c.s\n");
  EXPECT_EQ(session.ask_at("definition", 10, 2), location(range(1, 8, 9)));    // c.r
  EXPECT_EQ(session.ask_at("definition", 10, 0), location(range(9, 6, 7)));    // c
  EXPECT_EQ(session.ask_at("definition", 11, 10), location(range(2, 8, 9)));   // c.s
  EXPECT_EQ(session.ask_at("definition", 7, 2), location(range(2, 8, 9)));     // s in the derived component
  EXPECT_EQ(session.ask_at("definition", 1, 12), location(range(0, 11, 12)));  // T
  EXPECT_EQ(session.ask_at("definition", 9, 12), location(range(5, 6, 13)));
  EXPECT_EQ(session.ask_at("references", 0, 6, with_declaration(false)), json::array({location(range(5, 16, 20))}));
}

TEST(lsp_names, types_branches_and_functors) {
  lsp_session session;
  session.open(
      ".type T = Leaf {} | Node {l:T}\n.functor f(x:T):number stateful\n.decl a(x:T, n:number) choice-domain x\n"
      "a($Node($Leaf()), @f($Leaf())).\na(x, n) :- a(x, _), n = sum m : { a(as(x, T), m) }.\n");
  EXPECT_EQ(session.ask_at("definition", 3, 9), location(range(0, 10, 14)));
  EXPECT_EQ(session.ask_at("definition", 3, 19), location(range(1, 9, 10)));
  EXPECT_EQ(session.ask_at("definition", 2, 37), location(range(2, 8, 9)));
  EXPECT_EQ(session.ask_at("references", 0, 6, with_declaration(true)),
            (json{location(range(0, 6, 7)), location(range(0, 28, 29)), location(range(1, 13, 14)),
                  location(range(2, 10, 11)), location(range(4, 42, 43))}));
}

TEST(lsp_names, macros) {
  lsp_session session;
  session.open("#define E(a, b) edge(a, b)\n.decl edge(x:number, y:number)\nE(1, 2).\nedge(x, y) :- E(y, x).\n");
  EXPECT_EQ(session.ask_at("definition", 2, 0), location(range(1, 6, 10)));
  EXPECT_EQ(session.ask_at("definition", 3, 19), location(range(3, 5, 6)));
  EXPECT_EQ(session.ask_at("rename", 1, 7, {{"newName", "link"}}).at("message"), "a macro contains the name edge");
  EXPECT_EQ(session.ask_at("rename", 3, 5, {{"newName", "z"}}).at("changes").at(lsp_session::uri),
            (json{{{"range", range(3, 5, 6)}, {"newText", "z"}}, {{"range", range(3, 19, 20)}, {"newText", "z"}}}));
}

std::string refusal(lsp_session& session, std::size_t line, std::size_t character, const std::string& name) {
  const json answer = session.ask_at("rename", line, character, {{"newName", name}});
  return answer.contains("message") ? answer.at("message").get<std::string>() : answer.dump();
}

TEST(lsp_names, rename) {
  lsp_session session;
  session.open(reach);
  EXPECT_EQ(session.ask_at("prepareRename", 6, 30), (json{{"range", range(6, 28, 32)}, {"placeholder", "edge"}}));
  EXPECT_EQ(session.ask_at("prepareRename", 0, 0), nullptr);
  EXPECT_EQ(session.ask_at("rename", 6, 30, {{"newName", "link"}}).at("changes").at(lsp_session::uri),
            (json{{{"range", range(2, 6, 10)}, {"newText", "link"}},
                  {{"range", range(3, 0, 4)}, {"newText", "link"}},
                  {{"range", range(5, 15, 19)}, {"newText", "link"}},
                  {{"range", range(6, 28, 32)}, {"newText", "link"}}}));
}

TEST(lsp_names, renaming_that_changes_the_meaning_is_refused) {
  lsp_session session;
  session.open(reach);
  EXPECT_EQ(refusal(session, 6, 30, "reach"), "the program would have another meaning: reach has one already");
  EXPECT_EQ(refusal(session, 6, 6, "y"), "the program would have another meaning: y has one already");
  EXPECT_EQ(refusal(session, 6, 30, "count"), "'count' is no name");
  EXPECT_EQ(refusal(session, 6, 30, "1a"), "'1a' is no name");
  EXPECT_EQ(refusal(session, 6, 30, "_"), "'_' is no name");
  EXPECT_EQ(refusal(session, 0, 0, "a"), "there is no name to rename");
  EXPECT_EQ(refusal(session, 4, 7, "path"),
            ".output in line 9 uses the name reach for a file; give it the parameter filename first");
  session.open(
      ".pragma \"inline-exclude\" \"p\"\n.decl p, q(x:number)\n.printsize q\np(1).\nq(@f(1)).\n"
      ".functor f(x:number):number\n.type T = A {} | B {}\n.decl t(x:T)\nt($A()).\n.output t(filename=\"t\")\n");
  EXPECT_EQ(refusal(session, 1, 6, "r"), "a pragma names p");
  EXPECT_EQ(refusal(session, 1, 9, "r"), ".printsize in line 3 uses the name q in the output");
  EXPECT_EQ(refusal(session, 4, 3, "g"), "a library defines the functor f");
  EXPECT_EQ(refusal(session, 6, 10, "C"), "files of .printsize may contain the name A");
  EXPECT_EQ(session.ask_at("rename", 6, 6, {{"newName", "U"}}).at("changes").at(lsp_session::uri).size(), 2U);
}

TEST(lsp_names, call_hierarchy) {
  lsp_session session;
  session.open(reach);
  const json edge = {{"name", "edge"},
                     {"kind", 5},
                     {"uri", lsp_session::uri},
                     {"range", range(2, 0, 30)},
                     {"selectionRange", range(2, 6, 10)}};
  EXPECT_EQ(session.ask_at("prepareCallHierarchy", 6, 30), json::array({edge}));
  const json caller = {{"name", "reach"},
                       {"kind", 5},
                       {"uri", lsp_session::uri},
                       {"range", range(5, 0, 26)},
                       {"selectionRange", range(5, 0, 5)}};
  EXPECT_EQ(session.request("callHierarchy/incomingCalls", {{"item", edge}}),
            (json::array({{{"from", caller}, {"fromRanges", {range(5, 15, 19), range(6, 28, 32)}}}})));
  const json callee = {{"name", "reach"},
                       {"kind", 5},
                       {"uri", lsp_session::uri},
                       {"range", range(4, 0, 31)},
                       {"selectionRange", range(4, 6, 11)}};
  EXPECT_EQ(session.request("callHierarchy/outgoingCalls", {{"item", caller}}),
            (json::array({{{"to", edge}, {"fromRanges", {range(5, 15, 19), range(6, 28, 32)}}},
                          {{"to", callee}, {"fromRanges", json::array({range(6, 15, 20)})}}})));
}

TEST(lsp_names, workspace_symbols) {
  lsp_session session;
  session.open(".comp C {\n  .decl Edges(x:number)\n}\n.decl edge(x:number)\n");
  EXPECT_EQ(
      session.request("workspace/symbol", {{"query", "EDGE"}}),
      (json::array({{{"name", "Edges"}, {"kind", 5}, {"location", location(range(1, 8, 13))}, {"containerName", "C"}},
                    {{"name", "edge"}, {"kind", 5}, {"location", location(range(3, 6, 10))}}})));
  EXPECT_EQ(session.diagnostics().size(), 1U);  // still published
}

}  // namespace
}  // namespace gpulog::lsp
