// Random programs against the naive evaluator, with every strategy and storage. GPULOG_RANDOM_PROGRAMS sets the number
// of programs, GPULOG_RANDOM_SEED the first seed; a failure prints seed, options and program.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "analysed_text.hpp"
#include "oracle/abandoning_plan.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "oracle/restricted_plan.hpp"
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
      // Alternates between two plans; tests of the planner cover the planner alone.
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
  const std::uint64_t count = oracle::programs_to_try(1000);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    // Alternates between random shapes, wide tuples, and deep layers over few facts; some programs of each shape have
    // equivalence relations.
    oracle::random_program_options shape;
    if (seed % 3 == 1) shape.largest_arity = 5;
    if (seed % 3 == 2) {
      shape.layers = 6;
      shape.most_facts = 8;
    }
    if (seed % 4 == 3) shape.equivalences = 50;
    // Three sets of options for each program; a few programs cover all sets.
    const std::size_t turn = seed % all.size();
    const std::vector<run_mode> modes = {all[turn], all[(turn + 3) % all.size()], all[(turn + 7) % all.size()]};
    compared += compare(seed, shape, modes) ? 1 : 0;
  }
  std::printf("seeds %llu to %llu, %llu programs with results\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1), static_cast<unsigned long long>(compared));
  EXPECT_GT(compared, count / 2);
}

/// Recursions whose supplementary relations are abandoned in the first iterations, later, or not at all, and whose
/// orders change in each iteration and are put back. Half of the executors free relations after the last reader.
TEST(differential, random_programs_whose_supplementary_relations_are_abandoned_release_only) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(500000);
  const std::uint64_t count = oracle::programs_to_try(200);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t abandoning = 0;
  std::uint64_t keeping = 0;
  std::uint64_t restoring = 0;
  std::uint64_t freed = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_chain_program(seed);
    const analysed_text source(text);
    oracle::abandoning_plan planned(source.program, seed);
    oracle::database expected(source.program);
    oracle::evaluate(source.program, expected);
    const run_mode& mode = all[seed % all.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(mode) + "\n" + text);
    options chosen = planned.options_of_run();
    if (seed / all.size() % 2 == 0) {
      chosen.results.assign(source.program.relations.size(), false);
      chosen.results.back() = true;
    }
    plan_run run(planned.plan(), mode, 0, chosen);
    planned.watch(*run);
    run->evaluate();
    for (std::uint32_t number = 0; number < source.program.relations.size(); ++number) {
      if (run->has_freed(relation_id(number))) {
        ++freed;
        continue;
      }
      bool distinct = false;
      EXPECT_EQ(run.rows_of(relation_id(number), &distinct), expected[relation_id(number)])
          << source.program.relations[number].name;
      EXPECT_TRUE(distinct) << source.program.relations[number].name;
    }
    ++(planned.abandoned() != 0 ? abandoning : keeping);
    restoring += planned.put_back() != 0 ? 1 : 0;
  }
  EXPECT_GT(abandoning, count / 8);
  EXPECT_GT(keeping, count / 8);
  EXPECT_GT(restoring, count / 40);
  EXPECT_GT(freed, count / 2);
}

/// Recursions with relations that are restricted by demand.
TEST(differential, random_programs_with_restrictions_release_only) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(900000);
  const std::uint64_t count = oracle::programs_to_try(1500);
  const std::vector<run_mode> all = all_run_modes();
  std::uint64_t restricted = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_random_program(seed, oracle::shape_of_restricted_programs(seed)).text;
    const analysed_text source(text);
    const plan::program plan = oracle::make_restricted_plan(source.program);
    if (!oracle::is_restricted(plan)) continue;
    oracle::database expected(source.program);
    try {
      oracle::evaluate(source.program, expected);
    } catch (const oracle::evaluation_error&) {
      continue;
    }
    ++restricted;
    const auto check = [&](plan_run& run) {
      run->evaluate();
      for (std::uint32_t number = 0; number < source.program.relations.size(); ++number) {
        bool distinct = false;
        EXPECT_EQ(run.rows_of(relation_id(number), &distinct), expected[relation_id(number)])
            << source.program.relations[number].name;
        EXPECT_TRUE(distinct) << source.program.relations[number].name;
      }
    };
    for (const std::size_t turn : {seed % all.size(), (seed + 5) % all.size()}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(all[turn]) + "\n" + text);
      plan_run run(plan, all[turn]);
      check(run);
    }
    const run_mode& mode = all[(seed + 3) % all.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", abandoning, " + name_of(mode) + "\n" + text);
    oracle::abandoning_plan planned(source.program, seed | 2U);  // restricts wherever correct
    plan_run run(planned.plan(), mode, 0, planned.options_of_run());
    planned.watch(*run);
    check(run);
  }
  EXPECT_GT(restricted, count / 30);
}

}  // namespace
}  // namespace gpulog::exec
