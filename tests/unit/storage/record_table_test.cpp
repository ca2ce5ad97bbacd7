#include "storage/records/record_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace gpulog::storage {
namespace {

TEST(record_table, numbers_from_one_in_order_of_creation) {
  record_table table(2);
  const std::array<word, 2> first{7, 8}, second{8, 7};
  EXPECT_EQ(table.find(first.data()), nil_record);
  EXPECT_EQ(table.intern(first.data()), 1U);
  EXPECT_EQ(table.intern(second.data()), 2U);
  EXPECT_EQ(table.intern(first.data()), 1U);
  EXPECT_EQ(table.find(second.data()), 2U);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.fields(2)[0], 8U);
  EXPECT_FALSE(table.has(nil_record));
  EXPECT_TRUE(table.has(2));
  EXPECT_FALSE(table.has(3));
}

TEST(record_table, keeps_many_records_over_several_chunks) {
  record_table table(3);
  constexpr word records = 50'000;
  for (word i = 0; i < records; ++i) {
    const std::array<word, 3> fields{i, i * 3, i % 7};
    ASSERT_EQ(table.intern(fields.data()), i + 1);
  }
  for (word i = 0; i < records; ++i) {
    const std::array<word, 3> fields{i, i * 3, i % 7};
    ASSERT_EQ(table.find(fields.data()), i + 1);
    ASSERT_TRUE(std::equal(fields.begin(), fields.end(), table.fields(i + 1)));
  }
}

TEST(record_table, runs_of_records_lie_together) {
  record_table table(2);
  constexpr word records = 10'000;
  for (word i = 0; i < records; ++i) {
    const std::array<word, 2> fields{i, i + 1};
    table.intern(fields.data());
  }
  for (const auto& [first, last] : std::vector<std::pair<word, word>>{{1, records}, {1000, 1100}, {5, 5}, {7, 6}}) {
    std::uint64_t next = first;
    table.for_each_run(first, last, [&](const word* fields, std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i, ++next) {
        ASSERT_EQ(fields[2 * i], next - 1);
        ASSERT_EQ(fields[2 * i + 1], next);
      }
    });
    EXPECT_EQ(next, last + std::uint64_t{1});
  }
}

TEST(record_table, has_one_record_without_fields) {
  record_table table(0);
  EXPECT_TRUE(table.has(record_without_fields));
  EXPECT_EQ(table.find(nullptr), record_without_fields);
  EXPECT_EQ(table.intern(nullptr), record_without_fields);
  EXPECT_EQ(table.size(), 1U);
}

TEST(record_table, threads_agree_on_numbers) {
  record_table table(2);
  constexpr std::size_t threads = 4;
  constexpr word records = 20'000;
  std::vector<std::vector<word>> seen(threads, std::vector<word>(records));
  {
    std::vector<std::jthread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        for (word n = 0; n < records; ++n) {
          const word i = t % 2 == 0 ? n : records - 1 - n;
          const std::array<word, 2> fields{i, i + 1};
          seen[t][i] = table.intern(fields.data());
          if (table.fields(seen[t][i])[1] != i + 1) seen[t][i] = nil_record;
        }
      });
    }
  }
  EXPECT_EQ(table.size(), records);
  for (std::size_t t = 1; t < threads; ++t) EXPECT_EQ(seen[t], seen[0]);
  const std::set<word> distinct(seen[0].begin(), seen[0].end());
  EXPECT_EQ(distinct.size(), records);
  EXPECT_EQ(*distinct.begin(), 1U);
}

TEST(record_table, memory_is_counted_and_without_it_the_table_stays_as_it_was) {
  backend::host_memory memory;
  record_table table(2, UINT32_MAX, memory);
  constexpr word most = 20000;
  for (word next = 1; next <= most;) {
    memory.set_limit(memory.used() + (32u << 10));
    try {
      for (; next <= most; ++next) {
        const word fields[] = {next, 7};
        ASSERT_EQ(table.intern(fields), next);
      }
    } catch (const backend::memory_exceeded&) {
      const word fields[] = {next, 7};
      ASSERT_EQ(table.size(), next - 1);
      ASSERT_EQ(table.find(fields), nil_record);
      memory.set_limit(2 * memory.used() + (64u << 10));
      ASSERT_EQ(table.intern(fields), next++);
    }
  }
  EXPECT_GE(memory.used(), most * (2 * sizeof(word) + sizeof(std::uint64_t)));
  EXPECT_LT(memory.used(), most * 50U);
}

}  // namespace
}  // namespace gpulog::storage
