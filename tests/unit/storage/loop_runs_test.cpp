// Runs of an index while iterations loop on a device, against what they have to hold: all old rows in order, delta
// apart.

#include "storage/indexes/loop_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

namespace gpulog::storage::gpu {
namespace {

/// Rows that stand at a place, as the device has built them there.
struct places {
  loop_run built[loop_runs::places];

  void build(const loop_runs::change& change) {
    for (std::uint32_t b = 0; b < change.built_count; ++b) built[change.built[b].place] = change.built[b];
  }
  [[nodiscard]] bool has(const loop_run& run) const {
    return built[run.place].begin == run.begin && built[run.place].end == run.end;
  }
};

void expect_consistent(const loop_runs& runs, const places& memory, std::uint64_t first, std::uint64_t old_rows,
                       std::uint64_t rows) {
  std::set<std::uint32_t> taken;
  std::uint64_t next = first;
  for (std::uint32_t i = 0; i < runs.old_count; ++i) {
    const loop_run& run = runs.old[i];
    EXPECT_EQ(run.begin, next);
    EXPECT_GT(run.end, run.begin);
    EXPECT_TRUE(memory.has(run));
    EXPECT_TRUE(taken.insert(run.place).second);
    next = run.end;
  }
  EXPECT_EQ(next, old_rows);
  EXPECT_EQ(runs.delta.rows(), rows - old_rows);
  if (rows != old_rows) {
    EXPECT_TRUE(memory.has(runs.delta));
    EXPECT_TRUE(taken.insert(runs.delta.place).second);
  }
  std::uint32_t bits = 0;
  for (const std::uint32_t place : taken) bits |= 1U << place;
  EXPECT_EQ(runs.taken, bits);
}

TEST(loop_runs, hold_all_rows_at_any_sizes_of_deltas) {
  std::mt19937 random(7);
  for (const std::uint64_t most_rows : {1U, 2U, 7U, 64U, 2048U}) {
    for (const std::uint64_t most_delta : {1U, 3U, 50U, 2000U}) {
      const std::uint64_t first = random() % 1000;
      loop_runs runs;
      places memory;
      std::uint64_t old_rows = first;
      std::uint64_t rows = first;
      for (int iteration = 0; iteration < 500; ++iteration) {
        old_rows = rows;
        rows += random() % (most_delta + 1);
        const loop_runs::change change = runs.advance(old_rows, rows, most_rows);
        if (!change.fits) break;
        // Whatever is built is built of rows, never of runs.
        EXPECT_LE(change.built_count, 2U);
        for (std::uint32_t b = 0; b < change.built_count; ++b) EXPECT_LE(change.built[b].rows(), most_rows);
        memory.build(change);
        expect_consistent(runs, memory, first, old_rows, rows);
      }
    }
  }
}

TEST(loop_runs, merge_geometrically) {
  loop_runs runs;
  std::uint64_t built = 0;
  std::uint64_t rows = 0;
  loop_runs::change change;
  while (change.fits) {
    ++rows;
    change = runs.advance(rows - 1, rows, 2048);
    for (std::uint32_t b = 0; b < change.built_count; ++b) built += change.built[b].rows();
  }
  EXPECT_GT(rows, 3U * 2048) << rows << " rows, " << built << " built";
  EXPECT_LT(built, rows * 16);  // every row is sorted a few times
}

TEST(loop_runs, say_that_a_delta_is_too_large) {
  loop_runs runs;
  EXPECT_TRUE(runs.advance(10, 20, 10).fits);
  EXPECT_FALSE(runs.advance(20, 31, 10).fits);
}

}  // namespace
}  // namespace gpulog::storage::gpu
