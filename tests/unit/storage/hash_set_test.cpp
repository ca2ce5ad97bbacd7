// Hash tables of packed tuples and of rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <shared_mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "storage/sets/packed_set.hpp"
#include "storage/sets/row_set.hpp"

namespace gpulog::storage {
namespace {

constexpr std::uint32_t batch = 512;

/// Inserts in batches, making room first. @return keys reported as new, in order
template <class Access = exclusive_access>
std::vector<std::uint64_t> insert_all(packed_set& set, std::vector<std::uint64_t> keys) {
  std::vector<std::uint64_t> homes(batch);
  std::vector<std::uint64_t> fresh;
  for (std::size_t begin = 0; begin < keys.size(); begin += batch) {
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(batch, keys.size() - begin));
    if (!set.has_room(n)) set.grow(n);
    const std::uint32_t found = set.insert<Access>(keys.data() + begin, n, homes.data());
    fresh.insert(fresh.end(), keys.begin() + static_cast<std::ptrdiff_t>(begin),
                 keys.begin() + static_cast<std::ptrdiff_t>(begin + found));
  }
  return fresh;
}

std::vector<std::uint8_t> look_up(const packed_set& set, const std::vector<std::uint64_t>& keys) {
  std::vector<std::uint64_t> homes(keys.size());
  std::vector<std::uint8_t> found(keys.size(), 7);
  set.contains(keys.data(), static_cast<std::uint32_t>(keys.size()), homes.data(), found.data());
  return found;
}

std::vector<std::uint64_t> random_keys(std::size_t n, std::uint64_t below, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> keys(n);
  for (auto& key : keys) key = below == 0 ? random() : random() % below;
  return keys;
}

TEST(hash, scale_is_monotone_and_stays_below_the_capacity) {
  for (const std::uint64_t capacity :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1024}, std::uint64_t{1} << 40}) {
    EXPECT_EQ(scale(0, capacity), 0U);
    EXPECT_EQ(scale(~0ULL, capacity), capacity - 1);
    std::uint64_t before = 0;
    for (std::uint64_t hash = 0; hash < (~0ULL >> 1); hash += 0x0123456789abcdefULL) {
      EXPECT_GE(scale(hash, capacity), before);
      before = scale(hash, capacity);
    }
  }
}

TEST(hash, keys_of_several_words_depend_on_each_word_and_their_order) {
  const auto hash_of = [](std::initializer_list<word> words) {
    key_hash hash;
    for (const word one : words) hash.add(one);
    return hash.value();
  };
  EXPECT_NE(hash_of({1, 2, 3}), hash_of({3, 2, 1}));
  EXPECT_NE(hash_of({1, 2, 3}), hash_of({1, 2, 4}));
  EXPECT_NE(hash_of({0, 0}), hash_of({0, 0, 0}));
}

TEST(packed_set, reports_each_key_as_new_once_in_order) {
  backend::host_memory memory;
  packed_set set(memory);
  EXPECT_EQ(insert_all(set, {}), std::vector<std::uint64_t>());
  EXPECT_EQ(insert_all(set, {5, 3, 5, 9, 3, 5}), (std::vector<std::uint64_t>{5, 3, 9}));
  EXPECT_EQ(insert_all(set, {9, 8, 8, 5}), std::vector<std::uint64_t>{8});
  EXPECT_EQ(set.size(), 4U);
  EXPECT_EQ(look_up(set, {5, 4, 3, 9, 8, 0}), (std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0}));
}

TEST(packed_set, the_tuple_0_is_an_ordinary_tuple) {
  backend::host_memory memory;
  packed_set set(memory);
  EXPECT_EQ(look_up(set, {0}), std::vector<std::uint8_t>{0});
  EXPECT_EQ(insert_all(set, {0, 1, 0}), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(insert_all(set, {0}), std::vector<std::uint64_t>());
  EXPECT_EQ(set.size(), 2U);
  set.grow(100000);
  EXPECT_EQ(look_up(set, {0, 1, 2}), (std::vector<std::uint8_t>{1, 1, 0}));
  EXPECT_EQ(set.size(), 2U);
}

TEST(packed_set, holds_what_was_inserted_while_it_grows) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                              std::size_t{table_growth::limit(table_growth::initial_slots)},
                              std::size_t{table_growth::limit(table_growth::initial_slots) + 1}, std::size_t{100000}}) {
    // Dense numbers, pairs of dense numbers, any numbers.
    for (const std::uint64_t below : {std::uint64_t{2 * n}, std::uint64_t{0}}) {
      backend::host_memory memory;
      packed_set set(memory);
      auto keys = random_keys(n, below, n);
      if (below != 0) {
        for (std::size_t i = 0; i < n; i += 2) keys[i] |= keys[i] << 32;
      }
      const auto fresh = insert_all(set, keys);
      const std::set<std::uint64_t> expected(keys.begin(), keys.end());
      EXPECT_EQ(std::set<std::uint64_t>(fresh.begin(), fresh.end()), expected);
      EXPECT_EQ(fresh.size(), expected.size()) << "a key was new twice";
      EXPECT_EQ(set.size(), expected.size());
      const auto found = look_up(set, keys);
      EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(n));
      const auto others = random_keys(n, below == 0 ? 0 : 4 * n, n + 1);
      const auto other_found = look_up(set, others);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(other_found[i], expected.count(others[i]));
    }
  }
}

