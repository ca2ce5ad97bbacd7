// Programs that ask for constants, evaluated for what is asked for, against the naive evaluator, which evaluates all.

#include <gtest/gtest.h>

#include <string>

#include "oracle/engine_comparison.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

/// As the command runs programs. @param transform "auto", or "on" for all relations
mode for_goals(mode how, const std::string& transform) {
  how.tuning["unneeded-relations"] = "on";
  how.tuning["magic-transform"] = transform;
  return how;
}

std::string program_of(std::uint64_t seed) {
  oracle::random_program_options options;
  options.goals = 1 + seed % 3;
  options.passages = seed % 4 == 0 ? 70 : 0;
  options.guards = seed % 5 == 0 ? 40 : 0;
  options.equivalences = seed % 4 == 1 ? 40 : 0;  // pairs of other types cannot be passed through
  return oracle::make_random_program(seed, options).text;
}

TEST(goals, random_programs) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(1500);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(program_of(seed), {});
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(for_goals(modes[seed % modes.size()], "auto"));
    both.expect_same(for_goals(modes[(seed + 5) % modes.size()], "on"));
    if (HasFatalFailure()) return;
  }
}

TEST(goals, random_programs_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = programs_for_gpu(500);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(program_of(seed), {});
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(for_goals(gpu_modes[seed % gpu_modes.size()], "auto"));
    both.expect_same(for_goals(gpu_modes[(seed + 3) % gpu_modes.size()], "on"));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gpulog
