#include "plan/passes/bodies/repetitions.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// Rules of r that are planned.
std::size_t planned_rules(const std::string& rules) {
  const program plan = plan_text(".decl e(x:number, y:number)\n.input e\n.decl r(x:number)\n.output r\n" + rules);
  return plan.strata.back().once.versions.size();
}

/// Reads of relations in the last rule of r.
std::size_t reads(const std::string& rules) {
  const program plan = plan_text(".decl e(x:number, y:number)\n.input e\n.decl r(x:number)\n.output r\n" + rules);
  std::size_t count = 0;
  for (const operation& one : plan.strata.back().once.versions.back().operations) {
    const bool is_read =
        std::holds_alternative<scan>(one) || std::holds_alternative<match>(one) || std::holds_alternative<exists>(one);
    count += is_read ? 1 : 0;
  }
  return count;
}

TEST(repetitions, rules_that_differ_in_names_and_order_only) {
  EXPECT_EQ(planned_rules("r(x) :- e(x,y), e(y,3).\nr(a) :- e(b,3), e(a,b).\n"), 1U);
  EXPECT_EQ(planned_rules("r(x) :- (e(x,1) ; e(x,2)), (e(x,1) ; e(x,2)).\n"), 3U);
  EXPECT_EQ(planned_rules("r(x) :- e(x,y), y < 3, !e(y,x).\nr(x) :- e(x,z), !e(z,x), z < 3.\n"), 1U);
}

TEST(repetitions, rules_that_differ) {
  EXPECT_EQ(planned_rules("r(x) :- e(x,y), e(y,3).\nr(x) :- e(x,y), e(3,y).\n"), 2U);
  EXPECT_EQ(planned_rules("r(x) :- e(x,y), y < 3.\nr(x) :- e(x,y), 3 < y.\n"), 2U);
  EXPECT_EQ(planned_rules("r(x) :- e(x,_).\nr(x) :- e(_,x).\n"), 2U);
  EXPECT_EQ(planned_rules("r(x+1) :- e(x,_).\nr(x+2) :- e(x,_).\n"), 2U);
  // Each evaluation gives another number.
  EXPECT_EQ(planned_rules("r(autoinc()) :- e(_,_).\nr(autoinc()) :- e(_,_).\n"), 2U);
  EXPECT_EQ(planned_rules("r(c) :- c = count : e(_,_).\nr(c) :- c = sum x : e(x,_).\n"), 2U);
}

TEST(repetitions, literals) {
  EXPECT_EQ(reads("r(x) :- e(x,y), e(x,y), e(y,x), e(x,y).\n"), 2U);
  EXPECT_EQ(reads("r(x) :- e(x,_), e(x,_).\n"), 1U);
  EXPECT_EQ(reads("r(x) :- e(x,y), !e(y,x), !e(y,x).\n"), 2U);
}

}  // namespace
}  // namespace gpulog::plan
