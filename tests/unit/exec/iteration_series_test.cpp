#include "exec/iteration_series.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpulog::exec {
namespace {

std::uint64_t iterations_of(const iteration_series& series) {
  std::uint64_t sum = 0;
  for (const iteration_series::part& part : series.parts()) sum += part.iterations;
  return sum;
}

TEST(iteration_series, tells_up_to_a_thousand_iterations_one_by_one) {
  iteration_series series;
  double now = 5;
  series.begin(now);
  for (std::uint64_t i = 0; i < iteration_series::most_parts; ++i) series.add(i, [&] { return now += 0.5; });
  series.end(100);
  ASSERT_EQ(series.parts().size(), iteration_series::most_parts);
  for (std::uint64_t i = 0; i < iteration_series::most_parts; ++i) {
    EXPECT_EQ(series.parts()[i].iterations, 1U);
    EXPECT_EQ(series.parts()[i].delta, i);
    EXPECT_DOUBLE_EQ(series.parts()[i].seconds, 0.5);
  }
}

TEST(iteration_series, merges_many_and_loses_none) {
  for (const std::uint64_t number : {1001U, 1999U, 2000U, 12345U}) {
    iteration_series series;
    double now = 0;
    series.begin(now);
    for (std::uint64_t i = 0; i < number; ++i) {
      now += 1;
      series.add(2, [&] { return now; });
    }
    series.end(now);
    EXPECT_LE(series.parts().size(), iteration_series::most_parts);
    EXPECT_EQ(iterations_of(series), number);
    double seconds = 0;
    for (const iteration_series::part& part : series.parts()) {
      EXPECT_EQ(part.delta, 2 * part.iterations);
      seconds += part.seconds;
    }
    EXPECT_DOUBLE_EQ(seconds, static_cast<double>(number));
  }
}

TEST(iteration_series, shows_the_part_that_is_open) {
  iteration_series series;
  series.begin(0);
  double now = 0;
  for (std::uint64_t i = 0; i < 2 * iteration_series::most_parts + 1; ++i) {
    series.add(i, [&] { return now += 1; });
    EXPECT_EQ(iterations_of(series), i + 1);
  }
  series.end(now);
  EXPECT_EQ(iterations_of(series), 2 * iteration_series::most_parts + 1);
  series.end(now);
  EXPECT_EQ(iterations_of(series), 2 * iteration_series::most_parts + 1);
}

TEST(iteration_series, goes_on_with_another_one) {
  iteration_series first;
  iteration_series second;
  for (std::uint64_t i = 0; i < 900; ++i) {
    first.add_timed(1, 1);
    second.add_timed(3, 1);
  }
  first.append(second);
  EXPECT_LE(first.parts().size(), iteration_series::most_parts);
  EXPECT_EQ(iterations_of(first), 1800U);
}

}  // namespace
}  // namespace gpulog::exec
