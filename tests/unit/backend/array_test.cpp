#include "backend/array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace gpulog::backend {
namespace {

TEST(array, starts_empty_and_gives_its_memory_back) {
  host_memory memory;
  {
    array<std::uint32_t> made(memory);
    EXPECT_EQ(made.size(), 0U);
    EXPECT_EQ(made.bytes(), 0U);
    EXPECT_EQ(made.begin(), made.end());
    made.resize(33);
    EXPECT_EQ(made.size(), 33U);
    EXPECT_EQ(made.bytes(), 33 * sizeof(std::uint32_t));
    EXPECT_EQ(memory.used(), made.bytes());
    for (const std::uint32_t value : made) EXPECT_EQ(value, 0U);
    made.release();
    EXPECT_EQ(memory.used(), 0U);
    made.resize(2);  // usable again
    made[1] = 7;
    EXPECT_EQ(made[1], 7U);
  }
  EXPECT_EQ(memory.used(), 0U);
}

TEST(array, grows_by_push_back_across_the_size_of_a_mapping) {
  host_memory memory;
  array<std::uint64_t> made(memory);
  constexpr std::uint64_t count = 400000;
  for (std::uint64_t i = 0; i < count; ++i) made.push_back(i * 3);
  ASSERT_EQ(made.size(), count);
  EXPECT_GE(made.capacity(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(made[i], i * 3);
}

TEST(array, capacity_is_exact_and_cuts_the_size) {
  host_memory memory;
  array<std::uint32_t> made(memory, 100);
  for (std::uint32_t i = 0; i < 100; ++i) made[i] = i;
  made.set_capacity(1000);
  EXPECT_EQ(made.size(), 100U);
  EXPECT_EQ(made.capacity(), 1000U);
  made.reserve(10);
  EXPECT_EQ(made.capacity(), 1000U);
  made.set_capacity(50);
  EXPECT_EQ(made.size(), 50U);
  EXPECT_EQ(made[49], 49U);
  made.set_capacity(0);
  EXPECT_EQ(made.size(), 0U);
  EXPECT_EQ(memory.used(), 0U);
}

TEST(array, moves_and_swaps) {
  host_memory first_memory;
  host_memory second_memory;
  array<std::uint32_t> a(first_memory, 10);
  array<std::uint32_t> b(second_memory, 20);
  a[0] = 1;
  b[0] = 2;
  a.swap(b);
  EXPECT_EQ(a.size(), 20U);
  EXPECT_EQ(a[0], 2U);
  EXPECT_EQ(&a.resource(), &second_memory);
  array<std::uint32_t> c(std::move(a));
  EXPECT_EQ(c.size(), 20U);
  EXPECT_EQ(second_memory.used(), 80U);
  c = std::move(b);
  EXPECT_EQ(c.size(), 10U);
  EXPECT_EQ(c[0], 1U);
  EXPECT_EQ(second_memory.used(), 0U) << "what c held before is freed";
  array<std::uint32_t>& itself = c;
  c = std::move(itself);
  EXPECT_EQ(c.size(), 10U);
}

TEST(array, a_refused_growth_changes_nothing) {
  host_memory memory;
  memory.set_limit(1000);
  array<std::uint32_t> made(memory, 200);
  made[199] = 5;
  EXPECT_THROW(made.resize(251), memory_exceeded);
  EXPECT_EQ(made.size(), 200U);
  EXPECT_EQ(made.capacity(), 200U);
  EXPECT_EQ(made[199], 5U);
  made.resize(250);
  EXPECT_EQ(memory.used(), 1000U);
}

}  // namespace
}  // namespace gpulog::backend
