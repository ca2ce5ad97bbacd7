#include "storage/relation/relation.hpp"
#include "oracle/random_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "row_tile.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using backend::cpu::serial_backend;
using backend::cpu::thread_backend;

std::vector<tuple> random_tuples(std::size_t n, std::uint32_t arity, word below, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<tuple> rows(n, tuple(arity));
  for (tuple& row : rows) {
    for (word& value : row) value = static_cast<word>(below == 0 ? random() : random() % below);
  }
  return rows;
}

template <class Backend>
std::uint64_t insert_all(Backend& backend, relation& target, const std::vector<tuple>& rows,
                         std::size_t tile_size = 100) {
  const auto scratch = std::make_unique<insert_scratch>();
  std::uint64_t fresh = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += tile_size) {
    const row_tile one(rows, begin, std::min(rows.size(), begin + tile_size), target.arity());
    while (!target.has_room()) target.make_room(backend);
    fresh += target.insert<exclusive_access>(one.values(), one.size(), *scratch, 0);
  }
  return fresh;
}

tuples stored_rows(const relation& source, std::uint64_t begin, std::uint64_t end) {
  tuples rows;
  for (std::uint64_t row = begin; row < end; ++row) {
    tuple values;
    for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
    EXPECT_TRUE(rows.insert(std::move(values)).second) << "row " << row << " repeats an earlier one";
  }
  return rows;
}

std::vector<std::uint8_t> look_up(const relation& source, const std::vector<tuple>& rows) {
  const auto scratch = std::make_unique<insert_scratch>();
  std::vector<std::uint8_t> found(rows.size());
  for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
    const row_tile one(rows, begin, std::min<std::size_t>(rows.size(), begin + tile_rows), source.arity());
    source.contains(one.values(), one.size(), *scratch, found.data() + begin);
  }
  return found;
}

relation_options options_of(storage_mode mode, unsigned workers = 1, std::uint64_t candidate_rows = 8u << 20) {
  relation_options options;
  options.mode = mode;
  options.workers = workers;
  options.candidate_rows = candidate_rows;
  return options;
}

class relations : public ::testing::TestWithParam<storage_mode> {
 protected:
  serial_backend backend;
  backend::host_memory memory;
};
INSTANTIATE_TEST_SUITE_P(modes, relations, ::testing::Values(storage_mode::hash, storage_mode::hisa),
                         [](const auto& info) { return info.param == storage_mode::hash ? "hash" : "hisa"; });

TEST_P(relations, hold_distinct_tuples_through_phases_of_arity_0_to_5_release_only) {
  for (std::uint32_t arity = 0; arity <= 5; ++arity) {
    for (const word below : {word{2}, word{9}, word{0}}) {
      for (const std::uint64_t candidate_rows :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{300}, std::uint64_t{1} << 20}) {
        SCOPED_TRACE(testing::Message() << "arity " << arity << ", values below " << below << ", " << candidate_rows
                                        << " candidates at a time");
        relation target(memory, arity, options_of(GetParam(), 1, candidate_rows));
        tuples model;
        std::uint64_t seed = arity;
        for (const std::size_t offered : {0, 1, 31, 33, 32, 2500, 0, 700}) {
          const auto rows = random_tuples(offered, arity, below, ++seed);
          const std::uint64_t before = target.rows();
          const tuples earlier = model;
          const std::uint64_t fresh = insert_all(backend, target, rows);
          target.settle(backend);
          EXPECT_EQ(target.rows(), before) << "rows appear with the next advance";
          model.insert(rows.begin(), rows.end());
          EXPECT_EQ(target.appended_rows(), model.size() - earlier.size());
          if (GetParam() == storage_mode::hash || arity == 0) EXPECT_EQ(fresh, model.size() - earlier.size());
          target.advance();
          EXPECT_EQ(target.rows(), model.size());
          EXPECT_EQ(target.old_rows(), before);
          EXPECT_EQ(target.delta_rows(), model.size() - before);
          if (arity == 0) continue;
          EXPECT_EQ(stored_rows(target, 0, before), earlier) << "old rows stay where they are";
          EXPECT_EQ(stored_rows(target, 0, target.rows()), model);
          const auto others = random_tuples(600, arity, below, seed + 1000);
          const auto found = look_up(target, others);
          for (std::size_t i = 0; i < others.size(); ++i) ASSERT_EQ(found[i], model.count(others[i]));
        }
      }
    }
  }
}

