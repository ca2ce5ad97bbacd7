#include "storage/indexes/key_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;

template <class Backend>
class key_levels : public ::testing::Test {
 protected:
  Backend backend;
  backend::host_memory memory;

  void build(key_level& level, const std::vector<tuple>& sorted) {
    level.build(backend, sorted.size(), [&sorted](std::uint32_t c, std::uint64_t i) { return sorted[i][c]; });
  }
};

using backends = ::testing::Types<backend::cpu::serial_backend, backend::cpu::thread_backend>;
TYPED_TEST_SUITE(key_levels, backends);

row_range find(const key_level& level, const tuple& key) {
  const auto key_of = [&key](std::uint32_t c) { return key[c]; };
  const std::uint64_t code = level.code(key_of);
  return level.find(code, level.home(code), key_of);
}

std::vector<tuple> random_sorted(std::size_t n, std::uint32_t length, word below, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<tuple> rows(n, tuple(length));
  for (auto& row : rows) {
    for (auto& value : row) value = static_cast<word>(below == 0 ? random() : random() % below);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Every key of the rows is found with its range, and keys that are not there are not.
void expect_finds(const key_level& level, const std::vector<tuple>& sorted) {
  std::uint64_t groups = 0;
  for (std::uint32_t first = 0; first < sorted.size();) {
    const tuple& key = sorted[first];
    std::uint32_t end = first;
    while (end < sorted.size() && sorted[end] == key) ++end;
    const row_range found = find(level, key);
    ASSERT_EQ(found.first, first);
    ASSERT_EQ(found.count, end - first);
    for (const word offset : {word{1}, ~word{0}, word{0x80000000}}) {
      if (first > 2000) break;
      tuple other = key;
      other.back() += offset;
      const auto [begin, past] = std::equal_range(sorted.begin(), sorted.end(), other);
      ASSERT_EQ(find(level, other).count, past - begin);
    }
    first = end;
    ++groups;
  }
  ASSERT_EQ(level.groups(), groups);
}

TYPED_TEST(key_levels, find_every_key_of_lengths_1_to_4) {
  for (const std::size_t n : {0, 1, 31, 32, 33, 1000, 70000}) {
    for (std::uint32_t length = 1; length <= 4; ++length) {
      for (const word below : {word{0}, word{3}, word{200}}) {
        if (n > 1000 && below == 3) continue;
        if (oracle::is_sanitized && n > 1000 && (length != 2 || below == 0)) continue;
        for (const bool direct : {false, true}) {
          SCOPED_TRACE(testing::Message() << n << " rows, length " << length << ", below " << below);
          key_level level(this->memory, length, direct ? 0.5 : 0.8, direct);
          const auto rows = random_sorted(n, length, below, n + length);
          this->build(level, rows);
          expect_finds(level, rows);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(key_levels, keys_with_equal_prints_differ) {
  key_level level(this->memory, 2, 0.5);
  std::vector<tuple> rows;
  for (word high = 1; high < 3000; high += 1 + high % 2) rows.push_back({high, word{0} - high * 0x9e3779b1U});
  this->build(level, rows);
  expect_finds(level, rows);
  for (word high = 0; high < 3000; ++high) {
    const tuple key{high, word{0} - high * 0x9e3779b1U};
    EXPECT_EQ(find(level, key).count, std::count(rows.begin(), rows.end(), key)) << high;
  }
}

TYPED_TEST(key_levels, dense_numbers_are_looked_up_directly) {
  key_level level(this->memory, 1, 0.5, true);
  std::vector<tuple> rows;
  for (word key = 10; key < 5000; key += 3) rows.insert(rows.end(), 1 + key % 4, tuple{key});
  this->build(level, rows);
  ASSERT_TRUE(level.is_direct());
  expect_finds(level, rows);
  EXPECT_EQ(level.find_direct(0).count, 0U);
  EXPECT_EQ(level.find_direct(10).first, 0U);
  EXPECT_EQ(level.find_direct(10).count, 3U);
  EXPECT_EQ(level.find_direct(11).count, 0U);
  EXPECT_EQ(level.find_direct(4999).count, 4U);  // 10 + 3 * 1663
  EXPECT_EQ(level.find_direct(5000).count, 0U);
  EXPECT_EQ(level.find_direct(~word{0}).count, 0U);
  // Sparse ones are not, even when the level's buffers were used for dense ones before.
  this->build(level, {{5}, {5}, {4000000000U}});
  EXPECT_FALSE(level.is_direct());
  expect_finds(level, {{5}, {5}, {4000000000U}});
  this->build(level, rows);
  EXPECT_TRUE(level.is_direct());
  expect_finds(level, rows);
}

TYPED_TEST(key_levels, rows_below_a_key) {
  key_level level(this->memory, 1, 0.5);
  EXPECT_EQ(level.rows_below(7), 0U);
  this->build(level, {{2}, {2}, {5}, {9}, {9}, {9}});
  EXPECT_EQ(level.rows_below(0), 0U);
  EXPECT_EQ(level.rows_below(2), 0U);
  EXPECT_EQ(level.rows_below(3), 2U);
  EXPECT_EQ(level.rows_below(9), 3U);
  EXPECT_EQ(level.rows_below(10), 6U);
  EXPECT_EQ(level.rows_below(~word{0}), 6U);
}

TYPED_TEST(key_levels, merge_is_the_level_of_merged_rows) {
  for (const std::size_t a_size : {0, 1, 33, 20000}) {
    for (const std::size_t b_size : {0, 1, 33, 20000}) {
      for (std::uint32_t length = 1; length <= 3; ++length) {
        for (const word below : {word{0}, word{150}}) {
          if (oracle::is_sanitized && a_size + b_size > 1000 && (length != 2 || below == 0)) continue;
          SCOPED_TRACE(testing::Message() << a_size << " and " << b_size << " rows, length " << length);
          const auto a_rows = random_sorted(a_size, length, below, a_size + 1);
          const auto b_rows = random_sorted(b_size, length, below, b_size + 2);
          key_level a(this->memory, length, 0.5, true);
          key_level b(this->memory, length, 0.5, true);
          this->build(a, a_rows);
          this->build(b, b_rows);
          key_level merged(this->memory, length, 0.5, true);
          // The rows go along as copy says: equal keys of a before those of b.
          std::vector<tuple> rows(a_size + b_size);
          std::vector<int> origin(a_size + b_size, -1);
          merged.merge(this->backend, a, b, buffer_policy{false, 0},
                       [&](bool from_b, std::uint32_t source, std::uint32_t count, std::uint32_t target) {
                         for (std::uint32_t i = 0; i < count; ++i) {
                           rows[target + i] = from_b ? b_rows[source + i] : a_rows[source + i];
                           origin[target + i] = from_b ? 1 : 0;
                         }
                       });
          EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
          EXPECT_EQ(std::count(origin.begin(), origin.end(), 0), static_cast<std::ptrdiff_t>(a_size));
          EXPECT_EQ(std::count(origin.begin(), origin.end(), 1), static_cast<std::ptrdiff_t>(b_size));
          for (std::size_t i = 1; i < rows.size(); ++i) {
            if (rows[i] == rows[i - 1]) ASSERT_LE(origin[i - 1], origin[i]);
          }
          expect_finds(merged, rows);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(key_levels, merge_uses_buffers_again_with_eager_management) {
  const buffer_policy eager{true, 8.0};
  key_level full(this->memory, 2, 0.8);
  key_level spare(this->memory, 2, 0.8);
  std::vector<tuple> rows;
  for (std::uint64_t round = 0; round < 12; ++round) {
    const auto added = random_sorted(200, 2, 300, round);
    key_level delta(this->memory, 2, 0.8);
    this->build(delta, added);
    spare.merge(this->backend, full, delta, eager, [](bool, std::uint32_t, std::uint32_t, std::uint32_t) {});
    std::swap(full, spare);
    rows.insert(rows.end(), added.begin(), added.end());
    std::sort(rows.begin(), rows.end());
    expect_finds(full, rows);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gpulog::storage
