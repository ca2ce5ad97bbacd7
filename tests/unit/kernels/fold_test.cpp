#include "kernels/join/fold.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gpulog::kernels {
namespace {

template <class Word>
void expect_same(bool is_signed, Word value, std::uint64_t times, word_size words) {
  SCOPED_TRACE(std::to_string(value) + " times " + std::to_string(times) + (is_signed ? ", signed" : ""));
  const auto one_by_one = std::make_unique<fold_state>();
  const auto at_once = std::make_unique<fold_state>();
  const word owner = 3;
  for (fold_state* const state : {one_by_one.get(), at_once.get()}) {
    state->clear(8);
    const Word before = 5;  // a sum that is there
    state->add(fold_op::sum_number, is_signed, &owner, &before, 1);
  }
  for (std::uint64_t i = 0; i < times; ++i) one_by_one->add(fold_op::sum_number, is_signed, &owner, &value, 1);
  at_once->add_repeated(is_signed, owner, value, times);
  EXPECT_EQ(at_once->value(fold_op::sum_number, owner, words), one_by_one->value(fold_op::sum_number, owner, words));
  EXPECT_EQ(at_once->wraps_around(fold_op::sum_number, is_signed, owner, words),
            one_by_one->wraps_around(fold_op::sum_number, is_signed, owner, words));
  EXPECT_EQ(at_once->value(fold_op::sum_number, 2, words), 0U);
}

TEST(fold_state, a_value_that_is_repeated_is_added_as_often) {
  for (const bool is_signed : {true, false}) {
    for (const std::uint64_t times : {0, 1, 2, 3, 700, 1000}) {
      for (const std::uint32_t value : {0U, 1U, 12345U, 1U << 31, (1U << 31) - 1, ~0U, ~6U}) {
        expect_same(is_signed, value, times, word_size::bits32);
      }
      for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63,
                                        (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}, ~std::uint64_t{6}}) {
        expect_same(is_signed, value, times, word_size::bits64);
      }
    }
  }
}

}  // namespace
}  // namespace gpulog::kernels
