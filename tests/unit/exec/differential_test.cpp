// Random programs against the naive evaluator, in every way of running them. GPULOG_RANDOM_PROGRAMS sets how many
// programs are tried, GPULOG_RANDOM_SEED the first seed; a failure prints seed, way and program.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "analysed_text.hpp"
#include "oracle/abandoning_plan.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "oracle/watched_plan.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

/// @return false when the program has no result to compare
bool compare(std::uint64_t seed, const oracle::random_program_options& shape, const std::vector<run_mode>& modes) {
  const std::string text = oracle::make_random_program(seed, shape).text;
  const analysed_text analysed_source(text);
  const sema::program& analysed = analysed_source.program;
  oracle::database expected(analysed);
  bool has_result = true;
  try {
    oracle::evaluate(analysed, expected);
  } catch (const oracle::evaluation_error&) {
    has_result = false;
  }
  for (const run_mode& mode : modes) {
    for (const bool makes_relations : {true, false}) {
      // Both are planned by turns: what the planner does alone is tested with the planner.
      if (makes_relations == ((seed + mode.threads) % 4 == 0)) continue;
      const plan::program plan = plan::make_plan(analysed, {}, {makes_relations});
      plan_run run(plan, mode);
      try {
        run->evaluate();
        EXPECT_TRUE(has_result) << "seed " << seed << ", " << mode << ": no fault in\n" << text;
      } catch (const evaluation_fault& fault) {
        EXPECT_FALSE(has_result) << "seed " << seed << ", " << mode << ": " << fault.what() << "\n" << text;
        continue;
      }
      for (std::uint32_t number = 0; has_result && number < analysed.relations.size(); ++number) {
        bool distinct = false;
        const tuples result = run.rows_of(relation_id(number), &distinct);
        EXPECT_TRUE(distinct) << "seed " << seed << ", " << mode << ", " << analysed.relations[number].name << "\n"
                              << text;
        EXPECT_EQ(result, expected[relation_id(number)])
            << "seed " << seed << ", " << mode << ", " << analysed.relations[number].name << "\n"
            << text;
      }
      if (::testing::Test::HasFailure()) return has_result;
    }
  }
  return has_result;
}

TEST(differential, random_programs) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(100000);
  const std::uint64_t count = oracle::programs_to_try(2000);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    // Shapes by turns: as it comes; wide tuples; deep layers over few facts. Some of each with equivalence relations.
    oracle::random_program_options shape;
    if (seed % 3 == 1) shape.largest_arity = 5;
    if (seed % 3 == 2) {
      shape.layers = 6;
      shape.most_facts = 8;
    }
    if (seed % 4 == 3) shape.equivalences = 50;
    // Three ways for each program, all of them over a few programs.
    const std::size_t turn = seed % all.size();
    const std::vector<run_mode> modes = {all[turn], all[(turn + 3) % all.size()], all[(turn + 7) % all.size()]};
    compared += compare(seed, shape, modes) ? 1 : 0;
  }
  std::printf("seeds %llu to %llu, %llu programs with results\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1), static_cast<unsigned long long>(compared));
  EXPECT_GT(compared, count / 2);
}

/// Returns recursive rules whose bodies are chains of binary atoms: steps of a chain may become relations.
std::string make_chain_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  constexpr const char* relations[] = {"e", "f", "r", "s"};
  std::string text;
  for (const char* const name : relations)
    text += std::string(".decl ") + name + "(x:number, y:number)\n.output " + name + "\n";
  const std::uint64_t values = 4 + below(7);
  for (const char* const base : {"e", "f"}) {
    for (std::uint64_t fact = below(16); fact != 0; --fact)
      text += std::string(base) + "(" + std::to_string(below(values)) + "," + std::to_string(below(values)) + ").\n";
  }
  text += "r(x,y) :- e(x,y).\ns(x,y) :- f(y,x).\n";
  for (std::uint64_t rule = 2 + below(3); rule != 0; --rule) {
    const std::uint64_t atoms = 3 + below(3);
    const std::uint64_t recursive = below(atoms);
    std::string body;
    for (std::uint64_t atom = 0; atom < atoms; ++atom) {
      const char* const relation = relations[atom == recursive ? 2 + below(2) : below(4)];
      std::string from = "v" + std::to_string(atom);
      std::string to = "v" + std::to_string(atom + 1);
      if (below(2) == 0) std::swap(from, to);
      body += (body.empty() ? "" : ", ") + std::string(relation) + "(" + from + "," + to + ")";
    }
    if (below(3) == 0) body += ", v0 != v" + std::to_string(atoms);
    if (below(4) == 0) body += ", !e(v1,v2)";
    text += std::string(relations[2 + below(2)]) + "(v0,v" + std::to_string(atoms) + ") :- " + body + ".\n";
  }
  return text;
}