TEST_P(relations, the_empty_tuple_is_there_or_not) {
  relation target(memory, 0, options_of(GetParam()));
  const auto scratch = std::make_unique<insert_scratch>();
  std::uint8_t found[2] = {9, 9};
  target.contains(nullptr, 2, *scratch, found);
  EXPECT_EQ(found[1], 0);
  EXPECT_EQ(target.insert<exclusive_access>(nullptr, 0, *scratch, 0), 0U);
  target.advance();
  EXPECT_EQ(target.rows(), 0U);
  EXPECT_EQ(target.insert<exclusive_access>(nullptr, 5, *scratch, 0), 1U);
  EXPECT_EQ(target.insert<exclusive_access>(nullptr, 1, *scratch, 0), 0U);
  target.settle(backend);
  target.advance();
  EXPECT_EQ(target.delta_rows(), 1U);
  target.advance();
  EXPECT_EQ(target.delta_rows(), 0U);
  target.contains(nullptr, 2, *scratch, found);
  EXPECT_EQ(found[0], 1);
  target.drop_set();
  EXPECT_EQ(target.rows(), 1U);
}

TEST_P(relations, parts_move_with_advance_complete_and_restart) {
  relation target(memory, 2, options_of(GetParam()));
  const auto step = [&](std::size_t n, std::uint64_t seed) {
    insert_all(backend, target, random_tuples(n, 2, 0, seed));
    target.settle(backend);
  };
  step(10, 1);
  target.complete();
  EXPECT_EQ(target.old_rows(), 10U);
  EXPECT_EQ(target.delta_rows(), 0U);
  step(5, 2);
  target.restart();
  EXPECT_EQ(target.old_rows(), 0U);
  EXPECT_EQ(target.delta_rows(), 15U);
  step(3, 3);
  target.advance();
  EXPECT_EQ(target.old_rows(), 15U);
  EXPECT_EQ(target.delta_rows(), 3U);
  target.advance();
  EXPECT_EQ(target.old_rows(), 18U);
  EXPECT_EQ(target.delta_rows(), 0U);
}

TEST_P(relations, an_index_follows_the_parts) {
  relation target(memory, 2, options_of(GetParam()));
  index_layout layout;
  layout.order = {1, 0};
  layout.key_lengths = {1};
  layout.positions = GetParam() == storage_mode::hisa;
  if (!layout.positions) layout.stored = {0};
  const std::size_t number = target.add_index(layout);
  const auto rows_in = [&](bool with_old, bool with_delta) {
    std::uint64_t rows = 0;
    target.index(number).for_each_run(with_old, with_delta, [&](const sorted_run& run) { rows += run.rows(); });
    return rows;
  };
  insert_all(backend, target, random_tuples(100, 2, 0, 1));
  target.settle(backend);
  target.complete();
  target.refresh_index(backend, number);
  EXPECT_EQ(rows_in(true, false), 100U);
  EXPECT_EQ(rows_in(false, true), 0U);
  insert_all(backend, target, random_tuples(50, 2, 0, 2));
  target.settle(backend);
  target.restart();
  target.refresh_index(backend, number);
  EXPECT_EQ(rows_in(true, false), 0U);
  EXPECT_EQ(rows_in(false, true), 150U);
  target.advance();
  target.refresh_index(backend, number);
  EXPECT_EQ(rows_in(true, false), 150U);
  const std::uint64_t bytes = target.bytes();
  target.drop_index(number);
  EXPECT_EQ(rows_in(true, true), 0U);
  EXPECT_LT(target.bytes(), bytes);
}

