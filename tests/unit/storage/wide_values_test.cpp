#include "storage/symbols/wide_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace gpulog::storage {
namespace {

wide_word bits(double value) { return std::bit_cast<wide_word>(value); }
wide_word number(std::int64_t value) { return static_cast<wide_word>(value); }

/// Values around every boundary between the forms of codes.
std::vector<wide_word> edge_values() {
  std::vector<wide_word> values;
  for (int shift = 0; shift < 64; ++shift) {
    for (const std::int64_t offset : {-2, -1, 0, 1, 2}) {
      values.push_back((wide_word{1} << shift) + number(offset));
      values.push_back(number(offset) - (wide_word{1} << shift));
    }
  }
  for (const double value : {0.0, 0.5, -1.0, 0.1, 1e300, 1.0 / 0.0, 131072.5, 262144.5, -3.25}) {
    values.push_back(bits(value));
  }
  return values;
}

TEST(wide_values, have_codes_that_give_them_back) {
  wide_values wide;
  std::set<wide_word> distinct;
  std::set<word> codes;
  for (const wide_word value : edge_values()) {
    const word code = wide.code(value);
    EXPECT_EQ(wide.value(code), value);
    EXPECT_EQ(wide.code(value), code);
    EXPECT_EQ(wide.known_code(value), code);
    EXPECT_NE(code, wide_values::no_code);
    distinct.insert(value);
    codes.insert(code);
  }
  EXPECT_EQ(codes.size(), distinct.size());
}

TEST(wide_values, frequent_ones_need_no_table) {
  wide_values wide;
  for (const wide_word value : {number(0), number(2147483647), number(-1), number(-(1 << 29)), bits(0.5), bits(1.0),
                                bits(-17.25), bits(1024.0)}) {
    (void)wide.code(value);
  }
  EXPECT_EQ(wide.code(7), 7U);
  EXPECT_EQ(wide.size(), 0U);
  (void)wide.code(2147483648);
  (void)wide.code(number(-(1 << 29) - 1));
  (void)wide.code(bits(0.1));
  EXPECT_EQ(wide.size(), 3U);
}

TEST(wide_values, that_nobody_has_seen_have_no_code) {
  wide_values wide;
  const wide_word value = number(1) << 40 | 5;
  EXPECT_EQ(wide.known_code(value), wide_values::no_code);
  const word code = wide.code(value);
  EXPECT_EQ(wide.known_code(value), code);
  EXPECT_EQ(wide.known_code(value + 1), wide_values::no_code);
}

TEST(wide_values, many_at_a_time_as_one_by_one) {
  wide_values wide;
  std::mt19937_64 random(7);
  for (const std::uint32_t n : {0U, 1U, 63U, 64U, 65U, 512U}) {
    std::vector<wide_word> values;
    for (std::uint32_t i = 0; i < n; ++i) values.push_back(i % 3 == 0 ? random() % 5 : random() % 300 << 35 | i % 7);
    std::vector<word> codes(n);
    wide.codes(values.data(), n, codes.data());
    for (std::uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(codes[i], wide.code(values[i]));
      EXPECT_EQ(wide.value(codes[i]), values[i]);
    }
  }
}

TEST(wide_values, are_the_same_for_all_threads) {
  wide_values wide;
  constexpr std::size_t count = 20000;
  std::vector<std::vector<word>> codes(4);
  std::vector<std::thread> threads;
  for (std::vector<word>& own : codes) {
    threads.emplace_back([&wide, &own] {
      for (std::size_t i = 0; i < count; ++i) own.push_back(wide.code(wide_word{i} * 0x9e3779b97f4a7c15));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<word>& own : codes) EXPECT_EQ(own, codes.front());
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(wide.value(codes[0][i]), wide_word{i} * 0x9e3779b97f4a7c15);
}

}  // namespace
}  // namespace gpulog::storage
