#include "plan/passes/relations/supplementary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog::plan {
namespace {

const std::string edge_declarations =
    ".decl e(x:number, y:number)\n.input e\n.decl r(x:number, y:number)\nr(x,y) :- e(x,y).\n"
    ".decl s(x:number, y:number)\ns(x,y) :- r(x,y).\nr(x,y) :- s(x,y).\n";

std::vector<std::string> supplementary_names(const program& plan) {
  std::vector<std::string> names;
  for (const relation& candidate : plan.relations) {
    if (candidate.supplementary) names.push_back(candidate.name);
  }
  return names;
}

const std::vector<std::string> none;

TEST(supplementary, a_step_that_loses_its_join_becomes_a_relation) {
  const program plan = plan_text(edge_declarations + "r(x,y) :- e(a,x), r(a,b), e(b,y).\n");
  EXPECT_EQ(supplementary_names(plan), std::vector<std::string>{"r@1"});
  const stratum& recursive = plan.strata.back();
  ASSERT_EQ(recursive.loop.size(), 2U);
  ASSERT_EQ(recursive.loop[0].advance.size(), 1U);
  EXPECT_EQ(plan.relations[recursive.loop[0].advance[0].value].name, "r@1");
  EXPECT_EQ(recursive.loop[1].advance.size(), 2U);
}

TEST(supplementary, can_be_switched_off) {
  const std::string rule = "r(x,y) :- e(a,x), r(a,b), e(b,y).\n";
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + rule, {.makes_relations = false})), none);
  EXPECT_EQ(supplementary_names(plan_text(".pragma \"supplementary\" \"off\"\n" + edge_declarations + rule)), none);
}

TEST(supplementary, not_where_nothing_is_lost_or_an_order_is_given) {
  // Two atoms; all variables needed; an order by .plan; a step without recursion.
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- r(x,z), e(z,y).\n")), none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- r(x,z), e(z,y), e(z,x).\n")), none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- e(a,x), r(a,b), e(b,y).\n.plan 0:(2,1,3)\n")),
            none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- e(x,a), e(a,y), r(y,_).\n")), none);
}

TEST(supplementary, values_that_recursions_are_joined_by_are_computed_in_front) {
  const program plan =
      plan_text(edge_declarations + "r(x,y+1) :- e(x,_), r(x/2,y).\ns(x,y) :- e(x,_), h = x / 2, r(h,y).\n");
  EXPECT_EQ(supplementary_names(plan), std::vector<std::string>{"e@1"});
  EXPECT_EQ(plan.relations.back().kinds.size(), 2U);  // x and its half
  EXPECT_FALSE(plan.strata[plan.strata.size() - 2].recursive);
  // Inside the recursion, the step grows with the relation.
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- s(x,_), r(x band y,x), s(y,_).\n")), none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- s(x,y), r(x band y,x).\n")),
            std::vector<std::string>{"s@1"});
  // Values that can be inverted, rules without recursion, and functors that may fail.
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- e(x,_), r(3-(x+1),y).\n")), none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- r(x,y), e(x,z), e(z/2,y).\n")), none);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + "r(x,y) :- e(x,d), d != 0, r(x/d,y).\n")), none);
}

TEST(supplementary, aggregates_search_fields_of_records) {
  const std::string records =
      ".type pair = [a:number, b:number]\n.decl p(x:pair, y:number)\n.input p\n" + edge_declarations;
  const auto made_by = [&](const std::string& rule) { return supplementary_names(plan_text(records + rule)); };
  EXPECT_EQ(made_by("e(x,n) :- e(x,_), n = count : { p([x,_],_) }.\n"), std::vector<std::string>{"p@1"});
  EXPECT_EQ(made_by("e(x,n) :- e(x,_), n = max y : { p([y,_],_), y < x }.\n"), std::vector<std::string>{"p@1"});
  // A scan, and a search by the record or by another column.
  EXPECT_EQ(made_by("e(x,n) :- e(x,_), n = max y : { p([y,_],_) }.\n"), none);
  EXPECT_EQ(made_by("e(x,n) :- e(x,_), n = max y : { p([x,y],x) }.\n"), none);
  EXPECT_EQ(made_by("e(x,n) :- p(r,x), n = sum y : { p(r,y), r = [y,_] }.\n"), none);
}

