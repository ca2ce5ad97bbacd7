#include "plan/passes/recursions/row_equations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

const std::string declarations =
    ".decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n"
    ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\n";

using columns = std::vector<std::vector<std::uint32_t>>;

/// By member.
columns sources(const std::optional<row_equations>& found) {
  columns result;
  for (const row_member& member : found->members) result.push_back(member.sources);
  return result;
}

/// How the stratum of r is decomposed.
std::optional<row_equations> decomposed(const std::string& rules) {
  const program plan = plan_text(declarations + rules);
  for (const stratum& one : plan.strata) {
    const bool has_r = std::any_of(one.relations.begin(), one.relations.end(),
                                   [&plan](relation_id id) { return plan.relations[id.value].name == "r"; });
    if (one.has_row_steps() && has_r) return one.rows;
  }
  return std::nullopt;
}

TEST(row_steps, linear_rules_pass_a_column_through) {
  const auto left = decomposed("r(x,y) :- r(x,z), e(z,y).\n");
  ASSERT_TRUE(left);
  EXPECT_EQ(sources(left), columns({{0}}));
  EXPECT_EQ(left->steps.size(), 1U);
  EXPECT_EQ(left->steps[0].columns, std::vector<std::uint32_t>{1});
  const auto right = decomposed("r(x,y) :- e(x,z), r(z,y).\n");
  ASSERT_TRUE(right);
  EXPECT_EQ(sources(right), columns({{1}}));
  EXPECT_EQ(right->steps[0].columns, std::vector<std::uint32_t>{0});
}

TEST(row_steps, several_rules_have_to_pass_the_same_column) {
  const auto both = decomposed("r(x,y) :- r(x,z), e(z,y).\nr(x,y) :- f(y,z), r(x,z).\n");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->steps.size(), 2U);
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y).\nr(x,y) :- e(x,z), r(z,y).\n"));
}

TEST(row_steps, the_doubling_rule_is_linear_in_its_first_tuples) {
  const auto twice = decomposed("r(x,y) :- r(x,z), r(z,y).\n");
  ASSERT_TRUE(twice);
  EXPECT_EQ(sources(twice), columns({{0}}));
  EXPECT_EQ(twice->steps.size(), 1U);
}

TEST(row_steps, not_where_values_of_a_column_meet_others) {
  EXPECT_FALSE(decomposed("r(y,x) :- r(x,z), e(z,y).\n"));          // passes to the other column
  EXPECT_FALSE(decomposed("r(x,y) :- e(a,x), r(a,b), e(b,y).\n"));  // passes none
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y), f(x,y).\n"));  // more than a search
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(x,y).\n"));          // searched by the invariant
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), r(y,z).\n"));          // not a path
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y).\n.limitsize r(n=5)\n"));
  EXPECT_FALSE(decomposed(".decl q(x:number, y:number) eqrel\nq(x,y) :- f(x,y).\nr(x,y) :- r(x,z), q(z,y).\n"));
}

TEST(row_steps, several_columns_and_relations) {
  const std::string wide =
      ".decl w(a:number, b:number, c:number, d:number)\n.input w\n"
      ".decl s(k:number, p:number, y:number)\ns(k,p,y) :- w(k,p,y,_).\n";
  const auto of_s = [&](const std::string& rules) {
    const program plan = plan_text(declarations + wide + rules);
    return plan.strata.back().rows;
  };
  // Two invariants; two nodes; one of either, where a passed column is asked for.
  EXPECT_EQ(sources(of_s("s(k,p,y) :- s(k,p,z), e(z,y).\n")), columns({{0, 1}}));
  EXPECT_EQ(sources(of_s("s(k,p,y) :- s(k,q,z), w(q,z,p,y).\n")), columns({{0}}));
  EXPECT_EQ(sources(of_s("s(k,p,y) :- s(k,p,z), w(p,z,_,y).\n")), columns({{0}}));
  // A part of a node is asked for.
  EXPECT_EQ(sources(of_s("s(k,p,y) :- s(k,_,z), w(z,_,p,y).\n")), columns({{0}}));
  // The same value in different columns, passed by all rules.
  const auto mutual = decomposed(wide + "s(x,z,y) :- r(y,z), f(z,x).\nr(y,x) :- s(z,x,y), e(z,x).\n");
  EXPECT_EQ(sources(mutual), columns({{0}, {2}}));
  const auto apart = decomposed(wide + "s(x,z,p) :- r(p,y), w(y,_,x,z).\nr(p,y) :- s(z,x,p), w(z,x,y,_), y != 3.\n");
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->members.size(), 2U);
  EXPECT_TRUE(decomposed(".decl q(x:number, y:number)\nq(p,y) :- r(p,y).\nr(p,y) :- q(p,z), e(z,y).\n"));
  // One column that stays and one that moves, by different rules: nodes are pairs of values that meet nowhere else.
  EXPECT_FALSE(of_s("s(k,p,y) :- s(k,p,z), e(z,y).\ns(k,p,y) :- s(k,q,y), f(q,p).\n"));
}

