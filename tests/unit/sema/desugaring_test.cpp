// What clauses become: rules, strata and plans.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "sema/analysis.hpp"
#include "sema/print.hpp"

namespace gpulog::sema {
namespace {

using lines = std::set<std::uint32_t>;

// ---- desugaring -----------------------------------------------------------------------------------------------------

std::vector<std::string> rules_of(const analysed_text& text) {
  std::vector<std::string> result;
  if (!text.accepted()) return {text.report.to_string()};
  for (const rule& rule : text.program->rules) result.push_back(sema::to_text(*text.program, rule));
  return result;
}

TEST(desugaring, heads_times_bodies) {
  const analysed_text text(
      ".decl p(x:number)\n.decl q(x:number)\n.decl r(x:number)\n"
      "p(x), q(x) :- r(x), (x = 1 ; x > 5, (x < 9 ; x = 20)).\n");
  EXPECT_EQ(rules_of(text), (std::vector<std::string>{"p(x) :- r(x), x = 1.", "p(x) :- r(x), x > 5, x < 9.",
                                                      "p(x) :- r(x), x > 5, x = 20.", "q(x) :- r(x), x = 1.",
                                                      "q(x) :- r(x), x > 5, x < 9.", "q(x) :- r(x), x > 5, x = 20."}));
}

TEST(desugaring, negated_groups_by_de_morgan) {
  const analysed_text text(
      ".decl p(x:number)\n.decl a(x:number)\n.decl b(x:number)\n.decl n(x:number)\n"
      "p(x) :- n(x), !(a(x), (b(x) ; x > 5)).\np(x) :- n(x), !!a(x).\n");
  EXPECT_EQ(rules_of(text),
            (std::vector<std::string>{"p(x) :- n(x), !a(x).", "p(x) :- n(x), !b(x), x <= 5.", "p(x) :- n(x), a(x)."}));
}

TEST(desugaring, arithmetic_in_atoms_becomes_an_equality) {
  const analysed_text text(".decl p(x:number, y:number)\n.decl q(x:number)\nq(x) :- p(x, x+1), !p(x*2, _).\n");
  EXPECT_EQ(rules_of(text), (std::vector<std::string>{"q(x) :- @1 = (x+1), p(x,@1), @2 = (x*2), !p(@2,_)."}));
}

TEST(desugaring, true_is_dropped_and_false_drops_the_rule) {
  const analysed_text text(
      ".decl p(x:number)\np(x) :- p(x), true.\np(x) :- p(x), false.\np(7) :- true.\np(8) :- !true.\n");
  EXPECT_EQ(rules_of(text), (std::vector<std::string>{"p(x) :- p(x)."}));
  ASSERT_EQ(text.program->facts.size(), 1u);
  EXPECT_EQ(text.program->facts[0].values, std::vector<wide_word>{7});
}

TEST(desugaring, constant_expressions_in_facts_stay_rules) {
  const analysed_text text(".decl p(x:number)\np(1+2).\np(1/0).\n");
  EXPECT_EQ(rules_of(text), (std::vector<std::string>{"p((1+2)).", "p((1/0))."}));
}

TEST(desugaring, explosion_is_an_error) {
  std::string text = ".decl p(x:number)\np(x) :- p(x)";
  for (int number = 0; number < 40; ++number) text += ", (x = 1 ; x = 2)";
  const analysed_text analysed(text + ".\n");
  EXPECT_EQ(analysed.error_lines(), (lines{2}));
}

TEST(desugaring, symbols_are_numbered_in_the_order_of_the_text) {
  const analysed_text text(
      ".decl p(x:symbol)\np(\"x\").\np(y) :- p(y), y = \"q\", y != \"x\".\np(\"y\").\np(\"z\").\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  EXPECT_EQ(text.program->symbols, (std::vector<std::string>{"x", "q", "y", "z"}));
}

// ---- strata ---------------------------------------------------------------------------------------------------------

TEST(strata, come_in_evaluation_order) {
  const analysed_text text(
      ".decl top(x:number)\n.decl odd(x:number)\n.decl even(x:number)\n.decl base(x:number)\n"
      "top(x) :- base(x), !odd(x).\nodd(x) :- even(y), base(x), x = y + 1.\neven(0).\n"
      "even(x) :- odd(y), base(x), x = y + 1.\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const auto& strata = text.program->strata;
  ASSERT_EQ(strata.size(), 3u);
  EXPECT_EQ(strata[0].relations, std::vector<relation_id>{text.relation("base")});
  EXPECT_FALSE(strata[0].recursive);
  EXPECT_EQ(strata[1].relations, (std::vector<relation_id>{text.relation("odd"), text.relation("even")}));
  EXPECT_TRUE(strata[1].recursive);
  EXPECT_EQ(strata[1].rules.size(), 2u);
  EXPECT_EQ(strata[2].relations, std::vector<relation_id>{text.relation("top")});
  EXPECT_EQ(scc_graph_text(*text.program),
            "stratum 0: {base}\nstratum 1 (recursive): {odd,even} needs 0\nstratum 2: {top} needs 0, 1\n");
}

TEST(strata, negation_in_a_cycle_is_an_error) {
  const analysed_text text(
      ".decl n(x:number)\nn(1).\n.decl a(x:number)\n.decl b(x:number)\n.decl c(x:number)\n.output c\n"
      "a(x) :- n(x), !b(x).\nb(x) :- c(x).\nc(x) :- a(x), x > 1.\n");
  EXPECT_FALSE(text.accepted());
  EXPECT_EQ(text.error_lines(), (lines{4, 7}));
  EXPECT_TRUE(mentions(text.report.to_string(), "Unable to stratify relation(s) {a,b,c}"));
}

TEST(strata, a_long_chain_of_rules_is_no_crash) {
  std::string text;
  for (int number = 0; number < 20000; ++number) text += ".decl r" + std::to_string(number) + "()\n";
  for (int number = 0; number + 1 < 20000; ++number) {
    text += "r" + std::to_string(number) + "() :- r" + std::to_string(number + 1) + "().\n";
  }
  const analysed_text analysed(text);
  ASSERT_TRUE(analysed.accepted());
  EXPECT_EQ(analysed.program->strata.size(), 20000u);
  EXPECT_EQ(analysed.program->strata[0].relations[0].value, 19999u);
}

TEST(plans, are_kept_by_version) {
  const analysed_text text(
      ".decl a(x:number, y:number)\n.decl r(x:number, y:number)\n"
      "r(x,y) :- r(x,z), x < y, r(z,y), a(x,_).\n.plan 0:(3,1,2), 1:(2,3,1)\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const rule& rule = text.program->rules.at(0);
  ASSERT_EQ(rule.plans.size(), 2u);
  EXPECT_EQ(rule.plans[0].order, (std::vector<std::uint32_t>{2, 0, 1}));
  EXPECT_EQ(rule.plans[1].version, 1u);
}

}  // namespace
}  // namespace gpulog::sema
