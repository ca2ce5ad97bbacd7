#include "sema/checks/needed_relations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysed_text.hpp"

namespace gpulog {
namespace {

/// Returns the unread texts of relation r(a:symbol, b:symbol, c:number), such as "a b".
std::string unread(const std::string& rules, const std::string& qualifiers = "") {
  const analysed_text text(".decl r(a:symbol, b:symbol, c:number) " + qualifiers + "\n.input r\n" + rules);
  EXPECT_TRUE(text.accepted()) << text.report.to_string();
  if (!text.accepted()) return "not accepted";
  const auto columns = sema::unread_texts(*text.program, sema::needed_relations(*text.program));
  std::string names;
  for (std::size_t c = 0; c < 3; ++c) {
    if (columns.front()[c]) names += (names.empty() ? "" : " ") + (*text.program).relations[0].attributes[c].name;
  }
  return names;
}

const std::string p = ".decl p(x:symbol)\n.output p\n";
const std::string n = ".decl n(x:number)\n.output n\n";

TEST(unread_texts, columns_that_no_rule_reads) {
  EXPECT_EQ(unread(n + "n(x) :- r(_, _, x).\n"), "a b");
  EXPECT_EQ(unread(n + "n(x) :- r(y, _, x).\n"), "a b");
  EXPECT_EQ(unread(p + "p(x) :- r(x, _, _).\np(x) :- r(x, _, 3).\n"), "b");
  EXPECT_EQ(unread(p + "p(x) :- r(x, _, _).\np(x) :- r(_, x, _).\n"), "");
  EXPECT_EQ(unread(p + "p(\"q\") :- !r(\"a\", _, _).\n"), "b");
  EXPECT_EQ(unread(p + "p(x) :- r(x, _, _).\n.decl q(x:symbol)\nq(x) :- r(_, x, _).\n"), "b");
}

TEST(unread_texts, comparisons_and_joins_read_columns) {
  EXPECT_EQ(unread(n + "n(x) :- r(y, y, x).\n"), "");
  EXPECT_EQ(unread(n + "n(x) :- r(y, _, x), y != \"u\".\n"), "b");
  EXPECT_EQ(unread(n + "n(x) :- r(y, _, x), r(_, y, x).\n"), "");
  EXPECT_EQ(unread(n + "n(x) :- r(_, \"u\", x).\n"), "a");
  EXPECT_EQ(unread(n + "n(strlen(y)) :- r(_, y, _).\n"), "a");
}

TEST(unread_texts, numbers_of_matches_need_all_columns) {
  EXPECT_EQ(unread(n + "n(x) :- x = count : { r(_, _, _) }.\n"), "");
  EXPECT_EQ(unread(n + "n(x) :- x = sum y : { r(_, _, y) }.\n"), "");
  EXPECT_EQ(unread(n + "n(autoinc()) :- r(_, _, _).\n"), "");
  EXPECT_EQ(unread(".printsize r\n" + n + "n(x) :- r(_, _, x).\n"), "");
  EXPECT_EQ(unread(".output r\n" + n + "n(x) :- r(_, _, x).\n"), "");
  EXPECT_EQ(unread(".limitsize r(n=2)\n" + n + "n(x) :- r(_, _, x).\n"), "");
  EXPECT_EQ(unread(n + "n(x) :- r(_, _, x).\n", "choice-domain c"), "");
  EXPECT_EQ(unread(n + "n(x) :- r(_, _, x).\nr(_, _, x) <= r(_, _, y) :- x <= y.\n"), "");
}

TEST(unread_texts, numbers_of_symbols_need_all_texts) {
  EXPECT_EQ(unread(n + "n(x) :- r(_, _, x).\nn(ord(x)) :- r(x, _, _).\n"), "");
}

}  // namespace
}  // namespace gpulog
