// Figures of a run about the steps of rules, compared with rows counted by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog {
namespace {

struct figures_way {
  unsigned jobs;
  storage_kind storage;
};
constexpr figures_way ways[] = {{1, storage_kind::automatic}, {4, storage_kind::automatic}, {1, storage_kind::hash},
                                {4, storage_kind::hash},      {1, storage_kind::bits},      {4, storage_kind::words},
                                {1, storage_kind::hisa},      {4, storage_kind::hisa}};

run_options options_of(const figures_way& chosen) {
  run_options options;
  options.jobs = chosen.jobs;
  options.storage = chosen.storage;
  options.backend = backend_kind::cpu;
  options.count_rows = true;
  options.output_directory = "";
  return options;
}

statistics figures_of(const std::string& text, const run_options& options) {
  const program source = program::from_text(text);
  EXPECT_TRUE(source.ok()) << source.report();
  engine run(source, options);
  run.evaluate();
  return run.figures();
}

/// Returns the only rule with the given text and delta atom.
const rule_statistics& rule_of(const statistics& figures, const std::string& head, int delta_atom = -1) {
  for (const stratum_statistics& stratum : figures.strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.rule.starts_with(head) && rule.delta_atom == delta_atom) return rule;
    }
  }
  throw std::runtime_error("no rule " + head);
}

const operator_statistics& operator_of(const rule_statistics& rule, const std::string& text) {
  for (const operator_statistics& one : rule.operators) {
    if (one.text.starts_with(text)) return one;
  }
  throw std::runtime_error("no operator " + text);
}

using count = std::optional<std::uint64_t>;

constexpr const char* joins = R"(
.decl edge(x:number, y:number)
edge(1,2). edge(2,3). edge(3,4). edge(1,3). edge(2,4).
.decl mark(x:number)
mark(3).
.decl two(x:number, y:number, z:number)
two(x,y,z) :- edge(x,y), edge(y,z), z != 3, !mark(y).
.decl degree(x:number, n:number)
degree(x,n) :- edge(x,_), n = count : { edge(x,y), y != 3 }, n > 0.
.output two, degree
)";

TEST(plan_figures, rows_of_a_join) {
  for (const figures_way& one : ways) {
    const statistics figures = figures_of(joins, options_of(one));
    const rule_statistics& rule = rule_of(figures, "two(");
    EXPECT_EQ(rule.strategy, "pipelines");
    // z != 3 leaves 1-2, 3-4 and 2-4; !mark(y) removes 3-4; only 2 has an incoming edge.
    EXPECT_EQ(operator_of(rule, "for edge").rows, count(5));
    EXPECT_EQ(operator_of(rule, "if z != 3").rows, count(3));
    EXPECT_EQ(operator_of(rule, "if not mark").rows, count(2));
    EXPECT_EQ(operator_of(rule, "for edge").passed_on, count(2));
    EXPECT_EQ(operator_of(rule, "match edge").rows, count(1));
    EXPECT_EQ(operator_of(rule, "match edge").passed_on, count(1));
    EXPECT_EQ(operator_of(rule, "insert").rows, count(1));
    EXPECT_EQ(rule.candidates, 1U);
  }
}

TEST(plan_figures, rows_behind_an_aggregate) {
  for (const figures_way& one : ways) {
    const rule_statistics rule = rule_of(figures_of(joins, options_of(one)), "degree(");
    // Two edges start at 1, two at 2, one at 3; each start has an edge to a node other than 3.
    EXPECT_EQ(operator_of(rule, "let n = count").rows, count(5));
    EXPECT_EQ(operator_of(rule, "insert").rows, count(5));
    EXPECT_EQ(operator_of(rule, "match edge").expected, std::nullopt);
  }
}

TEST(plan_figures, rows_of_a_search_of_the_smallest_relation) {
  for (const figures_way& one : ways) {
    const statistics figures = figures_of(R"(
.decl e(x:number, y:number)
e(1,2). e(2,3). e(1,3). e(3,4). e(2,4).
.decl triangle(x:number, y:number, z:number)
triangle(x,y,z) :- e(x,y), e(y,z), e(x,z).
.output triangle
)",
                                          options_of(one));
    const rule_statistics& rule = rule_of(figures, "triangle(");
    // The search reads 2 rows for 1-2, one row for 2-3 and 1-3, and none for the other edges.
    EXPECT_EQ(operator_of(rule, "for e").rows, count(5));
    EXPECT_EQ(operator_of(rule, "match e").rows, count(4)) << operator_of(rule, "match e").text;
    EXPECT_EQ(operator_of(rule, "match e").passed_on, count(2));
    EXPECT_EQ(operator_of(rule, "if e").rows, count(2));
    EXPECT_EQ(operator_of(rule, "insert").rows, count(2));
  }
}

