#include "exec/run_monitor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace gpulog::exec {
namespace {

using std::chrono::seconds;

constexpr seconds long_enough{60};

TEST(run_monitor, is_not_to_be_had_between_long_steps) {
  run_monitor monitor;
  const run_monitor::holding held(monitor);
  bool has_looked = false;
  std::thread other([&] { has_looked = monitor.look(std::chrono::milliseconds(5), [] {}); });
  other.join();
  EXPECT_FALSE(has_looked);
}

TEST(run_monitor, shows_the_step_that_is_running) {
  run_monitor monitor;
  const word iteration = 7;
  const run_monitor::holding held(monitor);
  monitor.begin_stratum(3, &iteration);
  running_step seen;
  {
    const run_monitor::long_step outer(&monitor, "extending", relation_id(5), nullptr, 100);
    const run_monitor::long_step inner(&monitor, "indexing", relation_id(6), nullptr);  // a part of it
    std::thread other([&] { EXPECT_TRUE(monitor.look(long_enough, [&] { seen = monitor.now(); })); });
    other.join();
  }
  EXPECT_EQ(seen.doing, std::string("extending"));
  EXPECT_EQ(seen.relation, relation_id(5));
  EXPECT_EQ(seen.stratum, 3U);
  EXPECT_EQ(seen.iteration, 7U);
  EXPECT_EQ(seen.rows, 100U);
  EXPECT_EQ(monitor.now().doing, std::string());
}

TEST(run_monitor, stays_available_after_a_step_without_a_holder) {
  run_monitor monitor;
  { const run_monitor::long_step reading(&monitor, "writing out", relation_id(5), nullptr); }
  EXPECT_TRUE(monitor.look(std::chrono::milliseconds(5), [] {}));
  EXPECT_EQ(monitor.now().doing, std::string());
}

TEST(run_monitor, lets_others_look_where_nothing_takes_long) {
  run_monitor monitor;
  std::uint64_t figure = 0;
  std::atomic<bool> has_looked = false;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(monitor.look(long_enough, [&] { EXPECT_EQ(figure % 2, 0U); }));
    }
    has_looked = true;
  });
  {
    const run_monitor::holding held(monitor);
    while (!has_looked) {
      ++figure;
      ++figure;
      monitor.give_way();
    }
  }
  other.join();
}

TEST(run_monitor, remembers_where_a_run_failed_first) {
  run_monitor monitor;
  const word iteration = 2;
  monitor.begin_stratum(1, &iteration);
  monitor.note_failure("extending", relation_id(4), nullptr);
  monitor.note_failure("indexing", relation_id(5), nullptr);
  EXPECT_EQ(monitor.now().doing, std::string("extending"));
  EXPECT_EQ(monitor.now().relation, relation_id(4));
  EXPECT_EQ(monitor.now().iteration, 2U);
  monitor.begin_stratum(2, &iteration);  // it was done in another way
  EXPECT_EQ(monitor.now().doing, std::string());
}

}  // namespace
}  // namespace gpulog::exec