TEST_P(relations, without_their_set_keep_their_rows_in_exactly_fitting_columns) {
  for (const std::size_t n : {0, 1, 33, 150000}) {
    relation target(memory, 2, options_of(GetParam()));
    const auto rows = random_tuples(n, 2, 0, n);
    insert_all(backend, target, rows, 512);
    target.settle(backend);
    target.complete();
    const tuples expected(rows.begin(), rows.end());
    target.drop_set();
    EXPECT_EQ(target.rows(), expected.size());
    EXPECT_EQ(target.bytes(), 2 * sizeof(word) * expected.size());
    EXPECT_EQ(stored_rows(target, 0, target.rows()), expected);
  }
  EXPECT_EQ(memory.used(), 0U);
}

/// Every column has to have room before the relation says so: another worker asks again when one was refused.
TEST_P(relations, have_no_room_after_a_refused_growth) {
  for (std::uint64_t spare = 0; spare < 60000; spare += 500) {
    backend::host_memory scarce;
    relation target(scarce, 3, options_of(GetParam()));
    scarce.set_limit(scarce.used() + spare);
    const auto rows = random_tuples(512, 3, 0, spare);
    try {
      for (int round = 0; round < 20; ++round) insert_all(backend, target, random_tuples(512, 3, 0, spare + 7));
    } catch (const backend::memory_exceeded&) {
      // In `hisa` mode the collected candidates may be gone, and with them the need for room.
      if (GetParam() == storage_mode::hash) EXPECT_FALSE(target.has_room()) << spare;
    }
    // Whatever there is room for fits.
    try {
      for (int round = 0; round < 20; ++round) insert_all(backend, target, random_tuples(512, 3, 0, spare + 7));
    } catch (const backend::memory_exceeded&) {
      continue;
    }
  }
}

/// Room is written to: hundreds of small relations with some for each worker would take more time than their rules.
TEST_P(relations, have_no_room_for_workers_that_insert_nothing) {
  for (const std::uint32_t arity : {1U, 2U, 3U}) {
    const auto rows = random_tuples(10, arity, 0, arity);
    const auto bytes_with = [&](unsigned workers) {
      relation target(memory, arity, options_of(GetParam(), workers));
      const row_tile one(rows, 0, rows.size(), arity);
      const auto scratch = std::make_unique<insert_scratch>();
      while (!target.has_room(one.size())) target.make_room(backend, one.size());
      target.insert<exclusive_access>(one.values(), one.size(), *scratch, 0);
      target.settle(backend);
      target.advance();
      EXPECT_EQ(stored_rows(target, 0, target.rows()), tuples(rows.begin(), rows.end()));
      return target.bytes();
    };
    EXPECT_EQ(bytes_with(16), bytes_with(1)) << arity;
  }
}

