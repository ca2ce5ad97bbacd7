#include "exec/hybrid/placement_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gpulog::exec {
namespace {

/// How many iterations of so many seconds and rows are run on the host, at most 20000.
int iterations_before_move(double seconds, std::uint64_t rows, double crossing, double ready_at = 0) {
  const placement_costs costs(1);
  recursion_watch watch(costs, {9, true});
  double now = 0;
  for (int i = 0; i < 20000; ++i, now += seconds) {
    const double ready_in = std::max(0.0, ready_at - now);
    if (watch.should_move({now, rows, ready_in}, [&] { return crossing; })) return i;
  }
  return 20000;
}

TEST(placement_costs, small_work_is_the_hosts_and_large_work_the_devices) {
  const placement_costs costs(16);
  for (const double candidates : {0.0, 10.0, 500.0}) {
    const stratum_work work = {candidates, 0, 1, false};
    EXPECT_LT(costs.seconds(side::host, work), costs.seconds(side::device, work)) << candidates;
  }
  for (const double candidates : {1e5, 1e7, 1e9}) {
    const stratum_work work = {candidates, 0, 1, false};
    EXPECT_GT(costs.seconds(side::host, work), 2 * costs.seconds(side::device, work)) << candidates;
  }
  // What the host has to do anyway is no faster there.
  const stratum_work texts = {1e6, 0, 1, true};
  EXPECT_LT(costs.seconds(side::host, texts), 2 * costs.seconds(side::device, texts));
}

TEST(placement_costs, a_device_with_slower_memory_is_given_less_work) {
  placement_costs costs(16);
  const stratum_work large = {1e9, 0, 1, false};
  const double measured = costs.seconds(side::device, large);
  costs.set_device(0);  // not known
  EXPECT_DOUBLE_EQ(costs.seconds(side::device, large), measured);
  costs.set_device(0.48e12);
  EXPECT_NEAR(costs.seconds(side::device, large), 10 * measured, measured / 100);
  EXPECT_DOUBLE_EQ(costs.seconds(side::host, large), placement_costs(16).seconds(side::host, large));
}

TEST(placement_costs, searches_that_the_host_need_not_make_stay_there_longer) {
  const stratum_work searches = {1e5, 5e7, 2, false};
  const double crossing = 0.05;
  EXPECT_GT(placement_costs(1).seconds(side::host, searches), placement_costs(1).seconds(side::device, searches));
  EXPECT_LT(placement_costs(1, true).seconds(side::host, searches),
            placement_costs(1, true).seconds(side::device, searches) + crossing);
}

TEST(placement_costs, what_strata_took_counts) {
  placement_costs costs(4);
  const stratum_work work = {1e6, 0, 2, false};
  const double expected = costs.seconds(side::host, work);
  const double device = costs.seconds(side::device, work);
  for (int i = 0; i < 10; ++i) costs.learn(side::host, work, 3 * expected);
  EXPECT_NEAR(costs.seconds(side::host, work), 3 * expected, expected / 10);
  EXPECT_EQ(costs.seconds(side::device, work), device);
  for (int i = 0; i < 10; ++i) costs.learn(side::host, work, 1000 * expected);
  EXPECT_LT(costs.seconds(side::host, work), 5 * expected);  // no single one decides about all to come
  costs.learn(side::device, {10, 0, 1, false}, 1e-4);        // nor a small one
  EXPECT_EQ(costs.seconds(side::device, work), device);
}

TEST(recursion_watch, small_iterations_stay) {
  EXPECT_EQ(iterations_before_move(0.7e-6, 1, 1e-3), 20000);
  EXPECT_EQ(iterations_before_move(10e-6, 100, 1e-3), 20000);
}

TEST(recursion_watch, large_iterations_move_when_they_have_cost_as_much_as_moving) {
  EXPECT_EQ(iterations_before_move(10e-3, 1000000, 1e-3), 0);  // at once: the host would need more for the first one
  const int moved = iterations_before_move(100e-6, 1000, 1e-3);
  EXPECT_GT(moved, 5);
  EXPECT_LT(moved, 30);
}

TEST(recursion_watch, iterations_go_on_while_the_device_starts) {
  const int moved = iterations_before_move(1e-3, 10000, 1e-3, 0.3);
  EXPECT_GT(moved, 100);
  EXPECT_LT(moved, 350);
  // But for one that would take longer than that.
  EXPECT_EQ(iterations_before_move(10, 100000000, 1e-3, 0.3), 0);
  EXPECT_EQ(iterations_before_move(1e-3, 10000, 1e-3, HUGE_VAL), 20000);
}

}  // namespace
}  // namespace gpulog::exec
