// Operations on words at their edges; what is expected was run on Soufflé 2.5.

#include "kernels/steps/scalar.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/steps/steps.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/error.hpp"

namespace gpulog::kernels {
namespace {

constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

word run(scalar_op op, word a, word b = 0) {
  // A whole tile, as vectorised code may differ from that for its end.
  std::vector<word> left(37, a);
  std::vector<word> right(37, b);
  std::vector<word> result(37, 4711);
  compute_tile(op, left.data(), right.data(), 37, result.data());
  for (const word one : result) EXPECT_EQ(one, result.front());
  return result.front();
}
std::int32_t on_numbers(scalar_op op, std::int32_t a, std::int32_t b = 0) {
  return as_number(run(op, from_number(a), from_number(b)));
}
float on_floats(scalar_op op, float a, float b = 0) {
  return as_float(run(op, std::bit_cast<word>(a), std::bit_cast<word>(b)));
}
bool faults(scalar_op op, word a, word b) {
  // Among rows that don't.
  std::vector<word> left = {6, a, 6};
  std::vector<word> right = {3, b, 3};
  std::vector<word> result(3);
  try {
    compute_tile(op, left.data(), right.data(), 3, result.data());
  } catch (const arithmetic_fault&) {
    return true;
  }
  return false;
}

TEST(scalar, numbers_wrap_around) {
  EXPECT_EQ(on_numbers(scalar_op::add_number, 3, largest), -2147483646);
  EXPECT_EQ(on_numbers(scalar_op::subtract_number, smallest, 1), largest);
  EXPECT_EQ(on_numbers(scalar_op::multiply_number, largest, 2), -2);
  EXPECT_EQ(on_numbers(scalar_op::negate_number, smallest), smallest);
  EXPECT_EQ(on_numbers(scalar_op::negate_number, 5), -5);
  EXPECT_EQ(run(scalar_op::subtract_number, 0, 1), 4294967295U);
  EXPECT_EQ(run(scalar_op::copy, 77, 1), 77U);
}

TEST(scalar, division_truncates) {
  EXPECT_EQ(on_numbers(scalar_op::divide_number, -7, 3), -2);
  EXPECT_EQ(on_numbers(scalar_op::modulo_number, -7, 3), -1);
  EXPECT_EQ(on_numbers(scalar_op::divide_number, 7, -3), -2);
  EXPECT_EQ(on_numbers(scalar_op::modulo_number, 7, -3), 1);
  EXPECT_EQ(on_numbers(scalar_op::divide_number, 5, -1), -5);
  EXPECT_EQ(run(scalar_op::divide_unsigned, 0x80000000U, 0xffffffffU), 0U);
  EXPECT_EQ(run(scalar_op::divide_unsigned, 0xfffffff9U, 3), 1431655763U);
  EXPECT_EQ(run(scalar_op::modulo_unsigned, 0xffffffffU, 10), 5U);
}

TEST(scalar, division_by_zero_and_overflow_fault) {
  for (const auto op : {scalar_op::divide_number, scalar_op::modulo_number}) {
    EXPECT_TRUE(faults(op, 1, 0));
    EXPECT_TRUE(faults(op, 0, 0));
    EXPECT_TRUE(faults(op, from_number(smallest), from_number(-1)));
    EXPECT_FALSE(faults(op, from_number(smallest), 1));
    EXPECT_FALSE(faults(op, from_number(largest), from_number(-1)));
  }
  for (const auto op : {scalar_op::divide_unsigned, scalar_op::modulo_unsigned}) {
    EXPECT_TRUE(faults(op, 1, 0));
    EXPECT_FALSE(faults(op, 0x80000000U, 0xffffffffU));
  }
  EXPECT_FALSE(faults(scalar_op::divide_float, 0, 0));
}

TEST(scalar, powers_go_through_doubles) {
  EXPECT_EQ(on_numbers(scalar_op::power_number, 2, 10), 1024);
  EXPECT_EQ(on_numbers(scalar_op::power_number, -2, 3), -8);
  EXPECT_EQ(on_numbers(scalar_op::power_number, 0, 0), 1);
  EXPECT_EQ(on_numbers(scalar_op::power_number, 2, -1), 0);
  EXPECT_EQ(on_numbers(scalar_op::power_number, 3, 30), smallest);
  EXPECT_EQ(on_numbers(scalar_op::power_number, 2, 31), smallest);
  EXPECT_EQ(on_numbers(scalar_op::power_number, 0, -1), smallest);  // of infinity
  EXPECT_EQ(on_numbers(scalar_op::power_number, -2, 31), smallest);
  EXPECT_EQ(run(scalar_op::power_unsigned, 2, 31), 0x80000000U);
  EXPECT_EQ(run(scalar_op::power_unsigned, 2, 32), 0U);
  EXPECT_EQ(run(scalar_op::power_unsigned, 3, 30), static_cast<word>(205891132094649ULL));
  EXPECT_EQ(run(scalar_op::power_unsigned, 10, 30), 0U);
}

TEST(scalar, conversions_to_unsigned_keep_the_low_word_of_64_bits) {
  EXPECT_EQ(double_to_unsigned<word>(-1.0), 4294967295U);
  EXPECT_EQ(double_to_unsigned<word>(-1.9), 4294967295U);
  EXPECT_EQ(double_to_unsigned<word>(4294967297.0), 1U);
  EXPECT_EQ(double_to_unsigned<word>(9223372036854774784.0), 0xfffffc00U);  // the largest double that fits
  EXPECT_EQ(double_to_unsigned<word>(9223372036854775808.0), 0U);
  EXPECT_EQ(double_to_unsigned<word>(-9223372036854775808.0), 0U);
  EXPECT_EQ(double_to_unsigned<word>(-9223372036854774784.0), 0x400U);
  EXPECT_EQ(double_to_unsigned<word>(-9223372036854777856.0), 0U);
  EXPECT_EQ(double_to_unsigned<word>(1e300), 0U);
  EXPECT_EQ(double_to_unsigned<word>(std::numeric_limits<double>::quiet_NaN()), 0U);
}

TEST(scalar, conversions_between_kinds) {
  const auto to_number = [](float f) { return as_number(run(scalar_op::float_to_number, std::bit_cast<word>(f))); };
  EXPECT_EQ(to_number(-3.7F), -3);
  EXPECT_EQ(to_number(3.7F), 3);
  EXPECT_EQ(to_number(1e20F), smallest);
  EXPECT_EQ(to_number(-1e20F), smallest);
  EXPECT_EQ(to_number(2147483648.0F), smallest);
  EXPECT_EQ(to_number(2147483520.0F), 2147483520);
  EXPECT_EQ(to_number(-2147483648.0F), smallest);
  EXPECT_EQ(to_number(not_a_number), smallest);
  EXPECT_EQ(to_number(infinity), smallest);
  const auto to_unsigned = [](float f) { return run(scalar_op::float_to_unsigned, std::bit_cast<word>(f)); };
  EXPECT_EQ(to_unsigned(3.9F), 3U);
  EXPECT_EQ(to_unsigned(-1.0F), 4294967295U);
  EXPECT_EQ(to_unsigned(4294967040.0F), 4294967040U);
  EXPECT_EQ(to_unsigned(not_a_number), 0U);
  EXPECT_EQ(to_unsigned(1e30F), 0U);
  EXPECT_EQ(as_float(run(scalar_op::number_to_float, from_number(-5))), -5.0F);
  EXPECT_EQ(as_float(run(scalar_op::unsigned_to_float, 4294967295U)), 4294967296.0F);
}

TEST(scalar, shifts_mask_their_count) {
  EXPECT_EQ(on_numbers(scalar_op::shift_left, 1, 33), 2);
  EXPECT_EQ(on_numbers(scalar_op::shift_left, 1, -1), smallest);
  EXPECT_EQ(on_numbers(scalar_op::shift_right_number, -8, 1), -4);
  EXPECT_EQ(on_numbers(scalar_op::shift_right_number, -8, 32), -8);
  EXPECT_EQ(on_numbers(scalar_op::shift_right_number, -1, 31), -1);
  EXPECT_EQ(on_numbers(scalar_op::shift_right_unsigned, -8, 1), 2147483644);
  EXPECT_EQ(on_numbers(scalar_op::shift_right_unsigned, -8, 33), 2147483644);
}

TEST(scalar, bits_and_logic) {
  EXPECT_EQ(run(scalar_op::bit_and, 12, 10), 8U);
  EXPECT_EQ(run(scalar_op::bit_or, 12, 10), 14U);
  EXPECT_EQ(run(scalar_op::bit_xor, 12, 10), 6U);
  EXPECT_EQ(run(scalar_op::bit_not, 0), ~word{0});
  EXPECT_EQ(run(scalar_op::logical_and, 5, 3), 1U);
  EXPECT_EQ(run(scalar_op::logical_and, 5, 0), 0U);
  EXPECT_EQ(run(scalar_op::logical_or, 0, 4), 1U);
  EXPECT_EQ(run(scalar_op::logical_or, 0, 0), 0U);
  EXPECT_EQ(run(scalar_op::logical_xor, 5, 3), 0U);
  EXPECT_EQ(run(scalar_op::logical_xor, 5, 0), 1U);
  EXPECT_EQ(run(scalar_op::logical_not, 5), 0U);
  EXPECT_EQ(run(scalar_op::logical_not, 0), 1U);
}

TEST(scalar, floats_do_not_trap_and_minus_zero_is_stored_as_zero) {
  EXPECT_EQ(on_floats(scalar_op::divide_float, 1, 0), infinity);
  EXPECT_TRUE(std::isnan(on_floats(scalar_op::divide_float, 0, 0)));
  EXPECT_EQ(run(scalar_op::multiply_float, std::bit_cast<word>(0.0F), std::bit_cast<word>(-1.0F)), 0U);
  EXPECT_EQ(run(scalar_op::negate_float, std::bit_cast<word>(0.0F)), 0U);
  EXPECT_EQ(on_floats(scalar_op::negate_float, 1.5F), -1.5F);
  EXPECT_EQ(on_floats(scalar_op::add_float, 1.5F, 2), 3.5F);
  EXPECT_EQ(on_floats(scalar_op::subtract_float, 1.5F, 2), -0.5F);
  EXPECT_EQ(on_floats(scalar_op::power_float, 2, 0.5F), std::pow(2.0F, 0.5F));
}

TEST(scalar, smaller_and_larger) {
  EXPECT_EQ(on_numbers(scalar_op::min_number, -1, 1), -1);
  EXPECT_EQ(on_numbers(scalar_op::max_number, -1, 1), 1);
  EXPECT_EQ(run(scalar_op::min_unsigned, ~word{0}, 1), 1U);
  EXPECT_EQ(run(scalar_op::max_unsigned, ~word{0}, 1), ~word{0});
  EXPECT_EQ(on_floats(scalar_op::min_float, -2, 1), -2);
  EXPECT_EQ(on_floats(scalar_op::max_float, -2, 1), 1);
}

std::vector<std::uint16_t> select(comparison_op op, const std::vector<word>& a, const std::vector<word>& b,
                                  const storage::symbol_table* symbols = nullptr) {
  std::vector<std::uint16_t> selected(a.size() + 1);
  selected.resize(select_tile(op, a.data(), b.data(), static_cast<std::uint32_t>(a.size()), symbols, selected.data()));
  return selected;
}
using numbers = std::vector<std::uint16_t>;

std::uint64_t run_wide(scalar_op op, std::uint64_t a, std::uint64_t b = 0) {
  std::vector<std::uint64_t> left(37, a);
  std::vector<std::uint64_t> right(37, b);
  std::vector<std::uint64_t> result(37, 4711);
  compute_tile(op, left.data(), right.data(), 37, result.data());
  for (const std::uint64_t one : result) EXPECT_EQ(one, result.front());
  return result.front();
}

TEST(scalar, words_of_64_bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  EXPECT_EQ(run_wide(scalar_op::add_number, all, 1), 0U);
  EXPECT_EQ(run_wide(scalar_op::multiply_number, std::uint64_t{1} << 40, 1 << 20), std::uint64_t{1} << 60);
  EXPECT_EQ(as_number(run_wide(scalar_op::divide_number, from_number(std::int64_t{-5000000000}), 3)), -1666666666);
  EXPECT_EQ(run_wide(scalar_op::shift_left, 1, 40), std::uint64_t{1} << 40);
  EXPECT_EQ(run_wide(scalar_op::shift_left, 1, 65), 2U);
  EXPECT_EQ(run_wide(scalar_op::shift_right_number, sign, 63), all);
  EXPECT_EQ(run_wide(scalar_op::shift_right_unsigned, sign, 63), 1U);
  EXPECT_EQ(run_wide(scalar_op::max_number, sign, 1), 1U);
  EXPECT_EQ(run_wide(scalar_op::max_unsigned, sign, 1), sign);
  EXPECT_EQ(run_wide(scalar_op::power_number, 10, 20), sign);
  EXPECT_EQ(run_wide(scalar_op::power_unsigned, 2, 63), sign);
  EXPECT_EQ(run_wide(scalar_op::add_float, bits(0.1), bits(0.2)), bits(0.1 + 0.2));
  EXPECT_EQ(run_wide(scalar_op::multiply_float, bits(-1.0), bits(0.0)), 0U);
  EXPECT_EQ(run_wide(scalar_op::unsigned_to_float, all), bits(18446744073709551616.0));
  const std::uint64_t smallest_wide = sign;
  EXPECT_THROW((void)run_wide(scalar_op::divide_number, smallest_wide, all), arithmetic_fault);
  EXPECT_THROW((void)run_wide(scalar_op::modulo_unsigned, 5, 0), arithmetic_fault);
  EXPECT_EQ(run_wide(scalar_op::divide_unsigned, smallest_wide, all), 0U);
  // As x86-64 converts.
  for (const auto& [value, number, natural] :
       {std::tuple(-1.9, all, all), std::tuple(9223372036854774784.0, sign - 1024, sign - 1024),
        std::tuple(9223372036854775808.0, sign, sign), std::tuple(-9223372036854775808.0, sign, sign),
        std::tuple(18446744073709549568.0, sign, all - 2047),
        std::tuple(18446744073709551616.0, sign, std::uint64_t{0}), std::tuple(-1e300, sign, sign),
        std::tuple(std::numeric_limits<double>::quiet_NaN(), sign, sign)}) {
    EXPECT_EQ(run_wide(scalar_op::float_to_number, bits(value)), number) << value;
    EXPECT_EQ(run_wide(scalar_op::float_to_unsigned, bits(value)), natural) << value;
  }
}

TEST(select, compares_by_kind) {
  const word minus_one = ~word{0};
  const std::vector<word> a = {minus_one, 1, 2};
  const std::vector<word> b = {1, minus_one, 2};
  EXPECT_EQ(select(comparison_op::equal, a, b), (numbers{2}));
  EXPECT_EQ(select(comparison_op::not_equal, a, b), (numbers{0, 1}));
  EXPECT_EQ(select(comparison_op::less_number, a, b), (numbers{0}));
  EXPECT_EQ(select(comparison_op::less_equal_number, a, b), (numbers{0, 2}));
  EXPECT_EQ(select(comparison_op::greater_number, a, b), (numbers{1}));
  EXPECT_EQ(select(comparison_op::greater_equal_number, a, b), (numbers{1, 2}));
  EXPECT_EQ(select(comparison_op::less_unsigned, a, b), (numbers{1}));
  EXPECT_EQ(select(comparison_op::less_equal_unsigned, a, b), (numbers{1, 2}));
  EXPECT_EQ(select(comparison_op::greater_unsigned, a, b), (numbers{0}));
  EXPECT_EQ(select(comparison_op::greater_equal_unsigned, a, b), (numbers{0, 2}));
}

TEST(select, compares_floats_as_ieee_does) {
  const auto bits = [](float f) { return std::bit_cast<word>(f); };
  const std::vector<word> a = {bits(-1), bits(not_a_number), bits(-0.0F), bits(2)};
  const std::vector<word> b = {bits(1), bits(not_a_number), bits(0.0F), bits(1)};
  EXPECT_EQ(select(comparison_op::equal_float, a, b), (numbers{2}));
  EXPECT_EQ(select(comparison_op::not_equal_float, a, b), (numbers{0, 1, 3}));
  EXPECT_EQ(select(comparison_op::less_float, a, b), (numbers{0}));
  EXPECT_EQ(select(comparison_op::less_equal_float, a, b), (numbers{0, 2}));
  EXPECT_EQ(select(comparison_op::greater_float, a, b), (numbers{3}));
  EXPECT_EQ(select(comparison_op::greater_equal_float, a, b), (numbers{2, 3}));
}

TEST(select, compares_texts_by_bytes) {
  storage::symbol_table symbols;
  const auto id = [&](const char* text) { return symbols.intern(text); };
  const std::vector<word> a = {id("b"), id("10"), id("B"), id("same"), id("")};
  const std::vector<word> b = {id("a"), id("9"), id("a"), id("same"), id("x")};
  EXPECT_EQ(select(comparison_op::less_symbol, a, b, &symbols), (numbers{1, 2, 4}));
  EXPECT_EQ(select(comparison_op::less_equal_symbol, a, b, &symbols), (numbers{1, 2, 3, 4}));
  EXPECT_EQ(select(comparison_op::greater_symbol, a, b, &symbols), (numbers{0}));
  EXPECT_EQ(select(comparison_op::greater_equal_symbol, a, b, &symbols), (numbers{0, 3}));
}

TEST(select, matches_whole_texts_and_bad_patterns_match_nothing) {
  storage::symbol_table symbols;
  const auto id = [&](const char* text) { return symbols.intern(text); };
  const std::vector<word> pattern = {id("a.c"), id("a"), id("a*"), id("("), id("[0-9]+")};
  const std::vector<word> text = {id("abc"), id("ab"), id(""), id("("), id("0123")};
  EXPECT_EQ(select(comparison_op::matches, pattern, text, &symbols), (numbers{0, 2, 4}));
  EXPECT_EQ(select(comparison_op::not_matches, pattern, text, &symbols), (numbers{1}));
  EXPECT_EQ(select(comparison_op::contains, {id("b"), id("x"), id("")}, {id("abc"), id("abc"), id("")}, &symbols),
            (numbers{0, 2}));
  EXPECT_EQ(select(comparison_op::not_contains, {id("b"), id("x"), id("")}, {id("abc"), id("abc"), id("")}, &symbols),
            (numbers{1}));
}

class texts : public ::testing::Test {
 protected:
  word id(const std::string& text) { return symbols.intern(text); }
  word compute(scalar_op op, const std::vector<word>& arguments) {
    std::vector<const word*> pointers;
    for (const word& argument : arguments) pointers.push_back(&argument);
    word result = 4711;
    part_finder parts;
    compute_text_tile(op, pointers, 1, &result, symbols, parts);
    return result;
  }
  std::string text_of(word symbol) { return std::string(symbols.text(symbol)); }
  storage::symbol_table symbols;
};

TEST_F(texts, operations) {
  EXPECT_EQ(text_of(compute(scalar_op::concatenate, {id("a"), id(""), id("bc")})), "abc");
  EXPECT_EQ(compute(scalar_op::string_length, {id("\xc3\xa9")}), 2U) << "bytes, not letters";
  EXPECT_EQ(text_of(compute(scalar_op::min_symbol, {id("b"), id("B")})), "B");
  EXPECT_EQ(text_of(compute(scalar_op::max_symbol, {id("b"), id("abc")})), "b");
  EXPECT_EQ(text_of(compute(scalar_op::number_to_string, {from_number(smallest)})), "-2147483648");
  EXPECT_EQ(text_of(compute(scalar_op::unsigned_to_string, {~word{0}})), "4294967295");
  EXPECT_EQ(text_of(compute(scalar_op::float_to_string, {std::bit_cast<word>(0.1F)})), "0.100000");
}

TEST_F(texts, a_text_that_is_too_long_is_not_copied) {
  const auto peak_kilobytes = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  const word part = id(std::string(std::size_t{1} << 26, 'x'));
  const auto before = peak_kilobytes();
  std::string message;
  try {
    compute(scalar_op::concatenate, std::vector<word>(64, part));
  } catch (const user_error& fault) {
    message = fault.what();
  }
  EXPECT_EQ(message, "a symbol of 4294967296 bytes is too long: the limit is 4 GiB");
  EXPECT_LT(peak_kilobytes() - before, 1 << 20);
}

TEST_F(texts, substrings) {
  const auto substring = [&](const char* text, std::int32_t start, std::int32_t length) {
    return text_of(compute(scalar_op::substring, {id(text), from_number(start), from_number(length)}));
  };
  EXPECT_EQ(substring("hello", 1, 3), "ell");
  EXPECT_EQ(substring("hello", 3, 100), "lo");
  EXPECT_EQ(substring("hello", 1, -1), "ello");
  EXPECT_EQ(substring("hello", 5, 1), "");
  EXPECT_EQ(substring("hello", 6, 1), "");
  EXPECT_EQ(substring("hello", -1, 2), "");
  EXPECT_EQ(substring("", 0, 0), "");
}

TEST_F(texts, tests_and_indexes) {
  const auto index = [&](const char* text, const char* part, std::int32_t from) {
    return as_number(compute(scalar_op::index_of, {id(text), id(part), from_number(from)}));
  };
  EXPECT_EQ(index("abcabc", "bc", 0), 1);
  EXPECT_EQ(index("abcabc", "bc", 2), 4);
  EXPECT_EQ(index("abcabc", "bc", 5), -1);
  EXPECT_EQ(index("abc", "", 3), 3);
  EXPECT_EQ(index("abc", "", 4), -1);
  EXPECT_EQ(index("abc", "a", smallest), 0);
  EXPECT_EQ(index("abc", "a", largest), -1);
  EXPECT_EQ(compute(scalar_op::starts_with, {id("abc"), id("ab")}), 1U);
  EXPECT_EQ(compute(scalar_op::starts_with, {id("ab"), id("abc")}), 0U);
  EXPECT_EQ(compute(scalar_op::ends_with, {id("abc"), id("")}), 1U);
  EXPECT_EQ(compute(scalar_op::ends_with, {id("abc"), id("b")}), 0U);
}

TEST_F(texts, other_letters_and_blanks) {
  EXPECT_EQ(text_of(compute(scalar_op::to_lower, {id("A[Z@\xc3\x89z")})), "a[z@\xc3\x89z") << "only ASCII";
  EXPECT_EQ(text_of(compute(scalar_op::to_upper, {id("a{z`\xc3\xa9Z")})), "A{Z`\xc3\xa9Z");
  EXPECT_EQ(text_of(compute(scalar_op::trim, {id(" \t\n\v\f\ra b\r ")})), "a b");
  EXPECT_EQ(text_of(compute(scalar_op::trim, {id(" ")})), "");
}

TEST_F(texts, replacements) {
  const auto replace = [&](const char* text, const char* part, const char* replacement) {
    return text_of(compute(scalar_op::replace_text, {id(text), id(part), id(replacement)}));
  };
  EXPECT_EQ(replace("a.b.", ".", "::"), "a::b::");
  EXPECT_EQ(replace("aaa", "aa", "a"), "aa") << "not again what was replaced";
  EXPECT_EQ(replace("abc", "", "x"), "abc");
  EXPECT_EQ(replace("abc", "abc", ""), "");
  const word many = id(std::string(std::size_t{1} << 17, 'x'));
  EXPECT_THROW(compute(scalar_op::replace_text, {many, id("x"), many}), user_error);
}

TEST_F(texts, parts) {
  const std::vector<word> text = {id("a,b,,c"), id("a,b,,c"), id("a,b,,c"), id("a,b,,c"), id("x,y"), id("x,y"),
                                  id("x,y"),    id("x,y"),    id("x,y"),    id("xy"),     id("xy"),  id("")};
  const std::vector<word> separator = {id(","), id(","), id(","), id(","), id(","), id("y"),
                                       id(","), id(","), id(","), id(","), id(""),  id(",")};
  std::vector<word> number;
  for (const std::int32_t one : {0, 1, 3, 2, 1, 0, 1, 2, -1, 0, 0, 0}) number.push_back(from_number(one));
  const auto rows = static_cast<std::uint32_t>(text.size());
  std::vector<word> result(rows);
  part_finder finder;
  compute_text_tile(scalar_op::part_of, {text.data(), separator.data(), number.data()}, rows, result.data(), symbols,
                    finder);
  std::vector<std::string> parts;
  for (const word part : result) parts.push_back(text_of(part));
  EXPECT_EQ(parts, (std::vector<std::string>{"a", "b", "c", "", "y", "x,", "y", "", "", "xy", "xy", ""}));
  compute_text_tile(scalar_op::part_count, {text.data(), separator.data()}, rows, result.data(), symbols, finder);
  EXPECT_EQ(result, (std::vector<word>{4, 4, 4, 4, 2, 2, 2, 2, 2, 1, 1, 1}));
}

TEST_F(texts, to_numbers) {
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("-12")})), -12);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("0x1F")})), 31);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("-0x1F")})), -31);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("0b101")})), 5);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("-0b100")})), -4);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("010")})), 10);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id(" 12 apples")})), 12);
  EXPECT_EQ(as_number(compute(scalar_op::string_to_number, {id("-2147483648")})), -2147483647 - 1);
  EXPECT_THROW(compute(scalar_op::string_to_number, {id("2147483648")}), rule_fault);
  EXPECT_THROW(compute(scalar_op::string_to_number, {id("0b2")}), rule_fault);
  EXPECT_EQ(compute(scalar_op::string_to_unsigned, {id("0b11")}), 3U);
  EXPECT_EQ(compute(scalar_op::string_to_unsigned, {id("0xff")}), 255U);
  EXPECT_THROW(compute(scalar_op::string_to_unsigned, {id("-1")}), rule_fault);
  EXPECT_THROW(compute(scalar_op::string_to_float, {id("1e99")}), rule_fault);
  EXPECT_EQ(as_float(compute(scalar_op::string_to_float, {id("1.5e2m")})), 150.0F);
  EXPECT_EQ(compute(scalar_op::string_to_unsigned, {id("4294967295")}), 4294967295U);
  EXPECT_EQ(as_float(compute(scalar_op::string_to_float, {id("2.5")})), 2.5F);
  for (const auto op : {scalar_op::string_to_number, scalar_op::string_to_unsigned, scalar_op::string_to_float}) {
    EXPECT_TRUE(is_text_operation(op));
    EXPECT_THROW(compute(op, {id("zz")}), rule_fault);
    EXPECT_THROW(compute(op, {id("")}), rule_fault);
  }
  EXPECT_FALSE(is_text_operation(scalar_op::float_to_unsigned));
  const auto fault_of = [&](scalar_op op, const std::string& text) -> std::string {
    try {
      (void)compute(op, {id(text)});
    } catch (const rule_fault& fault) {
      return fault.what();
    }
    return "none";
  };
  const std::string behind = "\")` functor: Floating-point arithmetic exception signal";
  EXPECT_EQ(fault_of(scalar_op::string_to_number, "zz"), "wrong string provided by `to_number(\"zz" + behind);
  EXPECT_EQ(fault_of(scalar_op::string_to_unsigned, "-\n"), "wrong string provided by `to_unsigned(\"-?" + behind);
  EXPECT_EQ(fault_of(scalar_op::string_to_float, std::string(300, 'x')),
            "wrong string provided by `to_float(\"" + std::string(200, 'x') + "..." + behind);
}

}  // namespace
}  // namespace gpulog::kernels
