#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lsp_session.hpp"

namespace gpulog::lsp {
namespace {

const std::string declarations =
    ".type T = Leaf {} | Node {l:T}\n.functor f(x:number):number\n.comp C {\n  .decl inner(x:number)\n}\n.init c = C\n"
    ".decl edge(from:number, to:number)\n";

using labels = std::vector<std::string>;

/// Returns the completions at `^` in the text, which follows the declarations.
json completions(std::string text, json parameters = json::object()) {
  const std::size_t at = text.find('^');
  text.erase(at, 1);
  lsp_session session(std::move(parameters));
  session.open(declarations + text);
  const text_index index(text, position_encoding::utf16);
  const text_position place = index.position(at);
  return session.ask_at("completion", place.line + 7, place.character);
}

labels completed(const std::string& text) {
  labels result;
  for (const json& item : completions(text)) result.push_back(item.at("label"));
  return result;
}

bool offers(const std::string& text, const std::string& label) {
  const labels all = completed(text);
  return std::find(all.begin(), all.end(), label) != all.end();
}

TEST(lsp_completion, names_by_place) {
  EXPECT_EQ(completed("^"), (labels{"edge", "c"}));
  EXPECT_EQ(completed("ed^"), (labels{"edge", "c"}));
  EXPECT_EQ(completed("edge(1, 2).\n^"), (labels{"edge", "c"}));
  EXPECT_EQ(completed("c.^"), (labels{"inner"}));
  EXPECT_EQ(completed("edge($^"), (labels{"Leaf", "Node"}));
  EXPECT_EQ(completed("edge(@^"), (labels{"f"}));
  EXPECT_EQ(completed(".output ^"), (labels{"edge", "c"}));
  EXPECT_EQ(completed(".output c.^"), (labels{"inner"}));
  EXPECT_EQ(completed(".init d = ^"), (labels{"C"}));
  EXPECT_EQ(completed(".comp D : ^"), (labels{"C"}));
  EXPECT_EQ(completed(".decl a(x:^"), (labels{"number", "unsigned", "float", "symbol", "T"}));
  EXPECT_EQ(completed(".type U = ^"), (labels{"number", "unsigned", "float", "symbol", "T"}));
  EXPECT_EQ(completed(".functor g(^"), (labels{"number", "unsigned", "float", "symbol", "T"}));
  EXPECT_EQ(completed(".output edge(headers=^"), (labels{"true", "false"}));
  EXPECT_TRUE(offers(".output edge(^", "filename"));
  EXPECT_TRUE(offers(".decl a(x:number) ^", "eqrel"));
  EXPECT_TRUE(offers(".de^", "decl"));
  EXPECT_TRUE(offers("edge(1, 2).\n.^", "output"));
  EXPECT_EQ(completed("// ed^"), labels());
  EXPECT_EQ(completed("edge(\"ed^\", 1).\n"), labels());
  EXPECT_EQ(completed(".decl ^"), labels());
}

TEST(lsp_completion, bodies_and_arguments) {
  const labels in_body = completed("edge(a, b) :- edge(a, other), ^");
  EXPECT_EQ(labels(in_body.begin(), in_body.begin() + 5), (labels{"a", "b", "other", "edge", "c"}));
  const labels in_argument = completed("edge(a, b) :- edge(a, ^), edge(later, b).\n");
  EXPECT_EQ(labels(in_argument.begin(), in_argument.begin() + 4), (labels{"to", "a", "b", "later"}));
  EXPECT_FALSE(offers("edge(a, b) :- edge(a, ^", "edge"));
  EXPECT_TRUE(offers("edge(a, b) :- b = count : { ^", "edge"));
  EXPECT_TRUE(offers("edge(a, b) :- b = ^", "strlen"));
  EXPECT_TRUE(offers("edge(a, b) :- b = ^", "index_of"));
  EXPECT_TRUE(offers("edge(a, b) :- ^", "starts_with"));
}

TEST(lsp_completion, details_and_snippets) {
  EXPECT_EQ(completions("^")[0], (json{{"label", "edge"}, {"kind", 7}, {"detail", "(from:number, to:number)"}}));
  json parameters;
  parameters["capabilities"]["textDocument"]["completion"]["completionItem"]["snippetSupport"] = true;
  EXPECT_EQ(completions("^", parameters)[0], (json{{"label", "edge"},
                                                   {"kind", 7},
                                                   {"detail", "(from:number, to:number)"},
                                                   {"insertText", "edge(${1:from}, ${2:to})"},
                                                   {"insertTextFormat", 2}}));
  EXPECT_EQ(completions(".output ^", parameters)[0].contains("insertText"), false);
}

json signature(const std::string& label, const labels& parameters, std::size_t active) {
  json list = json::array();
  for (const std::string& each : parameters) list.push_back({{"label", each}});
  return {{"signatures", json::array({{{"label", label}, {"parameters", list}}})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

TEST(lsp_completion, signatures) {
  const auto help = [](const std::string& text) {
    lsp_session session;
    session.open(declarations + text);
    return session.ask_at("signatureHelp", 7, text.size());
  };
  EXPECT_EQ(help("edge(1, "), signature("edge(from:number, to:number)", {"from:number", "to:number"}, 1));
  EXPECT_EQ(help("edge(1, 2) :- c.inner("), signature("c.inner(x:number)", {"x:number"}, 0));
  EXPECT_EQ(help("edge($Node("), signature("$Node(l:T)", {"l:T"}, 0));
  EXPECT_EQ(help("edge(@f("), signature("@f(x:number):number", {"x:number"}, 0));
  EXPECT_EQ(help("edge(substr(\"a\", 1"),
            signature("substr(symbol, number, number):symbol", {"symbol", "number", "number"}, 1));
  EXPECT_EQ(help("edge(cat(\"a\", \"b\", \"c\""), signature("cat(symbol, ...):symbol", {"symbol", "..."}, 1));
  EXPECT_EQ(help("edge(1, (2 + "), signature("edge(from:number, to:number)", {"from:number", "to:number"}, 1));
  EXPECT_EQ(help("edge(1, 2)"), nullptr);
  EXPECT_EQ(help("unknown("), nullptr);
  EXPECT_EQ(help(".decl edge("), nullptr);
}

TEST(lsp_structure, folding) {
  lsp_session session;
  session.open("// one\n// two\n.comp C {\n  .decl a(\n    x:number\n  )\n}\n/* a\n b */\na(x) :-\n  b(x).\na(1).\n");
  EXPECT_EQ(session.ask("foldingRange"), (json{{{"startLine", 3}, {"endLine", 5}},
                                               {{"startLine", 2}, {"endLine", 6}},
                                               {{"startLine", 9}, {"endLine", 10}},
                                               {{"startLine", 0}, {"endLine", 1}, {"kind", "comment"}},
                                               {{"startLine", 7}, {"endLine", 8}, {"kind", "comment"}}}));
}

TEST(lsp_structure, semantic_tokens) {
  lsp_session session;
  const json legend = session.initialized.at("capabilities").at("semanticTokensProvider").at("legend");
  EXPECT_EQ(legend.at("tokenTypes")[5], "class");
  session.open(".decl a(x:T) /* b\n c */\na(x) :- a(x), x = \"\xC3\xA4\".\n");
  EXPECT_EQ(session.ask("semanticTokens/full").at("data"),
            (json{0, 0, 5, 0, 0, 0, 6, 1, 5,  1, 0, 2, 1, 12, 1, 0, 5, 4, 1,  0, 1, 0, 5, 1,  0,  //
                  1, 0, 1, 5, 0, 0, 2, 1, 11, 0, 0, 6, 1, 5,  0, 0, 2, 1, 11, 0, 0, 4, 1, 11, 0, 0, 4, 3, 2, 0}));
}

}  // namespace
}  // namespace gpulog::lsp
