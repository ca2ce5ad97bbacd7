// Parts of a rule that only ask whether there is a match stop at the first one: the relations are the same as without,
// and candidates are counted, not times.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "analysed_text.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

const std::string edges_only = ".decl e(x:number, y:number)\n";

struct outcome {
  tuples rows;
  std::uint64_t candidates = 0;
};

outcome run(const std::string& rules, const tuples& edges, const run_mode& mode, bool with_pass) {
  const analysed_text source(edges_only + rules);
  plan::options planning;
  if (!with_pass) planning.modes.set("first-matches", tuning_mode::off);
  const plan::program plan = plan::make_plan(source.program, {}, planning);
  const auto asks = [](const plan::rule_version& version) { return !version.first_matches.empty(); };
  bool is_asked = false;
  for (const plan::stratum& one : plan.strata) {
    is_asked |= std::any_of(one.once.versions.begin(), one.once.versions.end(), asks);
    for (const plan::phase& repeated : one.loop) {
      is_asked |= std::any_of(repeated.versions.begin(), repeated.versions.end(), asks);
    }
  }
  EXPECT_EQ(is_asked, with_pass) << rules;
  plan_run run(plan, mode);
  run.load(source.program.find_relation("e").value(), 2, edges);
  run->evaluate();
  outcome result;
  result.rows = run.rows_of(source.program.find_relation("r").value());
  for (const stratum_statistics& one : run->figures().strata) {
    for (const version_statistics& version : one.versions) result.candidates += version.candidates;
  }
  return result;
}

/// A key that half of the rows have, and one that has half of them.
tuples skewed(word half) {
  tuples edges;
  for (word i = 0; i < half; ++i) {
    edges.insert({0, i});
    edges.insert({i, 1});
    edges.insert({i, i * 5 % half});
  }
  return edges;
}

class first_matches : public ::testing::TestWithParam<run_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, first_matches, ::testing::ValuesIn(all_run_modes()),
                         [](const auto& info) { return name_of(info.param); });

const std::string unary = ".decl r(x:number)\n";
const std::string binary = ".decl r(x:number, y:number)\n";

TEST_P(first_matches, give_what_all_matches_give) {
  const tuples edges = skewed(oracle::is_sanitized ? 60 : 130);
  for (const std::string& rules : {
           unary + "r(x) :- e(x,k), e(x,j), k != j.\n",
           unary + "r(x) :- e(x,k), e(x,j), e(x,l), k != j, j != l, k != l.\n",
           unary + "r(x) :- e(x,y), e(y,z), e(z,w), w > x, z != x.\n",
           unary + "r(x+1) :- e(x,k), e(x,j), k + 1 < j.\n",
           unary + "r(x) :- e(x,y), e(z,w), z + w = y + 50.\n",
           unary + "r(x) :- e(x,y), e(z,w), z + w > y + 50.\n",
           binary + "r(x,y) :- e(x,y), e(y,z), e(z,x).\n",
           binary + "r(x,y) :- e(x,y), e(y,z), e(z,w), w > x, x != z, e(x,v), v != y, v > z.\n",
           binary + "r(x,y) :- e(x,z), e(z,y), z < y, e(y,w), w != z, w != x, e(w,u), u < x.\n",
           binary + "r(x,y) :- e(x,y), x < 20.\nr(x,y) :- r(x,z), e(z,y), r(y,v), v != z, y < 40.\n",
           unary + "r(x) :- e(x,y), z = range(0, 30), z * 2 = y + 4.\n",
           unary + "r(x) :- e(x,y), e(y,z), z != x, n = count : { e(z,_) }, n > 2.\n",
       }) {
    SCOPED_TRACE(rules);
    const outcome all = run(rules, edges, GetParam(), false);
    const outcome first = run(rules, edges, GetParam(), true);
    EXPECT_EQ(first.rows, all.rows);
    EXPECT_FALSE(all.rows.empty());
    EXPECT_LE(first.candidates, all.candidates);
  }
}

TEST_P(first_matches, do_not_look_at_all_pairs_of_a_large_key) {
  const tuples edges = skewed(2000);
  const outcome multiple = run(unary + "r(x) :- e(x,k), e(x,j), k != j.\n", edges, GetParam(), true);
  EXPECT_GE(multiple.rows.size(), 1000U);
  EXPECT_LE(multiple.candidates, edges.size());
  const outcome path = run(binary + "r(x,y) :- e(x,y), e(y,z), e(z,w), w > x, z != x.\n", edges, GetParam(), true);
  EXPECT_LE(path.candidates, edges.size());
}

/// An order begins where the head's values come from, if the rest is only asked for.
TEST(first_match_plans, come_last) {
  const std::string inputs = ".input e\n.decl p(x:number)\n.input p\n.decl s(x:number)\n.input s\n";
  for (const std::string& rule : {"r(x) :- s(w), p(x), w > x.\n", "r(x) :- e(v,w), p(x), w > x, v > x.\n",
                                  "r(x) :- e(y,w), p(x), w < y, y < x.\n"}) {
    const analysed_text source(edges_only + inputs + unary + rule);
    const plan::program made = plan::make_plan(source.program);
    const plan::rule_version& version = made.strata.back().once.versions.front();
    const auto* const first = std::get_if<plan::scan>(&version.operations.front());
    ASSERT_NE(first, nullptr) << rule;
    EXPECT_EQ(made.relations[first->relation.value].name, "p") << rule;
    EXPECT_FALSE(version.first_matches.empty()) << rule;
  }
}

/// A rule that counts its bindings, or may end the program, sees all of them.
TEST(first_match_plans, leave_alone_what_can_be_seen) {
  for (const std::string& rules : {
           unary + "r(autoinc()) :- e(x,k), e(x,j), k != j.\n",
           unary + "r(x) :- e(x,k), e(x,j), k / j != 3.\n",
           binary + "r(x,j) :- e(x,k), e(x,j), k != j.\n",
           unary + "r(n) :- n = count : { e(x,k), e(x,j), k != j }.\n",
           unary + "r(n) :- n = count : { e(7,_) }.\n",
       }) {
    const analysed_text source(edges_only + rules);
    for (const plan::stratum& one : plan::make_plan(source.program).strata) {
      for (const plan::rule_version& version : one.once.versions) EXPECT_TRUE(version.first_matches.empty()) << rules;
    }
  }
}

}  // namespace
}  // namespace gpulog::exec
