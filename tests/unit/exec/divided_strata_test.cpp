// Strata that several ranks evaluate together. The ranks are threads of the test.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/version_share.hpp"
#include "oracle/abandoning_plan.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "oracle/rank_threads.hpp"
#include "plan/validate.hpp"
#include "plan_run.hpp"
#include "rank_runs.hpp"

namespace gpulog::exec {
namespace {

/// Modes of rank 0. Other ranks have one thread and the usual cut-offs.
std::vector<run_mode> divided_modes() {
  std::vector<run_mode> modes = all_run_modes();
  std::erase_if(modes, [](const run_mode& mode) { return mode.storage == storage::storage_mode::hisa; });
  return modes;
}

std::uint64_t divided_strata(plan_run& run) {
  const auto& strata = run->figures().strata;
  return static_cast<std::uint64_t>(std::count_if(strata.begin(), strata.end(), [](const stratum_statistics& stratum) {
    return std::any_of(stratum.strategies.begin(), stratum.strategies.end(),
                       [](const std::string& one) { return one.ends_with(" on all ranks"); });
  }));
}

/// Sets the estimates before loops to enormous work without results.
void expect_work(plan::program& plan) {
  for (plan::stratum& stratum : plan.strata) {
    for (plan::rule_version& version : stratum.once.versions) {
      if (version.estimates.empty()) continue;
      std::fill(version.estimates.begin(), version.estimates.end(), 1e12);
      version.estimates.front() = 1;
      version.estimates.back() = 0;
    }
  }
}

void expect_rows(plan_run& run, const sema::program& source, const oracle::database& expected) {
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    bool distinct = false;
    EXPECT_EQ(run.rows_of(relation_id(number), &distinct), expected[relation_id(number)])
        << source.relations[number].name;
    EXPECT_TRUE(distinct) << source.relations[number].name;
  }
}

TEST(divided_strata, random_programs) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(700000);
  const std::uint64_t count = oracle::programs_to_try(300);
  const std::vector<run_mode> modes = divided_modes();
  std::uint64_t divided = 0;
  for (const unsigned ranks : {2U, 3U}) {
    oracle::on_ranks(ranks, [&](ranks::rank_group& group) {
      rank_divider divider(group, {}, tuning_mode::always);
      rank_divider returning(group, {.exchanged_row_seconds = 3600}, tuning_mode::automatic);
      for (std::uint64_t seed = first + ranks; seed < first + count && !testing::Test::HasFailure(); seed += 2) {
        oracle::random_program_options shape;
        shape.largest_arity = 2 + seed % 2;
        shape.equivalences = seed % 5 == 0 ? 30 : 0;
        shape.first_matches = seed % 3 == 0 ? 60 : 0;
        const std::string text = oracle::make_random_program(seed, shape).text;
        const run_mode& mode = modes[seed % modes.size()];
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(mode) + "\n" + text);
        const analysed_text source(text);
        oracle::database expected(source.program);
        bool has_result = true;
        try {
          oracle::evaluate(source.program, expected);
        } catch (const oracle::evaluation_error&) {
          has_result = false;
        }
        plan::program plan = plan::make_plan(source.program, {}, {});
        const bool returns = seed % 5 < 1;
        if (returns) expect_work(plan);
        options chosen;
        rank_divider& used = returns ? returning : divider;
        chosen.divider = &used;
        used.begin_program();
        plan_run run(plan, mode, 0, chosen);
        try {
          run->evaluate();
          EXPECT_TRUE(has_result);
          if (has_result) expect_rows(run, source.program, expected);
        } catch (const evaluation_fault& fault) {
          EXPECT_FALSE(has_result) << fault.what();
        }
        divided += divided_strata(run);
      }
    });
  }
  EXPECT_GT(divided, count);
}

