// The lists of strategies, and what a machine has to be.

#include "exec/strategies/strategies.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

#include "analysed_text.hpp"
#include "backend/cpu/tbb_backend.hpp"
#include "exec/cpu/cpu_machine.hpp"
#include "plan/planner.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

using machine = cpu_machine<backend::cpu::tbb_backend>;

/// Says that it runs iterations by itself, which nothing does.
struct boastful_machine : machine {
  static constexpr machine_abilities abilities = {.loops = true};
};
struct modest_machine : machine {
  static constexpr machine_abilities abilities = {};
};
struct no_machine {
  static constexpr machine_abilities abilities = {};
};

static_assert(fixpoint_machine<machine>);
static_assert(fixpoint_machine<modest_machine>);
static_assert(!fixpoint_machine<boastful_machine>);
static_assert(!fixpoint_machine<no_machine>);

template <class Strategies>
std::set<std::string_view> names_of(const Strategies& strategies) {
  std::set<std::string_view> names;
  for (const auto& one : strategies) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  return names;
}

TEST(strategies, have_names_of_their_own) {
  names_of(once_strategies<machine>);
  names_of(loop_strategies<machine>);
  names_of(version_strategies<machine>);
}

/// The names of those that ran the strata with rules.
std::vector<std::string> strategies_of(const std::string& rules, const tuples& edges, row_mode rows,
                                       storage::storage_mode storage = storage::storage_mode::hash) {
  const analysed_text source(".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n" + rules);
  const plan::program plan = plan::make_plan(source.program);
  run_mode mode;
  mode.storage = storage;
  options chosen;
  chosen.rows = rows;
  plan_run run(plan, mode, 0, chosen);
  run.load(source.program.find_relation("e").value(), 2, edges);
  run->evaluate();
  std::vector<std::string> names;
  for (const stratum_statistics& one : run->figures().strata) {
    if (!one.versions.empty()) names.insert(names.end(), one.strategies.begin(), one.strategies.end());
  }
  return names;
}

TEST(strategies, the_first_that_does_not_leave_a_stratum_runs_it) {
  const tuples edges = {{1, 2}, {2, 3}, {3, 1}, {4, 1}};
  const std::string closure = "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";
  const std::string in_two_columns = "r(x,y) :- e(x,y).\nr(x,y) :- r(y,z), e(z,x).\n";
  const std::string join = "r(x,y) :- e(x,z), e(z,y).\n";
  using names = std::vector<std::string>;
  EXPECT_EQ(strategies_of(closure, edges, row_mode::automatic), (names{"versions", "search"}));
  EXPECT_EQ(strategies_of(in_two_columns, edges, row_mode::automatic), (names{"versions", "loop"}));
  EXPECT_EQ(strategies_of(join, edges, row_mode::always), names{"row-wise-evaluation"});
  EXPECT_EQ(strategies_of(join, edges, row_mode::automatic), names{"versions"});
  // As published.
  const auto hisa = storage::storage_mode::hisa;
  EXPECT_EQ(strategies_of(closure, edges, row_mode::always, hisa), (names{"versions", "loop"}));
}

TEST(strategies, closures_are_condensed_where_it_pays_or_is_asked_for) {
  const std::string closure = "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";
  const std::string in_two_columns = "r(x,y) :- e(x,y).\nr(x,y) :- r(y,z), e(z,x).\n";
  using names = std::vector<std::string>;
  const tuples few = {{1, 2}, {2, 3}, {3, 1}, {4, 1}};
  EXPECT_EQ(strategies_of(closure, few, row_mode::recursions), (names{"versions", "condensation"}));
  EXPECT_EQ(strategies_of(in_two_columns, few, row_mode::recursions), (names{"versions", "loop"}));
  tuples ring;
  tuples pairs;
  for (word i = 0; i < 4000; ++i) {
    ring.insert({i, (i + 1) % 4000});
    pairs.insert({i * 2, i * 2 + 1});
  }
  EXPECT_EQ(strategies_of(closure, ring, row_mode::automatic), (names{"versions", "condensation"}));
  EXPECT_EQ(strategies_of(closure, ring, row_mode::searches), (names{"versions", "search"}));
  EXPECT_EQ(strategies_of(closure, pairs, row_mode::automatic), (names{"versions", "search"}));
}

/// Values that are too large for a bitmap get numbers, but not for one search through a part of many steps.
TEST(strategies, another_one_goes_on_where_one_gives_up) {
  tuples edges;
  for (word i = 0; i < 100; ++i) edges.insert({0x80000000U + i, 0x80000000U + (i + 1) % 100});
  const std::string step = "r(x,y) :- r(x,z), e(z,y).\n";
  using names = std::vector<std::string>;
  EXPECT_EQ(strategies_of("r(x,y) :- e(x,y).\n" + step, edges, row_mode::automatic), (names{"versions", "search"}));
  EXPECT_EQ(strategies_of("r(x,y) :- e(x,y), y = -2147483646.\n" + step, edges, row_mode::automatic),
            (names{"versions", "loop"}));
}

TEST(loop_strategy, refreshes_an_index_when_it_is_searched_first) {
  const analysed_text source(
      ".decl state(at:number, x:number)\nstate(0, 0).\nstate(1, x) :- state(0, x).\n"
      "state(2, x + y) :- state(1, x), state(0, y).\nstate(2, x + 1) :- state(2, x), x < 100.\n");
  const plan::program plan = plan::make_plan(source.program);
  const auto refreshes = [&](const run_mode& mode) {
    plan_run run(plan, mode);
    run->evaluate();
    EXPECT_EQ(run->rows(source.program.find_relation("state").value()), 103U);
    for (const stratum_statistics& one : run->figures().strata) {
      if (one.iterations == 0) continue;
      EXPECT_EQ(one.iterations, 103U);
      EXPECT_EQ(one.indexes.size(), 1U);
      return one.indexes.front().refreshes;
    }
    return std::uint64_t{0};
  };
  const auto hash = storage::storage_mode::hash;
  EXPECT_EQ(refreshes({hash, 1}), 2U);
  // Deltas count as large: as many workers as there are may search the index. The last delta is empty.
  EXPECT_EQ(refreshes({hash, 1, true}), 103U);
}

TEST(loop_strategy, refreshes_no_index_that_only_versions_without_a_delta_search) {
  const analysed_text source(
      ".decl a(x:number, y:number)\na(1, 1).\n.decl b(x:number, y:number)\nb(0, 0).\n"
      "b(x, y + 1) :- b(x, y), y < 100.\na(x, y) :- b(x, y), y < 0.\nb(z, x) :- a(x, y), b(y, z), z < 0.\n");
  const plan::program plan = plan::make_plan(source.program);
  // Deltas count as large.
  plan_run run(plan, {storage::storage_mode::hash, 1, true});
  run->evaluate();
  const relation_id b = source.program.find_relation("b").value();
  EXPECT_EQ(run->rows(b), 101U);
  std::uint64_t refreshes = 0;
  for (const stratum_statistics& one : run->figures().strata) {
    for (const index_statistics& index : one.indexes)
      refreshes += plan.indexes[index.index.value].relation == b ? index.refreshes : 0;
  }
  EXPECT_EQ(refreshes, 1U);
}

}  // namespace
}  // namespace gpulog::exec
