#include "plan/passes/relations/needless_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// Whether the relation r has a tuple set.
bool has_set(const std::string& rules) {
  const program plan = plan_text(
      ".type pair = [a:number, b:number]\n"
      ".decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n.decl q(p:pair)\n.input q\n" +
      rules);
  const auto r =
      std::find_if(plan.relations.begin(), plan.relations.end(), [](const relation& one) { return one.name == "r"; });
  return r->needs_set;
}

constexpr const char* one = ".decl r(x:number)\n";
constexpr const char* two = ".decl r(x:number, y:number)\n";
constexpr const char* three = ".decl r(x:number, y:number, z:number)\n";

bool has_set(const char* declaration, const std::string& rules) { return has_set(declaration + rules); }

TEST(distinct_rows, heads_that_tell_the_rows_of_the_body) {
  EXPECT_FALSE(has_set(two, "r(x,y) :- e(x,y).\n"));
  EXPECT_FALSE(has_set(two, "r(y,x) :- e(x,y), x < y, !f(x,y).\n"));
  EXPECT_FALSE(has_set(three, "r(x,y,z) :- e(x,y), e(y,z), e(z,x).\n"));
  EXPECT_FALSE(has_set(three, "r(x,y,z) :- e(x,z), f(x,y).\n"));
  EXPECT_FALSE(has_set(one, "r(x) :- e(x,5).\n"));
  EXPECT_FALSE(has_set(one, "r(x) :- e(x,x).\n"));
}

TEST(distinct_rows, heads_that_lose_a_value_of_the_body) {
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,z), e(z,y).\n"));
  EXPECT_TRUE(has_set(one, "r(x) :- e(x,_).\n"));
  EXPECT_TRUE(has_set(one, "r(y) :- e(x,y), f(y,x).\n"));
  EXPECT_TRUE(has_set(one, "r(x+y) :- e(x,y).\n"));
  EXPECT_TRUE(has_set(two, "r(x,i) :- e(x,_), i = range(0, 3).\n"));
}

TEST(distinct_rows, a_lost_value_may_follow_from_others) {
  // An atom without new variables is a test.
  EXPECT_FALSE(has_set(two, "r(x,y) :- e(x,y), f(_,y).\n"));
  EXPECT_FALSE(has_set(two, "r(x,y) :- e(x,y), f(z,y), z = x + 1.\n"));
  EXPECT_TRUE(has_set(two, "r(x,z) :- e(x,y), z = x + 1.\n"));
}

TEST(distinct_rows, another_search_may_find_a_value_several_times) {
  const std::string wide = ".decl w(x:number, y:number, z:number)\n.input w\n";
  EXPECT_FALSE(has_set(three, wide + "r(x,y,z) :- e(x,y), e(y,z), w(x,y,z).\n"));
  EXPECT_TRUE(has_set(three, wide + "r(x,y,z) :- e(x,y), e(y,z), w(z,x,_).\n"));
}

TEST(distinct_rows, records_tell_their_fields) {
  EXPECT_FALSE(has_set(".decl r(p:pair)\nr([x,y]) :- e(x,y).\n"));
  EXPECT_FALSE(has_set(two, "r(x,y) :- q([x,y]).\n"));
  EXPECT_TRUE(has_set(one, "r(x) :- q([x,_]).\n"));
}

TEST(distinct_rows, more_than_one_source) {
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y).\nr(x,y) :- f(x,y).\n"));
  EXPECT_TRUE(has_set(two, "r(1,2).\nr(x,y) :- e(x,y).\n"));
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y).\nr(x,z) :- r(x,y), e(y,z).\n"));
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y); f(x,y).\n"));
}

TEST(distinct_rows, membership_that_is_asked) {
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y).\n.decl s(x:number, y:number)\ns(x,y) :- f(x,y), !r(x,y).\n"));
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y).\n.decl s(x:number, y:number)\ns(x,y) :- f(x,y), r(x,y).\n"));
  EXPECT_FALSE(has_set(two, "r(x,y) :- e(x,y).\n.decl s(x:number, y:number)\ns(x,z) :- f(x,y), r(y,z).\n"));
}

TEST(distinct_rows, relations_of_other_kinds) {
  EXPECT_TRUE(has_set(".decl r(x:number, y:number) eqrel\nr(x,y) :- e(x,y).\n"));
  EXPECT_TRUE(has_set(".decl r(x:number, y:number) choice-domain x\nr(x,y) :- e(x,y).\n"));
  EXPECT_TRUE(has_set(two, "r(x,y) :- e(x,y).\nr(x,a) <= r(x,b) :- a < b.\n"));
  EXPECT_TRUE(has_set(".decl r()\nr() :- e(x,y).\n"));
  EXPECT_TRUE(
      has_set(".decl c(x:number, y:number) eqrel\nc(x,y) :- e(x,y).\n" + std::string(two) + "r(x,y) :- c(x,y).\n"));
}

/// Supplementary relations of a loop that need no set on a CPU, with magic sets and semi-join reductions everywhere.
std::set<std::string> without_set_in_loops(const std::string& rules) {
  const options always{.modes = {{"magic-sets", tuning_mode::always}, {"semi-join-reduction", tuning_mode::always}}};
  const program plan = plan_text(
      ".decl e(x:number, y:number)\n.input e\n.decl d(x:number, y:number)\n.input d\n"
      ".decl f(x:number, y:number)\nf(x,y) :- e(x,y).\n" +
          rules,
      always);
  std::set<std::string> names;
  for (const relation& one : plan.relations) {
    if (one.loops_distinct) names.insert(one.name);
  }
  return names;
}

TEST(distinct_loops, a_copy_of_a_delta_needs_no_set) {
  const std::string alias = ".decl a(x:number, y:number)\na(x,y) :- f(z,x), f(z,y).\n";
  const std::string reader = "f(x,y) :- d(x,_), a(x,y), d(y,_).\n";
  EXPECT_EQ(without_set_in_loops(alias + reader), (std::set<std::string>{"f@1"}));
  // d(x,_) may become a search that finds x several times.
  EXPECT_EQ(without_set_in_loops("f(x,y) :- f(x,z), f(z,y), d(z,_).\n"), std::set<std::string>());
  // A row that subsumption erased may be in a later delta again.
  EXPECT_EQ(without_set_in_loops(alias + reader + "f(x,a) <= f(x,b) :- a < b.\n"), std::set<std::string>());
}

}  // namespace
}  // namespace gpulog::plan