/// Rank 0 plans loops again, puts orders back and abandons supplementary relations; the other ranks follow.
TEST(divided_strata, random_programs_with_changing_plans) {
  const tbb::global_control more_threads(tbb::global_control::max_allowed_parallelism, 4);
  const std::uint64_t first = oracle::first_seed(800000);
  const std::uint64_t count = oracle::programs_to_try(200);
  const std::vector<run_mode> modes = divided_modes();
  std::uint64_t abandoning = 0;
  std::uint64_t restoring = 0;
  oracle::on_ranks(3, [&](ranks::rank_group& group) {
    rank_divider divider(group, {}, tuning_mode::always);
    for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
      const std::string text = oracle::make_chain_program(seed);
      const run_mode& mode = modes[seed % modes.size()];
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name_of(mode) + "\n" + text);
      const analysed_text source(text);
      oracle::abandoning_plan planned(source.program, seed);
      oracle::database expected(source.program);
      oracle::evaluate(source.program, expected);
      options chosen;
      chosen.divider = &divider;
      divider.begin_program();
      plan_run run(planned.plan(), mode, 0, planned.options_of_run(chosen));
      planned.watch(*run);
      run->evaluate();
      expect_rows(run, source.program, expected);
      abandoning += planned.abandoned() != 0 ? 1 : 0;
      restoring += planned.put_back() != 0 ? 1 : 0;
    }
  });
  EXPECT_GT(abandoning, count / 8);
  EXPECT_GT(restoring, count / 40);
}

/// Has no partition, because the recursion passes neither value through.
const std::string divided_closure = R"(
.decl edge(x:number, y:number)
edge(x, (x * 7 + 3) % 101) :- x = range(0, 101).
edge(x, (x * 5 + 1) % 101) :- x = range(0, 101).
.decl reach(x:number, y:number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), reach(y, z).
)";

TEST(divided_strata, figures_name_the_ranks) {
  evaluate_on_ranks(divided_closure, {}, [](plan_run* run, const std::string& failure) {
    ASSERT_EQ(failure, "");
    const auto& strata = (*run)->figures().strata;
    EXPECT_EQ(strata.back().strategies, std::vector<std::string>({"versions on all ranks", "loop on all ranks"}));
    EXPECT_EQ((*run)->rows(relation_id(1)), 101U * 101U);
  });
}

/// A run of two ranks, where rank 0 expects enormous work and no results before loops.
/// @return the strategies of all strata, sorted
std::vector<std::vector<std::string>> strategies_of(const std::string& text, const rank_means& means,
                                                    const std::function<void(plan_run& run)>& check) {
  const analysed_text source(text);
  plan::program plan = plan::make_plan(source.program, {}, {});
  expect_work(plan);
  std::vector<std::vector<std::string>> strategies;
  oracle::on_ranks(2, [&](ranks::rank_group& group) {
    rank_divider divider(group, means, tuning_mode::automatic);
    options chosen;
    chosen.divider = &divider;
    chosen.rows = row_mode::off;
    divider.begin_program();
    plan_run run(plan, {}, 0, chosen);
    run->evaluate();
    check(run);
    for (const stratum_statistics& stratum : run->figures().strata) strategies.push_back(stratum.strategies);
  });
  std::sort(strategies.begin(), strategies.end());
  return strategies;
}

const std::string edges_and_pairs = R"(
.decl edge(x:number, y:number)
edge(x, (x * 7 + 3) % 101) :- x = range(0, 101).
.decl pair(x:number, y:number)
pair(x, z) :- edge(x, y), edge(y, z).
)";

TEST(divided_strata, recursions_begin_at_rank_0) {
  const std::string text = edges_and_pairs + R"(
.decl reach(x:number, y:number)
reach(x, z) :- edge(x, y), edge(y, z).
reach(x, z) :- reach(x, y), edge(y, z).
)";
  const auto strategies = strategies_of(text, {.exchanged_row_seconds = 0},
                                        [](plan_run& run) { EXPECT_EQ(run->rows(relation_id(1)), 101U); });
  const std::vector<std::string> of_edge = {"versions"};
  const std::vector<std::string> of_pair = {"versions on all ranks"};
  ASSERT_EQ(strategies.size(), 3U);
  EXPECT_EQ(strategies[0], of_edge);
  EXPECT_EQ(strategies[1].front(), "versions");
  EXPECT_EQ(strategies[2], of_pair);
}