TEST(packed_set, growing_keeps_the_load_below_its_limit) {
  backend::host_memory memory;
  packed_set set(memory);
  EXPECT_TRUE(set.has_room(1));
  EXPECT_FALSE(set.has_room(table_growth::initial_slots));
  set.grow(1000000);
  EXPECT_TRUE(set.has_room(1000000));
  EXPECT_GE(static_cast<double>(set.bytes()) * table_growth::max_load, 1000000 * sizeof(std::uint64_t));
  const std::uint64_t bytes = set.bytes();
  set.grow(1000);
  EXPECT_EQ(set.bytes(), bytes) << "there was room";
}

TEST(packed_set, grows_with_several_threads) {
  backend::host_memory memory;
  packed_set set(memory);
  set.grow(2800000);  // enough slots for a part per thread
  auto keys = random_keys(1500000, 0, 9);
  keys.push_back(0);
  EXPECT_EQ(insert_all(set, keys).size(), keys.size());
  backend::cpu::thread_backend threads(4);
  set.grow(6000000, backend::piece_runner(threads));
  EXPECT_EQ(set.size(), keys.size());
  const auto found = look_up(set, keys);
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(keys.size()));
  EXPECT_EQ(insert_all(set, keys).size(), 0U);
  EXPECT_EQ(look_up(set, {1, 2, 3}), std::vector<std::uint8_t>(3));
}

TEST(packed_set, a_refused_growth_leaves_it_as_it_was) {
  backend::host_memory memory;
  packed_set set(memory);
  const auto keys = random_keys(700, 0, 1);
  insert_all(set, keys);
  memory.set_limit(memory.used() + 1000);
  EXPECT_THROW(set.grow(10000), backend::memory_exceeded);
  EXPECT_EQ(set.size(), keys.size());
  const auto found = look_up(set, keys);
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(keys.size()));
  EXPECT_EQ(insert_all(set, {1, 2, 3}).size(), 3U);
}

/// Every thread inserts the same keys in a different order; one thread at a time makes room, as tile_runner does.
TEST(packed_set, several_threads_insert_every_key_once) {
  constexpr unsigned workers = 4;
  constexpr std::uint32_t share = 64;
  backend::host_memory memory;
  packed_set set(memory);
  std::vector<std::uint64_t> keys(40000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = pack(static_cast<word>(i % 200), static_cast<word>(i / 200));
  std::shared_mutex gate;
  std::vector<std::vector<std::uint64_t>> fresh(workers);
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      auto own = keys;
      // Pairs of threads share an order, so that they meet at the same slots.
      std::shuffle(own.begin(), own.end(), std::mt19937_64(worker / 2));
      std::vector<std::uint64_t> homes(share);
      for (std::size_t begin = 0; begin < own.size(); begin += share) {
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(share, own.size() - begin));
        std::shared_lock<std::shared_mutex> held(gate);
        while (!set.has_room(workers * share)) {
          held.unlock();
          {
            const std::unique_lock<std::shared_mutex> alone(gate);
            if (!set.has_room(workers * share)) set.grow(workers * share);
          }
          held.lock();
        }
        const std::uint32_t found = set.insert<concurrent_access>(own.data() + begin, n, homes.data());
        fresh[worker].insert(fresh[worker].end(), own.begin() + static_cast<std::ptrdiff_t>(begin),
                             own.begin() + static_cast<std::ptrdiff_t>(begin + found));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& one : fresh) all.insert(all.end(), one.begin(), one.end());
  std::sort(all.begin(), all.end());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(all, keys);
  EXPECT_EQ(set.size(), keys.size());
}

