// Rules that join a relation without tuples: they are not run, and no index is kept for them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

struct rule_work {
  std::uint64_t rows = 0;
  std::uint64_t runs_of_none = 0;  ///< of rules that read `none`
  std::uint64_t indexes_of_r = 0;  ///< refreshes
};

/// A path of 100 edges in e. @param last_atom of the rule that joins r with itself
rule_work run(const std::string& last_atom, bool has_none) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"rows", "loop"}, {"supplementary", "off"}};
  engine running(program::from_text(".decl e(x:number, y:number)\n.decl none(x:number, y:number)\n"
                                    ".decl r(x:number, y:number)\n"
                                    "r(x,y) :- e(x,y).\n"
                                    "r(x,z) :- r(x,y), e(y,z).\n"
                                    "r(x,z) :- r(x,y), r(y,z), " +
                                    last_atom + ".\n"),
                 options);
  relation edges = running.relation("e");
  for (std::int32_t i = 0; i < 100; ++i) edges.insert({i, i + 1});
  if (has_none) running.relation("none").insert({1000, 1001});
  running.evaluate();
  rule_work found;
  found.rows = running.relation("r").size();
  for (const stratum_statistics& stratum : running.figures().strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.rule.find("none") != std::string::npos) found.runs_of_none += rule.runs;
    }
    for (const index_statistics& index : stratum.indexes)
      found.indexes_of_r += index.relation == "r" ? index.refreshes : 0;
  }
  return found;
}

TEST(void_rules, are_not_run) {
  for (const char* const atom : {"none(x,z)", "none(_,_)", "none(z,_)"}) {
    SCOPED_TRACE(atom);
    const rule_work found = run(atom, false);
    EXPECT_EQ(found.rows, 5050U);
    EXPECT_EQ(found.runs_of_none, 0U);
    EXPECT_EQ(found.indexes_of_r, 0U);
  }
}

TEST(void_rules, need_a_tuple_of_each_relation) {
  EXPECT_GT(run("none(x,z)", true).runs_of_none, 0U);
  const rule_work negated = run("!none(x,z)", false);
  EXPECT_EQ(negated.rows, 5050U);
  EXPECT_GT(negated.runs_of_none, 0U);
  EXPECT_GT(negated.indexes_of_r, 0U);
  EXPECT_GT(run("c = count : { none(_,_) }, c = 0", false).runs_of_none, 0U);
}

/// Runs of rules with this head.
std::uint64_t runs_of(const engine& running, const std::string& head) {
  std::uint64_t runs = 0;
  for (const stratum_statistics& stratum : running.figures().strata) {
    for (const rule_statistics& rule : stratum.rules) runs += rule.rule.starts_with(head) ? rule.runs : 0;
  }
  return runs;
}

/// Strategies of strata that have rules with this head.
std::vector<std::string> strategies_of(const engine& running, const std::string& head) {
  std::vector<std::string> strategies;
  for (const stratum_statistics& stratum : running.figures().strata) {
    const bool is_meant = std::any_of(stratum.rules.begin(), stratum.rules.end(),
                                      [&](const rule_statistics& rule) { return rule.rule.starts_with(head); });
    if (is_meant) strategies.insert(strategies.end(), stratum.strategies.begin(), stratum.strategies.end());
  }
  return strategies;
}

/// Returns the sum of a figure over the rules with this head.
std::uint64_t sum_of(const engine& running, const std::string& head, std::uint64_t rule_statistics::*figure) {
  std::uint64_t sum = 0;
  for (const stratum_statistics& stratum : running.figures().strata) {
    for (const rule_statistics& rule : stratum.rules) sum += rule.rule.starts_with(head) ? rule.*figure : 0;
  }
  return sum;
}

/// Rows that rules with this head derived.
std::uint64_t rows_of(const engine& running, const std::string& head) {
  return sum_of(running, head, &rule_statistics::tuples);
}