/// Recursions whose supplementary relations are abandoned in the first iterations, later, or not at all.
TEST(differential, random_programs_whose_supplementary_relations_are_abandoned_release_only) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(500000);
  const std::uint64_t count = oracle::programs_to_try(400);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t abandoning = 0;
  std::uint64_t keeping = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = make_chain_program(seed);
    const analysed_text source(text);
    oracle::abandoning_plan planned(source.program, seed);
    oracle::database expected(source.program);
    oracle::evaluate(source.program, expected);
    const run_mode& mode = all[seed % all.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(mode) + "\n" + text);
    plan_run run(planned.plan(), mode, 0, planned.options_of_run());
    planned.watch(*run);
    run->evaluate();
    for (std::uint32_t number = 0; number < source.program.relations.size(); ++number) {
      bool distinct = false;
      EXPECT_EQ(run.rows_of(relation_id(number), &distinct), expected[relation_id(number)])
          << source.program.relations[number].name;
      EXPECT_TRUE(distinct) << source.program.relations[number].name;
    }
    ++(planned.abandoned() != 0 ? abandoning : keeping);
  }
  EXPECT_GT(abandoning, count / 8);
  EXPECT_GT(keeping, count / 8);
}

/// Recursions with relations that are restricted by demand, which are given up early, late, or not at all.
TEST(differential, random_programs_whose_restrictions_are_given_up_release_only) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(900000);
  const std::uint64_t count = oracle::programs_to_try(3000);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t given_up = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_random_program(seed, oracle::shape_of_restricted_programs(seed)).text;
    const analysed_text source(text);
    const plan::program plan = oracle::make_watched_plan(source.program, seed % 4 * 3);
    if (!oracle::is_watched(plan)) continue;
    oracle::database expected(source.program);
    try {
      oracle::evaluate(source.program, expected);
    } catch (const oracle::evaluation_error&) {
      continue;
    }
    for (const std::size_t turn : {seed % all.size(), (seed + 5) % all.size()}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(all[turn]) + "\n" + text);
      plan_run run(plan, all[turn]);
      run->evaluate();
      for (std::uint32_t number = 0; number < source.program.relations.size(); ++number) {
        bool distinct = false;
        EXPECT_EQ(run.rows_of(relation_id(number), &distinct), expected[relation_id(number)])
            << source.program.relations[number].name;
        EXPECT_TRUE(distinct) << source.program.relations[number].name;
      }
      const statistics& figures = run->figures();
      for (std::size_t s = 0; s < plan.strata.size(); ++s) {
        const plan::stratum& stratum = plan.strata[s];
        if (stratum.watch) ++(figures.strata[s].given_up ? given_up : kept);
        const bool is_meant = !stratum.only_if || stratum.only_if->given_up ==
                                                      figures.strata[stratum.only_if->stratum].given_up.has_value();
        EXPECT_EQ(figures.strata[s].was_run, is_meant);
      }
    }
  }
  std::printf("seeds %llu to %llu, %llu strata given up, %llu not\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1), static_cast<unsigned long long>(given_up),
              static_cast<unsigned long long>(kept));
  EXPECT_GT(given_up, count / 30);
  EXPECT_GT(kept, count / 30);
}

/// The paper's points-to analysis, whose restriction is given up after any number of iterations.
TEST(differential, points_to_analyses_that_give_up_at_any_time_release_only) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::string rules =
      ".decl vf(x:number, y:number)\n.decl va(x:number, y:number)\n.decl ma(x:number, y:number)\n"
      "vf(y,x) :- e(y,x).\nvf(x,x) :- e(x,_).\nvf(x,x) :- e(_,x).\nma(x,x) :- e(_,x).\nma(x,x) :- e(x,_).\n"
      "vf(x,y) :- vf(x,z), vf(z,y).\nva(x,y) :- vf(z,x), vf(z,y).\nvf(x,y) :- e(x,z), ma(z,y).\n"
      "ma(x,w) :- d(y,x), va(y,z), d(z,w).\nva(x,y) :- vf(z,x), ma(z,w), vf(w,y).\n";
  std::set<std::uint64_t> iterations;  // of strata that were given up
  for (std::uint64_t seed = 1; seed <= oracle::fewer_when_sanitized(12) && !HasFailure(); ++seed) {
    std::string text;
    for (const auto& [name, edges] : {std::pair("e", 45), std::pair("d", 8)}) {
      text += std::string(".decl ") + name + "(x:number, y:number)\n";
      for (const auto& [x, y] : oracle::make_random_graph(seed, 40, static_cast<std::uint32_t>(edges))) {
        text += name + ("(" + std::to_string(x) + "," + std::to_string(y)) + ").\n";
      }
    }
    const analysed_text source(text + rules);
    oracle::database expected(source.program);
    oracle::evaluate(source.program, expected);
    for (const run_mode& mode : all_run_modes()) {
      for (const std::uint64_t least_rows : {0, 200, 400, 800}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(mode) + ", rows " + std::to_string(least_rows));
        const plan::program plan = oracle::make_watched_plan(source.program, least_rows);
        plan_run run(plan, mode);
        run->evaluate();
        for (std::uint32_t number = 0; number < source.program.relations.size(); ++number) {
          EXPECT_EQ(run.rows_of(relation_id(number)), expected[relation_id(number)])
              << source.program.relations[number].name;
        }
        for (const stratum_statistics& stratum : run->figures().strata) {
          if (stratum.given_up) iterations.insert(stratum.iterations);
        }
      }
    }
  }
  EXPECT_GE(iterations.size(), 3U);
}

}  // namespace
}  // namespace gpulog::exec