/// All threads insert the same keys in the same order, key by key: the worst case of threads that meet at a slot.
TEST(packed_set, threads_that_race_for_each_key_have_one_winner) {
  constexpr unsigned workers = 4;
  backend::host_memory memory;
  packed_set set(memory);
  const auto keys = random_keys(100000, 0, 3);
  set.grow(keys.size() + workers);
  std::atomic<unsigned> ready = 0;
  std::atomic<std::uint64_t> wins = 0;
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < workers) std::this_thread::yield();
      std::uint64_t own_wins = 0;
      for (std::uint64_t key : keys) {
        std::uint64_t home = 0;
        own_wins += set.insert<concurrent_access>(&key, 1, &home);
      }
      wins += own_wins;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wins, keys.size());
  EXPECT_EQ(set.size(), keys.size());
}

TEST(packed_set, looking_up_while_others_insert_finds_what_was_there_before) {
  backend::host_memory memory;
  packed_set set(memory);
  const auto before = random_keys(20000, 0, 1);
  const auto later = random_keys(20000, 0, 2);
  set.grow(100000);
  insert_all(set, before);
  std::thread writer([&] { insert_all<concurrent_access>(set, later); });
  std::vector<std::uint8_t> found;
  for (int round = 0; round < 5; ++round) {
    found = look_up(set, before);
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(before.size()));
  }
  writer.join();
  found = look_up(set, later);
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(later.size()));
}

/// A row set alone; the rows are numbers, and a row's tuple is the number divided by 3. Slots have 32 bits until row
/// ids need more bits.
/// @param outside number of rows that the set does not contain: without such rows, growing reads rows in order
void expect_growth_and_moves(std::uint64_t outside) {
  backend::host_memory memory;
  row_set set(memory);
  const std::uint64_t least_bytes = table_growth::initial_slots * sizeof(std::uint32_t);
  EXPECT_EQ(set.bytes(), least_bytes);
  std::vector<word> tuple_of_row;
  const auto hash_of = [](word tuple) { return mix(mix(tuple) + 1); };
  std::uint64_t next_row = 0;
  for (word offered = 0; offered < 30000; ++offered) {
    const word tuple = offered / 3;
    const std::uint64_t rows = offered < 20000 ? offered + 1 : offered < 25000 ? 1ULL << 25 : 1ULL << 30;
    if (!set.has_room(1, rows))
      set.grow(
          1, rows, next_row + outside, [&](std::uint64_t row) { return hash_of(tuple_of_row[row]); },
          [](std::uint64_t) {});
    EXPECT_EQ(set.nowhere(), offered < 20000   ? (1ULL << 24) - 2
                             : offered < 25000 ? (1ULL << 28) - 2
                                               : (1ULL << 40) - 2);
    tuple_of_row.resize(next_row + 1);
    tuple_of_row[next_row] = tuple;
    const bool is_new = set.insert<exclusive_access>(hash_of(tuple), next_row,
                                                     [&](std::uint64_t row) { return tuple_of_row[row] == tuple; });
    EXPECT_EQ(is_new, offered % 3 == 0);
    if (is_new) {
      ++next_row;
      set.add_count<exclusive_access>(1);
    }
  }
  EXPECT_EQ(set.size(), 10000U);
  EXPECT_EQ(set.bytes(), 16 * table_growth::initial_slots * sizeof(std::uint64_t));
  // Swap the first and the last hundred rows through a free row.
  tuple_of_row.resize(next_row + 1);
  const auto move = [&](std::uint64_t from, std::uint64_t to) {
    set.move_row(hash_of(tuple_of_row[from]), from, to);
    tuple_of_row[to] = tuple_of_row[from];
  };
  for (std::uint64_t row = 0; row < 100; ++row) {
    move(row, next_row);
    move(next_row - 1 - row, row);
    move(next_row, next_row - 1 - row);
  }
  for (word tuple = 0; tuple < 10010; ++tuple) {
    std::uint64_t found_row = 0;
    const bool found = set.contains(hash_of(tuple), [&](std::uint64_t row) {
      found_row = row;
      return tuple_of_row[row] == tuple;
    });
    EXPECT_EQ(found, tuple < 10000);
    if (found && tuple < 100) EXPECT_EQ(found_row, next_row - 1 - tuple);
  }
}

TEST(row_set, finds_equal_tuples_and_follows_moved_rows) {
  expect_growth_and_moves(0);
  expect_growth_and_moves(1);
}

TEST(table_growth, gives_whole_lines) {
  for (std::uint64_t slots = table_growth::initial_slots; slots < 1ULL << 40;) {
    const std::uint64_t next = table_growth::next(slots);
    EXPECT_EQ(next % 16, 0) << slots;
    EXPECT_GE(2 * next, 3 * slots);
    EXPECT_LE(next, 2 * slots);
    slots = next;
  }
}

}  // namespace
}  // namespace gpulog::storage