constexpr const char* chain = R"(
.decl edge(x:number, y:number)
edge(1,2). edge(2,3). edge(3,4).
.decl path(x:number, y:number)
path(x,y) :- edge(x,y).
path(x,z) :- path(x,y), edge(y,z).
.output path
)";

TEST(plan_figures, rows_of_a_recursion) {
  for (const figures_way& one : ways) {
    run_options options = options_of(one);
    options.tuning = {{"rows", "off"}};
    const statistics figures = figures_of(chain, options);
    const rule_statistics& rule = rule_of(figures, "path(x,z)", 0);
    // Deltas of 3, 2 and 1 tuples derive 2, 1 and 0 tuples.
    EXPECT_EQ(rule.runs, 3U);
    EXPECT_EQ(operator_of(rule, "for path").rows, count(6));
    EXPECT_EQ(operator_of(rule, "match edge").rows, count(3));
    EXPECT_EQ(operator_of(rule, "insert").rows, count(3));
  }
}

TEST(plan_figures, rows_of_many_workers) {
  constexpr int size = 20000;
  constexpr int groups = 10;
  for (const figures_way& one : ways) {
    const program source = program::from_text(R"(
.decl big(x:number, y:number)
.decl small(y:number, z:number)
.decl joined(x:number, y:number, z:number)
joined(x,y,z) :- big(x,y), small(y,z), z != 1.
.output joined
)",
                                              {.filled_relations = {"big", "small"}});
    engine run(source, options_of(one));
    for (int x = 0; x < size; ++x) run.relation("big").insert({x, x % groups});
    for (int y = 0; y < groups; ++y) {
      for (int z = 0; z < 3; ++z) run.relation("small").insert({y, z});
    }
    run.evaluate();
    const rule_statistics& rule = rule_of(run.figures(), "joined(");
    EXPECT_EQ(operator_of(rule, "insert").rows, count(2 * size));
    EXPECT_EQ(rule.candidates, 2U * size);
    const operator_statistics& first = rule.operators.front();
    EXPECT_EQ(first.rows, first.text.starts_with("for big") ? count(size) : count(3 * groups));
  }
}

TEST(plan_figures, other_strategies_count_no_rows) {
  const statistics searched = figures_of(chain, options_of({1, storage_kind::automatic}));
  const rule_statistics& loop = rule_of(searched, "path(x,z)", 0);
  EXPECT_EQ(loop.strategy, "search");
  for (const operator_statistics& one : loop.operators) EXPECT_EQ(one.rows, std::nullopt);
  EXPECT_EQ(operator_of(rule_of(searched, "path(x,y)"), "insert").rows, count(3));

  run_options options = options_of({1, storage_kind::automatic});
  options.tuning = {{"rows", "on"}};
  // The comparison of the source leaves no equations but those of the version.
  const statistics row_wise =
      figures_of(std::regex_replace(chain, std::regex("edge\\(y,z\\)\\."), "edge(y,z), x < z."), options);
  EXPECT_EQ(rule_of(row_wise, "path(x,z)", 0).strategy, "row-wise-evaluation");
  for (const operator_statistics& one : rule_of(row_wise, "path(x,z)", 0).operators) EXPECT_EQ(one.rows, std::nullopt);
}

/// Has more rows than a device runs in one kernel together with other versions.
statistics figures_of_wide_joins(const run_options& options) {
  constexpr int size = 6000;
  const program source = program::from_text(R"(
.decl big(x:number, y:number)
.decl small(y:number, z:number)
.decl tested(x:number, y:number, z:number)
tested(x,y,z) :- big(x,y), small(y,z), z != 1.
.decl chained(x:number, z:number, w:number)
chained(x,z,w) :- big(x,y), small(y,z), z != 1, small(z,w).
.decl computed(x:number, z:number)
computed(x,z*2) :- big(x,y), small(y,z).
.decl counted(x:number, n:number)
counted(x,n) :- big(x,y), n = count : { small(y,_) }.
.output tested, chained, computed, counted
)",
                                            {.filled_relations = {"big", "small"}});
  EXPECT_TRUE(source.ok()) << source.report();
  engine run(source, options);
  for (int x = 0; x < size; ++x) run.relation("big").insert({x, x});
  for (int y = 0; y < size; ++y) {
    for (int z = 0; z < 3; ++z) run.relation("small").insert({y, z});
  }
  run.evaluate();
  return run.figures();
}