TEST(void_rules, need_no_step) {
  run_options options;
  options.backend = backend_kind::cpu;
  engine running(program::from_text(".decl base(x:number, y:number)\n.decl wider(y:number, z:number)\n"
                                    ".decl none(z:number, w:number)\n.decl r(x:number, y:number)\n"
                                    "r(x,y) :- base(x,y).\n"
                                    "r(x,w) :- r(x,y), wider(y,z), none(z,w).\n"),
                 options);
  for (std::int32_t i = 0; i < 100; ++i) {
    running.relation("base").insert({i, i % 10});
    for (std::int32_t k = 0; k < 5; ++k) running.relation("wider").insert({i % 10, (i + k) % 20});
  }
  running.evaluate();
  EXPECT_EQ(running.relation("r").size(), 100U);
  EXPECT_EQ(runs_of(running, "r@1("), 0U);
  // The engine continues with a tuple that the rule needs: the step is not taken for complete.
  running.relation("none").insert({13, 50});
  running.evaluate();
  EXPECT_EQ(running.relation("r").size(), 100U + 50U);
  EXPECT_GT(runs_of(running, "r@1("), 0U);
}

/// A step of the full rule of a restricted relation: r@2, of sources * targets rows, for a rule that derives one tuple
/// for each source.
class restricted_step {
 public:
  restricted_step(std::int32_t sources, std::int32_t targets, const char* reoptimization, const char* rows = "off",
                  std::uint32_t jobs = 1)
      : running_(program::from_text(".decl e(x:number, y:number)\n.decl g(x:number, y:number)\n"
                                    ".decl c(x:number, y:number)\n.decl d(x:number, y:number)\n"
                                    ".decl f(x:number, y:number)\nf(x,y) :- e(x,y).\n"
                                    "f(x,y) :- d(x,_), r(x,y), d(y,_).\n"
                                    ".decl r(x:number, y:number)\nr(x,y) :- f(z,x), g(z,w), c(w,y).\n"),
                 options_with(reoptimization, rows, jobs)) {
    for (std::int32_t i = 0; i < sources; ++i) running_.relation("e").insert({1, 1000 + i});
    for (std::int32_t i = 0; i < targets; ++i) running_.relation("g").insert({1, 2000 + i});
    running_.relation("c").insert({2000, 1000});
    running_.relation("d").insert({1000, 0});
    running_.evaluate();
  }
  engine& operator*() { return running_; }

 private:
  static run_options options_with(const char* reoptimization, const char* rows, unsigned jobs) {
    run_options options;
    options.jobs = jobs;
    options.backend = backend_kind::cpu;
    options.tuning = {
        {"magic-sets", "on"}, {"reoptimization", reoptimization}, {"dense-domain-encoding", "on"}, {"rows", rows}};
    return options;
  }

  engine running_;
};

TEST(steps_behind_a_recursion, run_to_their_end_within_the_budget) {
  restricted_step run(50, 50, "on");
  EXPECT_EQ((*run).relation("f").size(), 51U);
  EXPECT_EQ((*run).relation("r").size(), 50U);
  EXPECT_EQ(runs_of(*run, "r@2("), 1U);
  EXPECT_EQ(rows_of(*run, "r@2("), 2500U);
}

