#include "plan/decomposition.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// How the stratum of r is decomposed.
std::optional<decomposition> decomposed(const std::string& rules) {
  const program plan = plan_text(
      ".decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n"
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\n" +
      rules);
  for (const stratum& one : plan.strata) {
    if (one.recursive && plan.relations[one.relations.front().value].name == "r") return one.decomposed;
  }
  return std::nullopt;
}

TEST(decomposition, linear_rules_pass_a_column_through) {
  const auto left = decomposed("r(x,y) :- r(x,z), e(z,y).\n");
  ASSERT_TRUE(left);
  EXPECT_EQ(left->pivot, 0U);
  EXPECT_EQ(left->steps.size(), 1U);
  EXPECT_EQ(left->steps[0].column, 1U);
  const auto right = decomposed("r(x,y) :- e(x,z), r(z,y).\n");
  ASSERT_TRUE(right);
  EXPECT_EQ(right->pivot, 1U);
  EXPECT_EQ(right->steps[0].column, 0U);
}

TEST(decomposition, several_rules_have_to_pass_the_same_column) {
  const auto both = decomposed("r(x,y) :- r(x,z), e(z,y).\nr(x,y) :- f(y,z), r(x,z).\n");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->steps.size(), 2U);
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y).\nr(x,y) :- e(x,z), r(z,y).\n"));
}

TEST(decomposition, the_doubling_rule_is_linear_in_its_first_tuples) {
  const auto twice = decomposed("r(x,y) :- r(x,z), r(z,y).\n");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->pivot, 0U);
  EXPECT_EQ(twice->steps.size(), 1U);
}

TEST(decomposition, not_where_values_of_a_column_meet_others) {
  EXPECT_FALSE(decomposed("r(y,x) :- r(x,z), e(z,y).\n"));          // passes to the other column
  EXPECT_FALSE(decomposed("r(x,y) :- e(a,x), r(a,b), e(b,y).\n"));  // passes none
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y), f(x,y).\n"));  // more than a search
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(x,y).\n"));          // searched by the pivot
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), r(y,z).\n"));          // not a path
  EXPECT_FALSE(decomposed("r(x,y) :- r(x,z), e(z,y).\n.limitsize r(n=5)\n"));
}

}  // namespace
}  // namespace gpulog::plan
