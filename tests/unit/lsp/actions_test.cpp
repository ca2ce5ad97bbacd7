#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lsp_session.hpp"
#include "syntax/format/format.hpp"

namespace gpulog::lsp {
namespace {

/// Returns the text after the action with this title; empty without such an action.
std::string after_action(const std::string& text, const json& where, const std::string& title) {
  lsp_session session;
  session.open(text);
  for (const json& action : session.ask("codeAction", {{"range", where}})) {
    if (action.at("title") != title) continue;
    const text_index index(text, position_encoding::utf16);
    std::vector<syntax::text_edit> edits;
    for (const json& edit : action.at("edit").at("changes").at(lsp_session::uri)) {
      edits.push_back({index.offset(position_of(edit.at("range").at("start"))),
                       index.offset(position_of(edit.at("range").at("end"))), edit.at("newText")});
    }
    std::sort(edits.begin(), edits.end(), [](const auto& left, const auto& right) { return left.begin < right.begin; });
    return syntax::apply_edits(text, edits);
  }
  return {};
}

TEST(lsp_actions, missing_arguments) {
  const std::string edge = ".decl edge(x:number, y:number)\n.decl r(x:number, y:number)\n";
  EXPECT_EQ(after_action(edge + "r(x, x) :- edge(x).\n", range(2, 0, 99), "Add '_' to edge"),
            edge + "r(x, x) :- edge(x, _).\n");
  EXPECT_EQ(after_action(edge + "r(x, x) :- x = 1, !edge().\n", range(2, 0, 99), "Add '_, _' to edge"),
            edge + "r(x, x) :- x = 1, !edge(_, _).\n");
  EXPECT_EQ(after_action(edge + "r(x) :- edge(x, y).\n", range(2, 0, 99), "Add 'y' to r"),
            edge + "r(x, y) :- edge(x, y).\n");
  lsp_session session;
  session.open(edge + "edge(1).\n");  // the value of a fact is unknown
  EXPECT_EQ(session.ask("codeAction", {{"range", range(2, 0, 99)}}), json::array());
}

TEST(lsp_actions, missing_columns) {
  const std::string rules = "r(x) :- e(x), !e(x), y = count : { e(x) }, y > 0.\ne(1).\n";
  EXPECT_EQ(after_action(".decl e(x:number)\n.decl r(x:number)\nr(x) :- e(x, w, \"a\"), r(w).\n" + rules,
                         range(2, 0, 99), "Add columns w:number, a3:symbol to e"),
            ".decl e(x:number, w:number, a3:symbol)\n.decl r(x:number)\nr(x) :- e(x, w, \"a\"), r(w).\n"
            "r(x) :- e(x, _, _), !e(x, _, _), y = count : { e(x, _, _) }, y > 0.\ne(1).\n");
  EXPECT_EQ(after_action(".decl e() brie\n.decl r(x:number)\nr(e) :- e(e), r(e).\n", range(2, 0, 99),
                         "Add column e:number to e"),
            ".decl e(e:number) brie\n.decl r(x:number)\nr(e) :- e(e), r(e).\n");
  lsp_session session;
  session.open(".decl e,f(x:number)\nf(x) :- e(x, x).\n");  // f would get the column, too
  EXPECT_EQ(session.ask("codeAction", {{"range", range(1, 0, 99)}}), json::array());
}

/// Returns the text after "Extract relation extracted" of the text between two `|`; empty without this action.
std::string extracted(std::string text) {
  const std::size_t begin = text.find('|');
  text.erase(begin, 1);
  const std::size_t end = text.find('|');
  text.erase(end, 1);
  const text_index index(text, position_encoding::utf16);
  const json where = range_of(index, begin, end);
  return after_action(text, where, "Extract relation extracted");
}

TEST(lsp_actions, extracted_rules) {
  const std::string types = ".decl e(x:number, s:symbol)\n.decl r(x:number)\ne(1, \"a\").\n";
  EXPECT_EQ(extracted(types + "r(x) :- |e(x, s), e(y, s)|, x < y.\n"),
            types +
                ".decl extracted(x:number, y:number)\nextracted(x, y) :- e(x, s), e(y, s).\nr(x) :- "
                "extracted(x, y), x < y.\n");
  EXPECT_EQ(extracted(types + "r(x) :- r(x) ;|  e(x, s),\n  // a comment\n  !e(_, s) |.\n"),
            types +
                ".decl extracted(x:number)\nextracted(x) :- e(x, s),\n  // a comment\n  !e(_, s).\nr(x) :- r(x) ;  "
                "extracted(x) .\n");
  EXPECT_EQ(extracted(types + "r(x) :- |e(x, _), n = count : { e(x, _) }|, r(n).\n"),
            types +
                ".decl extracted(n:number, x:number)\nextracted(n, x) :- e(x, _), n = count : { e(x, _) }.\nr(x) :- "
                "extracted(n, x), r(n).\n");
  EXPECT_EQ(extracted(types + ".comp C {\n  .decl t(s:symbol)\n  t(s) :- |e(x, s)|, x > 0.\n}\n.init c = C\n"),
            types +
                ".comp C {\n  .decl t(s:symbol)\n  .decl extracted(s:symbol, x:number)\n  extracted(s, x) :- "
                "e(x, s).\n  t(s) :- extracted(s, x), x > 0.\n}\n.init c = C\n");
}

TEST(lsp_actions, extracted_macros) {
  const std::string before =
      "#define BODY e(x, s), r(x)\n.decl e(x:number, s:symbol)\n.decl r(x:number)\ne(1, \"a\").\n";
  EXPECT_EQ(extracted(before + "r(x) :- |BODY|, x < 5.\n"),
            before + ".decl extracted(x:number)\nextracted(x) :- BODY.\nr(x) :- extracted(x), x < 5.\n");
}

TEST(lsp_actions, rules_that_cannot_be_extracted) {
  const std::string types = ".decl e(x:number, s:symbol)\n.decl r(x:number)\ne(1, \"a\").\n";
  const std::vector<std::string> programs = {
      types + "r(x) :- e(|x, s|).\n",                              // a part of a literal
      types + "r(x) :- e(x, s), |!e(_, s)|.\n",                    // s has no values
      types + "r(x) :- e(x, s), |x < 5|.\n",                       // x has no values
      types + "r(x) :- |e(x, s)|, e(x, s). .plan 0:(2,1)\n",       // the plan counts atoms
      types + "r(autoinc()) :- |e(x, s), x = autoinc()|.\n",       // counts once for each match
      types + "r(n) :- e(x, _), |n = count : { e(x, _) }|.\n",     // x is one x of the rule
      types + "r(x) :- e(x, _), |x = count : { e(x, _) }|.\n",     // x is given by the rest of the rule
      types + ".limitsize r(n=2)\nr(x) :- |e(x, _)|.\n",           // limits an iteration
      types + "r(x) :- |r(x)|, x > 0.\nr(x) <= r(y) :- x < y.\n",  // r loses tuples
      types + "r(x) :- |r(x)|, e(x, s), undefined(s).\n"};         // has errors
  for (const std::string& program : programs) EXPECT_EQ(extracted(program), "") << program;
}

TEST(lsp_actions, kinds_that_a_client_asks_for) {
  lsp_session session;
  session.open(".decl e(x:number)\ne(1).\n.decl r(x:number)\nr(x) :- e(x), x > 0.\n");
  const auto titles = [&](const json& only) {
    std::vector<std::string> result;
    const json context = {{"diagnostics", json::array()}, {"only", only}};
    for (const json& action : session.ask("codeAction", {{"range", range(3, 8, 12)}, {"context", context}}))
      result.push_back(action.at("title"));
    return result;
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(titles({"refactor"}), names{"Extract relation extracted"});
  EXPECT_EQ(titles({"refactor.extract"}), names{"Extract relation extracted"});
  EXPECT_EQ(titles({"quickfix", "refactor.inline"}), names{});
}

}  // namespace
}  // namespace gpulog::lsp
