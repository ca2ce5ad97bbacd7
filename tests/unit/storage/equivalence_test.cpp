#include "storage/sets/equivalence.hpp"
#include "oracle/random_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::storage {
namespace {

using pair = std::pair<word, word>;
using pair_set = std::set<pair>;
using backend::cpu::serial_backend;
using backend::cpu::thread_backend;

/// Classes as sets, told to each other by hand.
class model {
 public:
  void unite(word left, word right) {
    for (const word value : {left, right}) {
      if (!class_of_.contains(value)) class_of_[value] = std::make_shared<std::set<word>>(std::set<word>{value});
    }
    const auto from = class_of_[right];
    const auto to = class_of_[left];
    if (from == to) return;
    for (const word value : *from) {
      to->insert(value);
      class_of_[value] = to;
    }
  }
  [[nodiscard]] pair_set all() const {
    pair_set result;
    for (const auto& [value, members] : class_of_) {
      for (const word other : *members) result.insert({value, other});
    }
    return result;
  }

 private:
  std::map<word, std::shared_ptr<std::set<word>>> class_of_;
};

void offer(equivalence& target, const std::vector<pair>& given) {
  constexpr std::size_t tile = 100;
  std::uint64_t scratch[tile];
  for (std::size_t begin = 0; begin < given.size(); begin += tile) {
    std::vector<word> left;
    std::vector<word> right;
    for (std::size_t i = begin; i < std::min(given.size(), begin + tile); ++i) {
      left.push_back(given[i].first);
      right.push_back(given[i].second);
    }
    if (!target.has_room(tile)) target.make_room(tile);
    target.insert<exclusive_access>(left.data(), right.data(), static_cast<std::uint32_t>(left.size()), scratch);
  }
}

pair_set difference(const pair_set& from, const pair_set& taken) {
  pair_set result;
  std::set_difference(from.begin(), from.end(), taken.begin(), taken.end(), std::inserter(result, result.end()));
  return result;
}

/// Every way of reading a part gives these pairs.
void expect_part(const equivalence& read, bool with_old, bool with_delta, const pair_set& expected,
                 const std::vector<word>& values) {
  ASSERT_EQ(read.pair_count(with_old, with_delta), expected.size());
  std::vector<word> left(expected.size());
  std::vector<word> right(expected.size());
  read.read_pairs(with_old, with_delta, 0, expected.size(), left.data(), right.data());
  pair_set found;
  for (std::size_t i = 0; i < left.size(); ++i) found.insert({left[i], right[i]});
  ASSERT_EQ(found, expected);
  // In pieces that begin and end anywhere, and one column alone.
  std::vector<word> piece(7);
  for (std::size_t first = 0; first < expected.size(); first += piece.size()) {
    const std::size_t n = std::min(piece.size(), expected.size() - first);
    read.read_pairs(with_old, with_delta, first, n, nullptr, piece.data());
    ASSERT_TRUE(std::equal(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n),
                           right.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  for (const word value : values) {
    pair_set partners;
    for (const place_range& range : read.partners(value, with_old, with_delta)) {
      for (std::uint64_t place = range.begin; place < range.begin + range.count; ++place) {
        ASSERT_TRUE(partners.insert({value, read.members()[place]}).second);
      }
    }
    pair_set wanted;
    for (auto at = expected.lower_bound({value, 0}); at != expected.end() && at->first == value; ++at) {
      wanted.insert(*at);
    }
    ASSERT_EQ(partners, wanted);
    ASSERT_EQ(read.is_element(value, with_old, with_delta), expected.contains({value, value}));
    for (const word other : values) {
      ASSERT_EQ(read.is_pair(value, other, with_old, with_delta), expected.contains({value, other}));
    }
  }
}

void expect_parts(const equivalence& read, const pair_set& old, const pair_set& all, const std::vector<word>& values) {
  expect_part(read, true, true, all, values);
  expect_part(read, true, false, old, values);
  expect_part(read, false, true, difference(all, old), values);
  ASSERT_EQ(read.pairs(), all.size());
  ASSERT_EQ(read.old_pairs(), old.size());
  std::set<word> elements;
  for (std::uint64_t number = 0; number < read.elements(); ++number) {
    const word value = read.values()[number];
    elements.insert(value);
    ASSERT_TRUE(all.contains({value, value}));
    ASSERT_EQ(old.contains({value, value}), number < read.old_elements());
  }
  ASSERT_EQ(elements.size(), read.elements());
  std::set<word> with_delta;
  for (const auto& [left, right] : difference(all, old)) with_delta.insert(left);
  std::vector<word> changed(read.changed_elements());
  for (std::size_t first = 0; first < changed.size(); first += 3) {
    read.read_changed_elements(first, std::min<std::size_t>(3, changed.size() - first), changed.data() + first);
  }
  ASSERT_EQ(std::set<word>(changed.begin(), changed.end()), with_delta);
  ASSERT_EQ(changed.size(), with_delta.size());
}

TEST(equivalence, is_reflexive_symmetric_and_transitive) {
  backend::host_memory memory;
  equivalence made(memory);
  expect_parts(made, {}, {}, {0, 1});
  offer(made, {{1, 2}, {2, 3}, {7, 7}});
  EXPECT_EQ(made.pairs(), 0U);  // nothing is seen before it is published
  made.publish();
  EXPECT_EQ(made.pairs(), 10U);
  const pair_set all = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}, {7, 7}};
  expect_parts(made, {}, all, {0, 1, 2, 3, 7, 8});
  made.make_old();
  expect_parts(made, all, all, {0, 1, 2, 3, 7, 8});
  made.make_new();
  expect_parts(made, {}, all, {0, 1, 2, 3, 7, 8});
}

TEST(equivalence, takes_every_word_as_a_value) {
  backend::host_memory memory;
  equivalence made(memory);
  offer(made, {{0, 0xFFFFFFFF}, {0x80000000, 0x7FFFFFFF}, {0xFFFFFFFE, 1}, {1, 0}});
  made.publish();
  EXPECT_EQ(made.pairs(), 4U * 4 + 2 * 2);
  EXPECT_TRUE(made.is_pair(0xFFFFFFFE, 0xFFFFFFFF, true, true));
  EXPECT_FALSE(made.is_pair(0x80000000, 0, true, true));
}

TEST(equivalence, keeps_old_and_delta_apart_over_many_phases) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const word domain = 2 + static_cast<word>(random() % 40);
    std::vector<word> values(domain);
    for (word value = 0; value < domain; ++value) values[value] = value;
    backend::host_memory memory;
    equivalence made(memory);
    model expected;
    pair_set all;
    for (int phase = 0; phase < 8; ++phase) {
      std::vector<pair> given(random() % 6);
      for (pair& one : given) {
        one = {static_cast<word>(random() % domain), static_cast<word>(random() % domain)};
        expected.unite(one.first, one.second);
      }
      offer(made, given);
      made.publish();
      const pair_set old = std::exchange(all, expected.all());
      expect_parts(made, old, all, values);
      if (HasFatalFailure()) return;
      switch (random() % 4) {
        case 0:
          made.make_new();
          expect_parts(made, {}, all, values);
          break;
        case 1:
          made.make_old();
          expect_parts(made, all, all, values);
          break;
        default:
          break;
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(equivalence, merges_large_classes_in_any_order) {
  for (const bool falling : {false, true}) {
    backend::host_memory memory;
    equivalence made(memory);
    // Binary counting: classes of 1, 2, 4 ... elements become one, in one phase each.
    for (word step = 1; step < 4096; step *= 2) {
      std::vector<pair> given;
      for (word value = 0; value + step < 4096; value += 2 * step) {
        given.push_back(falling ? pair{value + step, value} : pair{value, value + step});
      }
      offer(made, given);
      made.publish();
      ASSERT_EQ(made.pairs(), 4096ULL * 2 * step);
    }
    ASSERT_TRUE(made.is_pair(0, 4095, true, false) != made.is_pair(0, 4095, false, true));
    // The blocks of former classes are not kept.
    EXPECT_LT(made.bytes(), 4096U * 150);
  }
}

TEST(equivalence, one_element_more_in_each_phase_costs_no_copy_of_the_class) {
  backend::host_memory memory;
  equivalence made(memory);
  constexpr word n = 200000;
  for (word value = 1; value < n; ++value) {
    offer(made, {{value - 1, value}});
    made.publish();
  }
  EXPECT_EQ(made.pairs(), static_cast<std::uint64_t>(n) * n);
  EXPECT_EQ(made.pair_count(false, true), 2ULL * n - 1);
}

TEST(equivalence, a_million_elements_in_one_class_take_little_memory) {
  backend::host_memory memory;
  relation_options options;
  relation made(memory, 2, options);
  made.become_equivalence();
  serial_backend backend;
  const auto scratch = std::make_unique<insert_scratch>();
  constexpr word n = 1000000;
  std::vector<word> left(tile_rows);
  std::vector<word> right(tile_rows);
  for (word begin = 0; begin + 1 < n; begin += tile_rows) {
    const word count = std::min<word>(tile_rows, n - 1 - begin);
    for (word i = 0; i < count; ++i) {
      left[i] = begin + i;
      right[i] = begin + i + 1;
    }
    const word* const columns[] = {left.data(), right.data()};
    while (!made.has_room()) made.make_room(backend);
    EXPECT_EQ(made.insert<exclusive_access>(columns, count, *scratch, 0), count);
  }
  made.settle(backend);
  made.complete();
  EXPECT_EQ(made.rows(), 1000000000000ULL);
  EXPECT_LT(memory.peak(), 128U << 20);
  const equivalence& classes = *made.as_equivalence();
  EXPECT_TRUE(classes.is_pair(0, n - 1, true, true));
  EXPECT_FALSE(classes.is_pair(0, n, true, true));
  EXPECT_EQ(classes.partners(12345, true, true)[0].count, n);
  // The last pairs of all can be read without those in front of them.
  word last[3];
  classes.read_pairs(true, true, 999999999997ULL, 3, last, nullptr);
  EXPECT_EQ(last[0], last[2]);
  made.restart();
  EXPECT_EQ(made.delta_rows(), 1000000000000ULL);
  made.advance();
  EXPECT_EQ(made.delta_rows(), 0U);
}

TEST(equivalence, many_workers_unite_and_read_at_once_release_only) {
  constexpr std::uint64_t seeds = oracle::fewer_when_sanitized(5);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    thread_backend backend(4);
    backend::host_memory memory;
    relation_options options;
    options.workers = backend.workers();
    relation made(memory, 2, options);
    made.become_equivalence();
    std::vector<std::unique_ptr<insert_scratch>> scratch(backend.workers());
    for (auto& own : scratch) own = std::make_unique<insert_scratch>();
    model expected;
    std::mt19937_64 random(seed);
    constexpr word domain = 3000;
    pair_set before;
    for (int phase = 0; phase < 4; ++phase) {
      std::vector<word> left(4000);
      std::vector<word> right(left.size());
      for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = static_cast<word>(random() % domain);
        right[i] = phase == 0 && i % 2 == 0 ? left[i] : (left[i] + static_cast<word>(random() % 3)) % domain;
        if (phase == 0 && i % 50 != 0) right[i] = left[i];
        expected.unite(left[i], right[i]);
      }
      std::shared_mutex gate;
      backend.for_each_tile(left.size(), 64, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        std::shared_lock<std::shared_mutex> inside(gate);
        while (!made.has_room()) {
          inside.unlock();
          {
            const std::unique_lock<std::shared_mutex> alone(gate);
            if (!made.has_room()) made.make_room(backend);
          }
          inside.lock();
        }
        const word* const columns[] = {left.data() + begin, right.data() + begin};
        const auto n = static_cast<std::uint32_t>(end - begin);
        made.insert<concurrent_access>(columns, n, *scratch[worker], worker);
        // What is published does not change meanwhile.
        std::vector<std::uint8_t> found(n);
        made.contains(columns, n, *scratch[worker], found.data());
        for (std::uint32_t i = 0; i < n; ++i) {
          EXPECT_EQ(found[i] != 0, before.contains({columns[0][i], columns[1][i]}));
        }
      });
      made.settle(backend);
      made.advance();
      const pair_set all = expected.all();
      EXPECT_EQ(made.rows(), all.size());
      EXPECT_EQ(made.delta_rows(), all.size() - before.size());
      std::vector<word> found_left(made.rows());
      std::vector<word> found_right(made.rows());
      made.as_equivalence()->read_pairs(true, true, 0, made.rows(), found_left.data(), found_right.data());
      pair_set found;
      for (std::size_t i = 0; i < found_left.size(); ++i) found.insert({found_left[i], found_right[i]});
      ASSERT_EQ(found, all);
      before = all;
    }
  }
}

TEST(equivalence, reports_memory_that_is_not_there) {
  backend::host_memory memory;
  memory.set_limit(1 << 20);
  equivalence made(memory);
  std::vector<pair> given;
  for (word value = 0; value < 100000; ++value) given.push_back({value, value + 1});
  EXPECT_THROW(
      {
        offer(made, given);
        made.publish();
      },
      backend::memory_exceeded);
}

}  // namespace
}  // namespace gpulog::storage