TEST(plan_figures, rows_on_a_device) {
  if (!has_device()) GTEST_SKIP() << "no device";
  for (const storage_kind storage : {storage_kind::automatic, storage_kind::hash}) {
    run_options options = options_of({1, storage});
    options.backend = backend_kind::gpu;
    options.tuning = {{"rows", "off"}};
    const statistics figures = figures_of_wide_joins(options);
    const rule_statistics& tested = rule_of(figures, "tested(");
    EXPECT_EQ(tested.counted_runs, 1U);
    EXPECT_EQ(operator_of(tested, "for big").rows, count(6000));
    EXPECT_EQ(operator_of(tested, "match small").rows, count(18000));
    // Rows that pass a test after the last search are offered at once and not counted.
    EXPECT_EQ(operator_of(tested, "if z").rows, std::nullopt);
    EXPECT_EQ(operator_of(tested, "insert").rows, std::nullopt);

    EXPECT_NE(explain(figures).find("candidates 18,000 before its last tests"), std::string::npos);

    const rule_statistics& chained = rule_of(figures, "chained(");
    EXPECT_EQ(operator_of(chained, "match small[y]").rows, count(18000));
    EXPECT_EQ(operator_of(chained, "match small[y]").passed_on, count(12000));
    EXPECT_EQ(operator_of(chained, "if z").rows, count(12000));
    EXPECT_EQ(operator_of(chained, "match small[z]").rows, count(36000));
    EXPECT_EQ(operator_of(chained, "insert").rows, count(36000));

    EXPECT_EQ(operator_of(rule_of(figures, "computed("), "insert").rows, count(18000));
  }
}

TEST(plan_figures, a_device_counts_what_a_cpu_counts) {
  if (!has_device()) GTEST_SKIP() << "no device";
  run_options options = options_of({1, storage_kind::hash});
  options.tuning = {{"rows", "off"}};
  const statistics on_cpu = figures_of_wide_joins(options);
  options.backend = backend_kind::gpu;
  const statistics on_device = figures_of_wide_joins(options);
  std::size_t compared = 0;
  for (const char* const head : {"tested(", "chained(", "computed(", "counted("}) {
    const rule_statistics& expected = rule_of(on_cpu, head);
    const rule_statistics& rule = rule_of(on_device, head);
    ASSERT_EQ(rule.plan, expected.plan) << head;
    for (std::size_t i = 0; i < rule.operators.size(); ++i) {
      const bool is_in_aggregate = !rule.operators[i].expected.has_value();
      if (is_in_aggregate || !rule.operators[i].rows) continue;
      EXPECT_EQ(rule.operators[i].rows, expected.operators[i].rows) << head << " " << rule.operators[i].text;
      ++compared;
    }
  }
  EXPECT_GE(compared, 12U);
}

TEST(plan_figures, a_device_tells_which_runs_were_counted) {
  if (!has_device()) GTEST_SKIP() << "no device";
  for (const storage_kind storage : {storage_kind::automatic, storage_kind::hash, storage_kind::hisa}) {
    run_options options = options_of({1, storage});
    options.backend = backend_kind::gpu;
    for (const stratum_statistics& stratum : figures_of(chain, options).strata) {
      for (const rule_statistics& rule : stratum.rules) {
        EXPECT_LE(rule.counted_runs, rule.runs);
        EXPECT_EQ(rule.strategy == "pipelines", rule.counted_runs == rule.runs) << rule.rule;
        if (rule.counted_runs > 0 || rule.runs == 0) continue;
        for (const operator_statistics& one : rule.operators) EXPECT_EQ(one.rows, std::nullopt) << rule.rule;
      }
    }
  }
}

TEST(plan_figures, not_counted_unless_asked_for) {
  run_options options = options_of({1, storage_kind::automatic});
  options.count_rows = false;
  const statistics figures = figures_of(joins, options);
  for (const operator_statistics& one : rule_of(figures, "two(").operators) EXPECT_EQ(one.rows, std::nullopt);
}