/// All workers insert as tile_runner does: the gate is shared while they do, and one at a time makes room.
void insert_concurrently(thread_backend& backend, relation& target, const std::vector<std::vector<tuple>>& shares,
                         std::size_t tile_size, std::vector<std::uint64_t>& fresh) {
  std::shared_mutex gate;
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < shares.size(); ++worker) {
    threads.emplace_back([&, worker] {
      const auto scratch = std::make_unique<insert_scratch>();
      const auto& rows = shares[worker];
      for (std::size_t begin = 0; begin < rows.size(); begin += tile_size) {
        const row_tile one(rows, begin, std::min(rows.size(), begin + tile_size), target.arity());
        std::shared_lock<std::shared_mutex> held(gate);
        while (!target.has_room()) {
          held.unlock();
          {
            const std::unique_lock<std::shared_mutex> alone(gate);
            if (!target.has_room()) target.make_room(backend);
          }
          held.lock();
        }
        fresh[worker] += target.insert<concurrent_access>(one.values(), one.size(), *scratch, worker);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(relations, workers_lose_no_row_and_repeat_none_release_only) {
  constexpr unsigned workers = 4;
  thread_backend threads(workers);
  for (const std::uint32_t arity : {1U, 2U, 3U, 5U}) {
    for (const std::size_t tile_size : {std::size_t{1}, std::size_t{33}, std::size_t{tile_rows}}) {
      SCOPED_TRACE(testing::Message() << "arity " << arity << ", tiles of " << tile_size);
      relation target(memory, arity, options_of(GetParam(), workers, 1000));
      tuples model;
      std::uint64_t seed = arity;
      for (int phase = 0; phase < 5; ++phase) {
        const std::size_t n = tile_size == 1 ? oracle::fewer_when_sanitized(700) : oracle::is_sanitized ? 2000 : 6000;
        // Few values, so that workers meet at the same tuples; half of the workers have the same ones.
        std::vector<std::vector<tuple>> shares;
        for (unsigned worker = 0; worker < workers; ++worker) {
          auto rows = random_tuples(n, arity, arity == 1 ? 3000 : 40, seed + worker / 2);
          if (worker % 2 == 1) std::shuffle(rows.begin(), rows.end(), std::mt19937_64(seed));
          if (phase == 3) rows.resize(worker);  // less than a worker reserves
          shares.push_back(std::move(rows));
        }
        seed += workers;
        const std::uint64_t before = model.size();
        for (const auto& share : shares) model.insert(share.begin(), share.end());
        std::vector<std::uint64_t> fresh(workers);
        insert_concurrently(threads, target, shares, tile_size, fresh);
        if (phase == 2) {
          // The same phase goes on with one worker, as the next rule version does when it has little to do.
          const auto more = random_tuples(100, arity, 50, ++seed);
          model.insert(more.begin(), more.end());
          fresh[0] += insert_all(threads, target, more);
        }
        target.settle(threads);
        EXPECT_EQ(target.appended_rows(), model.size() - before);
        if (GetParam() == storage_mode::hash) {
          EXPECT_EQ(fresh[0] + fresh[1] + fresh[2] + fresh[3], model.size() - before);
        }
        target.advance();
        ASSERT_EQ(target.rows(), model.size());
        ASSERT_EQ(stored_rows(target, 0, target.rows()), model);
        const std::vector<tuple> all(model.begin(), model.end());
        const auto found = look_up(target, all);
        ASSERT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(all.size()));
      }
    }
  }
}

TEST_P(relations, lookups_run_beside_inserts) {
  constexpr unsigned workers = 3;
  thread_backend threads(workers);
  relation target(memory, 3, options_of(GetParam(), workers));
  const auto early = random_tuples(5000, 3, 0, 1);
  insert_all(threads, target, early);
  target.settle(threads);
  target.advance();
  while (!target.has_room()) target.make_room(threads);
  const auto late = random_tuples(tile_rows, 3, 0, 2);
  std::thread writer([&] {
    const auto scratch = std::make_unique<insert_scratch>();
    const row_tile one(late, 0, late.size(), 3);
    target.insert<concurrent_access>(one.values(), one.size(), *scratch, 1);
  });
  for (int round = 0; round < 3; ++round) {
    const auto found = look_up(target, early);
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(early.size()));
  }
  writer.join();
}

TEST(relation_times, hisa_mode_tells_what_its_phases_took) {
  serial_backend backend;
  backend::host_memory memory;
  relation target(memory, 2, options_of(storage_mode::hisa));
  insert_all(backend, target, random_tuples(20000, 2, 0, 1));
  EXPECT_EQ(target.times().populate_delta, 0);
  target.settle(backend);
  EXPECT_GT(target.times().populate_delta, 0);
  EXPECT_GT(target.times().merge, 0);
}

}  // namespace
}  // namespace gpulog::storage