/// The step would have 250,000 rows. 2^21 bindings, 17 for each row, allow about 123,000.
TEST(steps_behind_a_recursion, are_abandoned_beyond_the_budget) {
  for (const char* const reoptimization : {"on", "auto", "off"}) {
    SCOPED_TRACE(reoptimization);
    restricted_step run(500, 500, reoptimization);
    EXPECT_EQ((*run).relation("f").size(), 501U);
    EXPECT_EQ((*run).relation("r").size(), 500U);
    EXPECT_EQ(runs_of(*run, "r@2("), 1U);
    EXPECT_LT(rows_of(*run, "r@2("), 130'000U);
    EXPECT_EQ(runs_of(*run, "r("), 1U);
    (*run).relation("c").insert({2001, 7});
    (*run).evaluate();
    EXPECT_EQ((*run).relation("f").size(), 501U);
    EXPECT_EQ((*run).relation("r").size(), 1000U);
  }
}

TEST(steps_behind_a_recursion, run_row_wise_within_the_budget) {
  restricted_step run(1000, 60, "auto", "auto");
  EXPECT_EQ((*run).relation("f").size(), 1001U);
  EXPECT_EQ((*run).relation("r").size(), 1000U);
  EXPECT_EQ(strategies_of(*run, "r@2("), std::vector<std::string>{"row-wise-evaluation"});
  EXPECT_EQ(rows_of(*run, "r@2("), 60'000U);
}

/// The step would have 2,000,000 rows, and 16 bindings for each.
TEST(steps_behind_a_recursion, are_abandoned_beyond_the_budget_row_by_row) {
  for (const std::uint32_t jobs : {1U, 3U}) {
    restricted_step run(2000, 1000, "auto", "auto", jobs);
    EXPECT_EQ((*run).relation("f").size(), 2001U);
    EXPECT_EQ((*run).relation("r").size(), 2000U);
    EXPECT_EQ(runs_of(*run, "r@2("), 0U);
    EXPECT_EQ(runs_of(*run, "r("), 1U);
  }
}

/// Steps of a path of 800 edges to a node with 800 successors: no duplicates, and about one row per row for the
/// readers. The planner expects more of the successors.
TEST(steps_of_a_recursion, that_save_nothing_are_abandoned) {
  const auto run = [](const char* supplementary) {
    run_options options;
    options.backend = backend_kind::cpu;
    options.tuning = {{"supplementary", supplementary}};
    auto running = std::make_unique<engine>(
        program::from_text(".decl edge(x:number, y:number)\n.decl p(x:number, y:number)\np(x,y) :- edge(x,y).\n"
                           "p(x,w) :- p(x,y), edge(y,z), edge(z,v), edge(v,w).\n"),
        options);
    for (std::int32_t i = 0; i < 800; ++i) {
      running->relation("edge").insert({i, i + 1});
      running->relation("edge").insert({800, 1000 + i});
    }
    running->evaluate();
    return running;
  };
  const auto kept = run("on");
  const auto bounded = run("auto");
  EXPECT_EQ(kept->relation("p").size(), 320'667U);
  EXPECT_EQ(bounded->relation("p").size(), 320'667U);
  EXPECT_GT(rows_of(*kept, "p@1("), 300'000U);
  EXPECT_GT(rows_of(*bounded, "p@1("), 0U);
  EXPECT_LT(rows_of(*bounded, "p@1("), 150'000U);
}

/// A step with 3,061 rows after the first iteration, which readers have read, and 180,000 further rows in the second
/// iteration. Without the step, 3,000 sources lead to 60 * 60 pairs of targets each.
TEST(steps_of_a_recursion, that_save_work_are_kept_while_they_grow) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"magic-sets", "off"}};
  engine running(
      program::from_text(".decl e(x:number, y:number)\n.decl p(x:number, y:number)\n.decl m(x:number, y:number)\n"
                         ".decl r(x:number, y:number)\np(x,y) :- e(x,y).\nm(x,x) :- e(x,_).\nm(x,x) :- e(_,x).\n"
                         "p(x,y) :- p(x,z), p(z,y).\np(x,y) :- e(x,z), m(z,y).\n"
                         "r(x,y) :- p(z,x), m(z,w), p(w,y).\nm(x,y) :- r(x,y), x < 0.\n"),
      options);
  for (std::int32_t i = 0; i < 3000; ++i) running.relation("e").insert({1000 + i, 0});
  for (std::int32_t i = 0; i < 60; ++i) running.relation("e").insert({0, 100 + i});
  running.evaluate();
  EXPECT_EQ(running.relation("p").size(), 183'060U);
  EXPECT_EQ(running.relation("r").size(), 3721U);
  // A run over its budget counts for nothing, and runs again.
  EXPECT_EQ(sum_of(running, "r@1(", &rule_statistics::candidates), 183'060U);
}

/// A step that reads 1,199 rows in the first iteration and 334,841 in the second, where preparing them for row-wise
/// evaluation exceeds the free bindings. Without the step, the second iteration joins 10^11 rows.
TEST(steps_of_a_recursion, are_kept_if_their_delta_grows_release_only) {
  run_options options;
  options.backend = backend_kind::cpu;
  engine running(program::from_text(".decl hub(x:number, y:number)\n.decl spoke(x:number, y:number)\n"
                                    ".decl p(x:number, y:number)\np(x,y) :- hub(x,y).\n"
                                    "p(v,z) :- p(v,w), p(w,x), p(y,x), spoke(y,z).\n"),
                 options);
  for (std::int32_t i = 0; i < 600; ++i) running.relation("hub").insert({i, 0});
  for (std::int32_t i = 1; i < 600; ++i) running.relation("hub").insert({0, i});
  for (std::int32_t i = 0; i < 560; ++i) running.relation("spoke").insert({0, i});
  running.evaluate();
  EXPECT_EQ(running.relation("p").size(), 336'040U);
  EXPECT_GT(rows_of(running, "p@1("), 200'000U);
}

}  // namespace
}  // namespace gpulog