TEST(plan_figures, indexes_are_charged_to_rules) {
  for (const figures_way& one : ways) {
    run_options options = options_of(one);
    options.tuning = {{"rows", "off"}};
    std::size_t indexes = 0;
    for (const stratum_statistics& stratum : figures_of(std::string(joins) + R"(
.decl path(x:number, y:number)
path(x,y) :- edge(x,y).
path(x,z) :- path(x,y), path(y,z).
.output path
)",
                                                        options)
                                                 .strata) {
      double of_rules = 0;
      for (const rule_statistics& rule : stratum.rules) of_rules += rule.index_seconds;
      for (const phase_statistics& phase : stratum.phases) {
        if (phase.name == "index") EXPECT_NEAR(of_rules, phase.seconds, 1e-9);
      }
      for (const index_statistics& index : stratum.indexes) {
        ++indexes;
        ASSERT_LT(index.rule, stratum.rules.size());
        EXPECT_GT(index.refreshes, 0U);
        EXPECT_LE(index.key_columns, index.columns.size());
        EXPECT_GT(index.rules, 0U);
        EXPECT_TRUE(index.seconds.has_value());
        const std::vector<std::string>& plan = stratum.rules[index.rule].plan;
        EXPECT_TRUE(std::any_of(plan.begin(), plan.end(), [&](const std::string& line) {
          return line.find(index.relation + "[") != std::string::npos;
        })) << index.relation;
      }
    }
    EXPECT_GT(indexes, 1U);
  }
}

/// A rule that joins b and c, whose sizes are unknown before the run: one relation has 40 rows per key.
statistics figures_of_computed(const std::string& wide, const std::string& narrow) {
  const program source = program::from_text(R"(
.decl ra(x:number, y:number)
.decl rb(x:number, y:number)
.decl rc(x:number, y:number)
.decl a(x:number, y:number)
a(x,y*3) :- ra(x,y).
.decl b(x:number, y:number)
b(x*3,y*5) :- )" + wide + R"((x,y).
.decl c(x:number, y:number)
c(x*3,y*7) :- )" + narrow + R"((x,y).
.decl o(x:number, y:number, z:number)
o(x,y,z) :- a(x,k), b(k,y), c(k,z).
.output o
)",
                                            {.filled_relations = {"ra", "rb", "rc"}});
  EXPECT_TRUE(source.ok()) << source.report();
  run_options options = options_of({1, storage_kind::hash});
  options.tuning = {{"reoptimization", "on"}};
  engine run(source, options);
  for (int k = 0; k < 40; ++k) {
    run.relation("ra").insert({k, k});
    for (int y = 0; y < 40; ++y) {
      run.relation("rb").insert({k, y});
      run.relation("rc").insert({k * 40 + y, y});
    }
  }
  run.evaluate();
  return run.figures();
}

TEST(plan_figures, both_plans_where_joins_are_ordered_again) {
  std::size_t reordered = 0;
  for (const statistics& figures : {figures_of_computed("rb", "rc"), figures_of_computed("rc", "rb")}) {
    const rule_statistics& rule = rule_of(figures, "o(");
    // 40 rows of one relation, each with one row of the other relation.
    EXPECT_EQ(operator_of(rule, "insert").rows, count(1600));
    const bool is_reordered = !rule.earlier_plans.empty();
    EXPECT_EQ(figures.reordered_versions, is_reordered ? 1U : 0U);
    if (is_reordered) {
      EXPECT_NE(rule.earlier_plans[0].plan, rule.plan);
      EXPECT_EQ(rule.earlier_plans[0].runs, 0U);  // planned again before the stratum
      EXPECT_EQ(rule.earlier_plans[0].bindings, 0U);
    }
    reordered += is_reordered ? 1 : 0;
    const stratum_statistics& stratum = figures.strata.back();
    for (const size_statistics& size : stratum.sizes) {
      EXPECT_TRUE(size.known_later.has_value()) << size.relation;
      EXPECT_FALSE(size.was_counted) << size.relation;
      if (size.relation == "a") EXPECT_EQ(size.known_later, 40);
    }
    EXPECT_EQ(explain(figures).find("before it was ordered again (0 of 1 runs, 0 of ") != std::string::npos,
              is_reordered);
  }
  EXPECT_GE(reordered, 1U);
}

