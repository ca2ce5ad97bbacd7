// Random programs against the naive evaluator, in every way of running them. GPULOG_RANDOM_PROGRAMS sets how many
// programs are tried, GPULOG_RANDOM_SEED the first seed; a failure prints seed, way and program.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdint>
#include <string>

#include "analysed_text.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
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
    for (const auto supplementary : {plan::supplementary_mode::automatic, plan::supplementary_mode::off}) {
      // Both are planned by turns: what the planner does alone is tested with the planner.
      if ((supplementary == plan::supplementary_mode::off) != ((seed + mode.threads) % 4 == 0)) continue;
      const plan::program plan = plan::make_plan(analysed, {}, {supplementary});
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

}  // namespace
}  // namespace gpulog::exec