/// The planner expects no results, but ranks would exchange 101 rows, which take an hour each. One relation has a set.
TEST(divided_strata, rank_0_continues_alone_if_an_exchange_takes_long) {
  const std::string text = edges_and_pairs + R"(
.decl from(x:number)
from(x) :- edge(x, y), edge(y, z), z != x.
from(z) :- edge(x, y), edge(y, z), z != x.
.decl later(x:number, z:number)
later(x, z) :- pair(x, y), from(y), pair(y, z).
)";
  const auto strategies = strategies_of(text, {.exchanged_row_seconds = 3600}, [](plan_run& run) {
    for (const std::uint32_t relation : {0U, 1U}) EXPECT_EQ(run->rows(relation_id(relation)), 101U) << relation;
    // x = 50 has an edge to itself.
    for (const std::uint32_t relation : {2U, 3U}) EXPECT_EQ(run->rows(relation_id(relation)), 100U) << relation;
    for (const std::uint32_t relation : {1U, 2U, 3U}) {
      bool distinct = false;
      static_cast<void>(run.rows_of(relation_id(relation), &distinct));
      EXPECT_TRUE(distinct) << relation;
    }
  });
  EXPECT_EQ(strategies, std::vector<std::vector<std::string>>(4, {"versions"}));
}

TEST(divided_strata, a_rank_without_memory_ends_the_run) {
  evaluate_on_ranks(divided_closure, {.memory_limit = 100000}, [](plan_run*, const std::string& failure) {
    EXPECT_TRUE(message_of_follower(failure).starts_with("Out of memory while extending relation reach (")) << failure;
  });
}

TEST(divided_strata, a_fault_of_any_rank_is_that_of_the_rule) {
  // Only one rank has the binding.
  for (const std::string zero : {"1", "2", "3", "4", "5"}) {
    const std::string text = ".decl number(x:number)\nnumber(x) :- x = range(0, 100).\n.decl quotient(x:number)\n" +
                             ("quotient(10 / (x - " + zero) + ")) :- number(x).\n";
    evaluate_on_ranks(text, {}, [&zero](plan_run*, const std::string& failure) {
      EXPECT_EQ(failure, "Floating-point arithmetic exception signal in rule:\nquotient((10/(x-" + zero +
                             "))) :- number(x).\nin file test.dl [4:1-4:37]");
    });
  }
}

/// Each result of an injective rule belongs to the share of exactly one rank.
TEST(divided_strata, shares_are_a_partition) {
  const analysed_text source(R"(
.decl left(x:number, y:number)
left(x, x % 7) :- x = range(0, 500).
.decl right(y:number, z:number)
right(y, z) :- y = range(0, 7), z = range(0, 3).
.decl triple(x:number, y:number, z:number)
triple(x, y, z) :- left(x, y), right(y, z), x != z.
)");
  const relation_id triple(2);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  for (const unsigned ranks : {1U, 2U, 5U, 64U}) {
    tuples all;
    std::size_t sum = 0;
    std::size_t most = 0;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      plan::program divided = plan;
      for (plan::stratum& stratum : divided.strata) {
        for (plan::rule_version& version : stratum.once.versions) {
          if (version.head != triple) continue;
          ASSERT_TRUE(can_be_divided(version));
          version = share_of(version, {{rank, ranks}, {}}).value();
        }
      }
      EXPECT_EQ(plan::validate(divided), std::vector<std::string>());
      plan_run run(divided, {});
      run->evaluate();
      const tuples rows = run.rows_of(triple);
      all.insert(rows.begin(), rows.end());
      sum += rows.size();
      most = std::max(most, rows.size());
    }
    EXPECT_EQ(all, whole.rows_of(triple));
    EXPECT_EQ(sum, all.size());
    EXPECT_LT(most, 3 * all.size() / ranks + 30);
  }
}

}  // namespace
}  // namespace gpulog::exec