/// Rules of relations that the planner made.
std::vector<std::string> steps_made(const std::string& rules, const options& chosen = {}) {
  const program plan = plan_text(declarations + rules, chosen);
  std::vector<std::string> texts;
  for (const stratum& one : plan.strata) {
    for (const rule_version& version : one.once.versions) {
      if (plan.relations[version.head.value].supplementary) texts.push_back(version.text);
    }
  }
  return texts;
}

TEST(row_steps, what_rules_ask_between_two_values_becomes_a_step) {
  using texts = std::vector<std::string>;
  EXPECT_EQ(steps_made("r(x,y) :- r(x,z), e(z,y).\n"), texts());
  const std::string tested = "r(x,y) :- r(x,z), e(z,y), y != 3, !f(z,y).\n";
  EXPECT_TRUE(decomposed(tested));
  EXPECT_EQ(steps_made(tested), texts{"r@1(z,y) :- e(z,y), y != 3, !f(z,y)."});
  options chosen;
  chosen.modes.set("invariant-columns", tuning_mode::off);
  EXPECT_EQ(steps_made(tested, chosen), texts());
  // On the other side; of wider relations; with constants, tests by further atoms, and values that are computed.
  const std::string wide = ".decl w(x:number, y:number, z:number)\n.input w\n";
  for (const char* rules : {"r(x,y) :- e(x,z), r(z,y), x < 9.\n", "r(x,y) :- r(x,z), w(z,_,y).\n",
                            "r(x,y) :- r(x,z), w(z,7,y), e(y,_), f(z,z).\n", "r(x,y) :- r(x,7), e(y,_).\n",
                            "r(x,7) :- r(x,z), e(z,_).\n", "r(x,y) :- r(x,z), e(z,v), y = v + 1, y < 100.\n",
                            "r(x,y) :- r(x,z), e(z,y), y != 3.\nr(x,y) :- r(x,z), f(z,y).\n",
                            "r(x,y) :- r(x,z), r(z,y).\nr(x,y) :- r(x,z), w(y,z,1).\n"}) {
    SCOPED_TRACE(rules);
    EXPECT_TRUE(decomposed(wide + rules));
    EXPECT_EQ(steps_made(wide + rules).size(), 1U);
  }
}

TEST(row_steps, no_step_where_it_could_be_larger_or_is_not_one) {
  for (const char* rules : {
           "r(x,y) :- r(x,z), e(z,y), x != y.\n",                             // asks the invariant
           "r(x,y) :- r(x,z), e(z,v), f(v,y).\n",                             // more rows than e and f
           "r(x,y) :- r(x,z), y = z + 1, y < 100.\n",                         // from what cannot be listed
           "r(x,y) :- r(x,z), e(z,v), y = v / z.\n",                          // may trap
           "r(x,y) :- r(x,_), e(_,y).\n",                                     // from all values
           "r(x,y) :- r(x,z), e(z,y), y != 3.\nr(y,x) :- r(x,z), e(z,y).\n",  // another rule passes nothing
           "r(x,y) :- r(x,z), e(z,y), y != 3.\n.plan 0:(1,2)\n",
       }) {
    SCOPED_TRACE(rules);
    EXPECT_FALSE(decomposed(rules));
  }
  // From one value only: most steps would not be gone.
  EXPECT_FALSE(plan_text(".decl e(x:number, y:number)\n.input e\n.decl r(x:number, y:number)\nr(1,y) :- e(1,y).\n"
                         "r(x,y) :- r(x,z), e(z,y), y != 3.\n")
                   .strata.back()
                   .has_row_steps());
}

}  // namespace
}  // namespace gpulog::plan