/// A recursion in which t1 gets many rows per value in late iterations.
statistics figures_of_growth(unsigned jobs) {
  const program source = program::from_text(R"(
.decl g0(s:number, a:number, b:number)
.decl g1(s:number, a:number, c:number)
.decl f(b:number, c:number)
.decl clock(s:number)
clock(0).
clock(s + 1) :- clock(s), s < 20.
clock(s) :- o(s,_,_,_), s < 0.
.decl t0(a:number, b:number)
t0(a,b) :- clock(s), g0(s,a,b).
.decl t1(a:number, c:number)
t1(a,c) :- clock(s), g1(s,a,c).
.decl o(s:number, a:number, b:number, c:number)
o(s,a,b,c) :- clock(s), t0(a,b), t1(a,c), f(b,c).
.output o
)",
                                            {.filled_relations = {"g0", "g1", "f"}});
  EXPECT_TRUE(source.ok()) << source.report();
  run_options options = options_of({jobs, storage_kind::hash});
  options.tuning = {{"reoptimization", "on"}};
  engine run(source, options);
  for (int a = 0; a < 10; ++a) {
    for (int b = 0; b < 8; ++b) run.relation("g0").insert({0, a, a * 8 + b});
    run.relation("g1").insert({0, a, a});
    for (int c = 0; c < 300; ++c) run.relation("g1").insert({8 + c % 8, a, 100 + c});
  }
  for (int b = 0; b < 80; ++b) {
    for (int c = 0; c < 4; ++c) run.relation("f").insert({b, (b * 7 + c * 31) % 400});
  }
  run.evaluate();
  return run.figures();
}

TEST(plan_figures, orders_do_not_depend_on_threads) {
  const statistics first = figures_of_growth(1);
  const statistics second = figures_of_growth(4);
  EXPECT_GE(first.reordered_versions, 1U);
  EXPECT_EQ(first.reordered_versions, second.reordered_versions);
  ASSERT_EQ(first.strata.size(), second.strata.size());
  for (std::size_t stratum = 0; stratum < first.strata.size(); ++stratum) {
    ASSERT_EQ(first.strata[stratum].rules.size(), second.strata[stratum].rules.size());
    for (std::size_t rule = 0; rule < first.strata[stratum].rules.size(); ++rule) {
      const rule_statistics& one = first.strata[stratum].rules[rule];
      EXPECT_EQ(one.plan, second.strata[stratum].rules[rule].plan) << one.rule;
      const std::vector<earlier_plan>& others = second.strata[stratum].rules[rule].earlier_plans;
      ASSERT_EQ(one.earlier_plans.size(), others.size()) << one.rule;
      for (std::size_t i = 0; i < others.size(); ++i) {
        EXPECT_EQ(one.earlier_plans[i].plan, others[i].plan) << one.rule;
        EXPECT_EQ(one.earlier_plans[i].runs, others[i].runs) << one.rule;
        EXPECT_LE(one.earlier_plans[i].bindings, one.bindings) << one.rule;
      }
    }
  }
}

/// Removes times and the bytes of indexes.
std::string without_measures(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex("[0-9]+\\.[0-9]{6} s"), "TIME"),
                            std::regex("[0-9,]+ bytes"), "BYTES");
}

TEST(plan_figures, explained) {
  run_options options = options_of({1, storage_kind::hash});
  options.tuning = {{"rows", "off"}};
  EXPECT_EQ(without_measures(explain(figures_of(chain, options))), R"(stratum 1: path (recursive)
  time TIME on cpu; iterations 3; strategies: versions, loop
  tuples when planned: edge 3, path ~30
  path(x,y) :- edge(x,y).
    program.dl [5:1-5:24]
    runs 1, candidates 3, new 3, duplicates 0, time TIME
    order: only atom to start from
          rows   expected    off
             3         ~3         for edge(x,y)
             3         ~3           insert path(x,y)
  path(x,z) :- path(x,y), edge(y,z).
    program.dl [6:1-6:35]; atom 1 reads new tuples only
    runs 3, candidates 3, new 3, duplicates 0, time TIME, indexes TIME
    order: delta first, then by fan-out; cost ~14
          rows   expected    off
             6         ~9         for path(x,y) in delta
             3        ~16           match edge[y] -> z  (index 0: 0,1)
             3        ~16             insert path(x,z)
  index 0 of edge by x,y: TIME, BYTES, first needed by program.dl [6:1-6:35]

rows: what came out of each step in all runs; expected: by the planner's guess, times the runs;
off: more than 10 times as many rows as expected (x) or as few (/)
load TIME, evaluate TIME, write TIME, total TIME
)");
}

TEST(plan_figures, explained_lines_are_short) {
  for (const char* const text : {joins, chain}) {
    std::istringstream lines(explain(figures_of(text, options_of({1, storage_kind::automatic}))));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

}  // namespace
}  // namespace gpulog
