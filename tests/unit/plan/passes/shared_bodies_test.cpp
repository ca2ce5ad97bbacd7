#include "plan/passes/relations/shared_bodies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

using text_list = std::vector<std::string>;

const std::string body_declarations =
    ".decl e(x:number, y:number)\n.input e\n.decl a(x:number, y:number)\n.decl b(x:number, y:number)\n"
    ".decl c(x:number)\n.decl d(x:number)\n";

/// Of all rules that are planned.
text_list rules_of(const std::string& rules, const options& chosen = {}) {
  text_list result;
  for (const stratum& one : plan_text(body_declarations + rules, chosen).strata) {
    for (const rule_version& version : one.once.versions) result.push_back(version.text);
    for (const phase& repeated : one.loop) {
      for (const rule_version& version : repeated.versions) result.push_back(version.text);
    }
  }
  return result;
}

/// Whether a relation is made for a body.
bool shares(const std::string& rules, const options& chosen = {}) {
  const program plan = plan_text(body_declarations + rules, chosen);
  return plan.relations.back().supplementary;
}

TEST(shared_bodies, of_several_heads_are_made_once) {
  const text_list rules = rules_of("a(x,y), b(y,x), c(x+y) :- e(x,z), e(z,y), x != y, !e(y,x).\n");
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[0], "a@1(x,y) :- e(x,z), e(z,y), x != y, !e(y,x).");
  EXPECT_EQ(rules[1], "a(x,y) :- a@1(x,y).");
  EXPECT_EQ(rules[2], "b(y,x) :- a@1(x,y).");
  EXPECT_EQ(rules[3], "c((x+y)) :- a@1(x,y).");
}

TEST(shared_bodies, each_alternative_has_one) {
  EXPECT_EQ(rules_of("a(x,y), b(y,x), b(x,y) :- (e(x,z), e(z,y) ; e(x,y), e(y,z), z > 3).\n").size(), 8U);
}

TEST(shared_bodies, a_recursion_reads_what_was_made_before) {
  const text_list rules = rules_of("a(x,y), b(x,y), b(y,x) :- e(x,z), e(z,y).\na(x,y) :- a(x,z), e(z,y).\n");
  EXPECT_EQ(rules.front(), "a@1(x,y) :- e(x,z), e(z,y).");
}

TEST(shared_bodies, are_left_where_it_is_not_right_or_brings_nothing) {
  EXPECT_TRUE(shares("a(x,y), b(x,y) :- e(x,z), e(z,w), e(w,y).\n"));
  EXPECT_FALSE(shares("a(x,y), b(x,y) :- e(x,z), e(z,w), e(w,y).\n", {.makes_relations = false}));
  EXPECT_FALSE(shares("a(x,y), b(x,y), b(y,x) :- e(x,y).\n"));
  EXPECT_TRUE(shares("a(x,y), b(x,y), b(y,x) :- e(x,z), e(z,y).\n"));
  EXPECT_FALSE(shares("a(x,y), b(x,y) :- e(x,z), e(z,y).\n"));
  EXPECT_FALSE(shares("a(x,y), c(x) :- e(x,z), e(z,w), e(w,y).\n"));
  EXPECT_FALSE(shares("c(x+y), d(x-y), d(x*y) :- e(x,z), e(z,y).\n"));
  EXPECT_FALSE(shares("c(1), d(2), d(3) :- e(x,z), e(z,x).\n"));
  EXPECT_FALSE(shares("a(x,autoinc()), b(x,autoinc()) :- e(x,z), e(z,w), e(w,_).\n"));
  EXPECT_FALSE(shares("a(x,n), b(x,n) :- e(x,z), e(z,w), e(w,_), n = count : e(z,_).\n"));
  EXPECT_EQ(rules_of("a(x,y), b(x,y) :- a(x,z), e(z,w), e(w,y).\n").back(), "b(x,y) :- a(x,z), e(z,w), e(w,y).");
  options chosen;
  chosen.modes.set("unneeded-relations", tuning_mode::always);
  EXPECT_FALSE(shares("a(x,y), b(x,y) :- e(x,z), e(z,w), e(w,y).\n.output b\n", chosen));
  EXPECT_TRUE(shares("a(x,y), b(x,y) :- e(x,z), e(z,w), e(w,y).\n.output a, b\n", chosen));
}

}  // namespace
}  // namespace gpulog::plan
