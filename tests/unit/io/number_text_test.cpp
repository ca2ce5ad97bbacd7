#include "io/values/number_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

namespace gpulog::io {
namespace {

template <class Number>
std::string printed(Number value) {
  std::array<char, longest_number> text;
  return {text.data(), print_number(text.data(), value)};
}

TEST(number_text, numbers) {
  std::int32_t value = 0;
  EXPECT_TRUE(parse_number("2147483647", value) && value == 2147483647);
  EXPECT_TRUE(parse_number("-2147483648", value) && value == std::numeric_limits<std::int32_t>::min());
  EXPECT_TRUE(parse_number("-0", value) && value == 0);
  EXPECT_TRUE(parse_number("007", value) && value == 7);
  EXPECT_TRUE(parse_number(" +7", value) && value == 7);
  for (const char* wrong : {"", " ", "-", "+", "+-1", "--1", "2147483648", "-2147483649", "99999999999999999999", "0x1",
                            "1 ", "1a", "a", "1.0"}) {
    EXPECT_FALSE(parse_number(wrong, value)) << wrong;
  }
  std::int64_t wide = 0;
  EXPECT_TRUE(parse_number("-9223372036854775808", wide) && wide == std::numeric_limits<std::int64_t>::min());
}

TEST(number_text, unsigned_numbers) {
  std::uint32_t value = 0;
  EXPECT_TRUE(parse_unsigned("4294967295", value) && value == 4294967295U);
  EXPECT_TRUE(parse_unsigned("0xfF", value) && value == 255);
  EXPECT_TRUE(parse_unsigned("0b101", value) && value == 5);
  EXPECT_TRUE(parse_unsigned("0", value) && value == 0);
  for (const char* wrong : {"", "-1", "4294967296", "0x", "0b", "0b2", "0xg", "0x100000000", "0b1x", "1u", "0x-1"}) {
    EXPECT_FALSE(parse_unsigned(wrong, value)) << wrong;
  }
}

TEST(number_text, floating_point) {
  float value = 0;
  EXPECT_TRUE(parse_floating("0.1", value) && value == 0.1F);
  EXPECT_TRUE(parse_floating("-1e10", value) && value == -1e10F);
  EXPECT_TRUE(parse_floating("+.5", value) && value == 0.5F);
  EXPECT_TRUE(parse_floating(" 5", value) && value == 5);
  EXPECT_TRUE(parse_floating("0x1p-2", value) && value == 0.25F);
  EXPECT_TRUE(parse_floating("inf", value) && std::isinf(value));
  EXPECT_TRUE(parse_floating("-Infinity", value) && std::isinf(value) && value < 0);
  EXPECT_TRUE(parse_floating("nan", value) && std::isnan(value));
  EXPECT_TRUE(parse_floating("1e-45", value) && value > 0);
  EXPECT_TRUE(parse_floating("1e-60", value) && value == 0);
  for (const std::string& wrong : {std::string(), std::string("a"), std::string("1e40"), std::string("1x"),
                                   std::string("1\0", 2), std::string("."), std::string("1 ")}) {
    EXPECT_FALSE(parse_floating(wrong, value)) << wrong;
  }
}

TEST(number_text, prints_integers) {
  EXPECT_EQ(printed(std::numeric_limits<std::int32_t>::min()), "-2147483648");
  EXPECT_EQ(printed(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(printed(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  std::uint64_t power = 1;
  for (int digits = 1; digits < 20; ++digits, power *= 10) {
    for (const std::uint64_t value : {power - 1, power, power + 1}) {
      EXPECT_EQ(printed(value), std::to_string(value));
      EXPECT_EQ(printed(static_cast<std::uint32_t>(value)), std::to_string(static_cast<std::uint32_t>(value)));
      EXPECT_EQ(printed(-static_cast<std::int64_t>(value)), std::to_string(-static_cast<std::int64_t>(value)));
    }
  }
}

TEST(number_text, prints_floating_point_as_streams_do) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (round % 2 == 0) value = static_cast<float>(static_cast<std::int32_t>(random() % 40'000'000) - 20'000'000);
    if (std::isnan(value)) continue;
    std::array<char, 64> expected;
    std::snprintf(expected.data(), expected.size(), "%.9g", static_cast<double>(value));
    ASSERT_EQ(printed(value), expected.data());
  }
  EXPECT_EQ(printed(0.1F), "0.100000001");
  EXPECT_EQ(printed(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(printed(std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(printed(0.1), "0.10000000000000001");
}

}  // namespace
}  // namespace gpulog::io