TEST(supplementary, equal_steps_of_several_rules_are_one_relation) {
  const program plan = plan_text(edge_declarations +
                                 "r(x,y) :- e(a,x), r(a,b), e(b,y).\n"
                                 "s(p,q) :- r(m,n), e(m,q), s(n,p).\n");
  EXPECT_EQ(supplementary_names(plan), std::vector<std::string>{"r@1"});
}

TEST(supplementary, a_common_end_is_merged_into_the_step_of_one_reader) {
  const program plan = plan_text(edge_declarations +
                                 "r(x,y) :- s(z,x), r(z,w), e(w,y).\n"
                                 "r(x,y) :- s(z,x), e(z,y).\n");
  EXPECT_EQ(supplementary_names(plan), std::vector<std::string>{"r@1"});
  std::size_t readers = 0;
  for (const rule_version& version : plan.strata.back().loop[1].versions) {
    readers += version.text == "r(x,y) :- s(z,x), e(z,y)." ? 1 : 0;
  }
  EXPECT_EQ(readers, 0U);
}

TEST(supplementary, ends_with_the_same_constants_are_merged) {
  const program plan = plan_text(edge_declarations +
                                 ".decl t(x:number, k:number, y:number)\n.input t\n"
                                 "r(x,y) :- s(z,x), r(z,w), t(w,1,y).\n"
                                 "r(x,y) :- s(z,x), t(z,1,y).\n"
                                 "r(x,y) :- s(z,x), t(z,2,y).\n"
                                 "r(x,y) :- r(z,x), t(z,1,y).\n");
  EXPECT_EQ(supplementary_names(plan), std::vector<std::string>{"r@1"});
  std::vector<std::string> ends;
  for (const rule_version& version : plan.strata.back().loop[1].versions) {
    if (version.text.find("t(z,") != std::string::npos) ends.push_back(version.text);
  }
  EXPECT_EQ(ends, std::vector<std::string>{"r(x,y) :- s(z,x), t(z,2,y)."});
}

TEST(supplementary, a_step_with_two_readers_takes_no_other_beginning) {
  const program plan = plan_text(edge_declarations +
                                 "r(x,y) :- s(z,x), r(z,w), e(w,y).\n"
                                 "s(x,y) :- s(z,x), r(z,w), r(w,y).\n"
                                 "r(x,y) :- s(z,x), e(z,y).\n");
  const std::vector<rule_version>& versions = plan.strata.back().loop.back().versions;
  EXPECT_TRUE(std::any_of(versions.begin(), versions.end(),
                          [](const rule_version& version) { return version.text == "r(x,y) :- s(z,x), e(z,y)."; }));
}

/// r(v0,vN) :- r(v0,v1), e(v1,v2), e(v2,v3), ...
std::string long_rule(std::size_t atoms, const std::string& relation) {
  std::string rule = "r(v0,v" + std::to_string(atoms) + ") :- r(v0,v1)";
  for (std::size_t atom = 1; atom < atoms; ++atom)
    rule += ", " + relation + "(v" + std::to_string(atom) + ",v" + std::to_string(atom + 1) + ")";
  return rule + ".\n";
}

TEST(supplementary, steps_of_a_long_rule_are_small) {
  constexpr std::size_t atoms = 300;
  const program plan = plan_text(edge_declarations + long_rule(atoms, "e"));
  EXPECT_EQ(supplementary_names(plan).size(), atoms - 2);
  for (const phase& repeated : plan.strata.back().loop) {
    for (const rule_version& version : repeated.versions) EXPECT_LE(version.operations.size(), 3U);
  }
  // Halves of halves are the same steps.
  EXPECT_LE(supplementary_names(plan_text(edge_declarations + long_rule(256, "r"))).size(), 20U);
}

TEST(supplementary, a_long_rule_that_loses_nothing_stays) {
  std::string rule = "r(v0,v0) :- r(v0,v1)";
  std::string tests;
  constexpr int atoms = oracle::is_sanitized ? 25 : 50;
  for (int atom = 1; atom < atoms; ++atom) {
    rule += ", e(v" + std::to_string(atom) + ",v" + std::to_string(atom + 1) + ")";
    tests += ", s(v0,v" + std::to_string(atom) + ")";
  }
  const std::string last = std::to_string(atoms);
  EXPECT_EQ(supplementary_names(plan_text(edge_declarations + rule + tests + ", s(v0,v" + last + "), e(v" + last +
                                          ",v" + last + ").\n")),
            none);
}

}  // namespace
}  // namespace gpulog::plan
