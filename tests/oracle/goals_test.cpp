// Programs that ask for constants, evaluated for what is asked for, against the naive evaluator, which evaluates all.

#include <gtest/gtest.h>

#include <set>
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
  const std::uint64_t count = oracle::programs_to_try(750);
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

/// Rows of a relation that is asked, with and without.
std::multiset<std::int32_t> column_of(engine& running, const std::string& name) {
  std::multiset<std::int32_t> found;
  for (const tuple row : running.relation(name)) found.insert(row.number(0));
  return found;
}

/// What an evaluation has left of a relation that was asked is not all of it.
TEST(goals, evaluation_again) {
  const std::string text =
      ".decl e(x:number, y:number)\n.decl c(x:number)\n.decl r(x:number, y:number)\nr(x,y) :- e(x,y).\n"
      "r(x,z) :- r(x,y), e(y,z).\n.decl out(y:number)\nout(y) :- r(1,y), c(y).\n.output out\n";
  for (const char* const transform : {"off", "auto", "on"}) {
    SCOPED_TRACE(transform);
    run_options options;
    options.tuning = {{"unneeded-relations", "on"}, {"magic-transform", transform}, {"continuation", "on"}};
    engine running(program::from_text(text), options);
    for (std::int32_t node = 1; node < 9; ++node) running.relation("e").insert({value(node), value(node + 1)});
    running.relation("c").insert({value(3)});
    running.evaluate();
    EXPECT_EQ(column_of(running, "out"), (std::multiset<std::int32_t>{3}));
    running.relation("c").insert({value(7)});
    running.evaluate();
    EXPECT_EQ(column_of(running, "out"), (std::multiset<std::int32_t>{3, 7}));
    running.relation("e").insert({value(9), value(50)});
    running.relation("c").insert({value(50)});
    running.evaluate();
    EXPECT_EQ(column_of(running, "out"), (std::multiset<std::int32_t>{3, 7, 50}));
  }
}

/// A goal under a negation whose question needs the negation itself is withdrawn.
TEST(goals, under_negation_and_in_aggregates) {
  const std::string text =
      ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,z) :- r(x,y), e(y,z).\n"
      ".decl p(x:number)\np(x) :- e(x,_), !r(x,3).\n.decl out(y:number)\n.output out\nout(y) :- p(x), r(x,y).\n"
      "out(n + 100) :- n = count : { r(2,_) }.\n";
  const comparison both(text, {{1, 2}, {2, 4}, {4, 5}, {5, 3}, {6, 7}, {7, 6}});
  ASSERT_TRUE(both.accepted()) << both.report();
  for (const mode& how : modes) {
    both.expect_same(for_goals(how, "auto"));
    both.expect_same(for_goals(how, "on"));
  }
}

}  // namespace
}  // namespace gpulog
