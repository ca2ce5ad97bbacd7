#include "kernels/join/fold_memory.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace gpulog::kernels {
namespace {

/// One column of keys, and the first n groups.
struct asked_groups {
  explicit asked_groups(std::vector<word> values) : column(std::move(values)), columns{column.data()} {
    rows.resize(column.size());
    std::iota(rows.begin(), rows.end(), std::uint16_t{0});
    groups = rows;
    results.resize(column.size());
  }
  [[nodiscard]] fold_keys keys() const { return {&columns, rows.data()}; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(column.size()); }

  std::vector<word> column;
  std::vector<const word*> columns;
  std::vector<std::uint16_t> rows, groups;
  std::vector<fold_result> results;
};

TEST(fold_results, are_found_by_their_keys) {
  fold_results known(1, backend::unlimited_memory());
  asked_groups first({7, 3, 900000});
  EXPECT_EQ(known.find(first.keys(), first.groups.data(), 3, first.results.data()), 3U);
  first.results = {{70, true}, {30, true}, {0, false}};
  known.add(first.keys(), first.groups.data(), 3, first.results.data(), 100);

  asked_groups second({3, 4, 900000, 7});
  ASSERT_EQ(known.find(second.keys(), second.groups.data(), 4, second.results.data()), 1U);
  EXPECT_EQ(second.groups.front(), 1U);
  EXPECT_EQ(second.results[0].value, 30U);
  EXPECT_FALSE(second.results[2].has_value);
  EXPECT_EQ(second.results[3].value, 70U);
}

TEST(fold_results, one_key_without_columns) {
  fold_results known(0, backend::unlimited_memory());
  const std::vector<const word*> none;
  std::uint16_t group = 0;
  fold_result result;
  EXPECT_EQ(known.find({&none, &group}, &group, 1, &result), 1U);
  result = {42, true};
  known.add({&none, &group}, &group, 1, &result, 1);
  fold_result found;
  EXPECT_EQ(known.find({&none, &group}, &group, 1, &found), 0U);
  EXPECT_EQ(found.value, 42U);
}

TEST(fold_results, large_groups_stay_and_small_ones_are_given_up) {
  constexpr std::uint32_t many = 8192;
  std::vector<word> values(many);
  std::iota(values.begin(), values.end(), 0U);
  for (const std::uint64_t bindings_each : {std::uint64_t{1000}, std::uint64_t{1}}) {
    fold_results known(1, backend::unlimited_memory());
    asked_groups asked(values);
    for (std::uint32_t i = 0; i < many; ++i) asked.results[i] = {i * 2, true};
    known.add(asked.keys(), asked.groups.data(), many, asked.results.data(), bindings_each * many);
    EXPECT_EQ(known.is_on(), bindings_each != 1);
    if (!known.is_on()) continue;
    asked_groups again(values);
    EXPECT_EQ(known.find(again.keys(), again.groups.data(), many, again.results.data()), 0U);
    EXPECT_EQ(again.results[many - 1].value, 2 * (many - 1));
  }
}

TEST(fold_results, that_nobody_asks_for_again_are_given_up) {
  constexpr std::uint32_t many = 1U << 15;
  fold_results known(1, backend::unlimited_memory());
  for (word round = 0; round < 16 && known.is_on(); ++round) {
    std::vector<word> values(many);
    std::iota(values.begin(), values.end(), round * many);
    asked_groups asked(std::move(values));
    EXPECT_EQ(known.find(asked.keys(), asked.groups.data(), many, asked.results.data()), many);
    known.add(asked.keys(), asked.groups.data(), many, asked.results.data(), std::uint64_t{100} * many);
  }
  EXPECT_FALSE(known.is_on());
}

TEST(fold_results, are_given_up_where_there_is_no_memory_for_them) {
  backend::host_memory memory;
  memory.set_limit(64u << 10);
  fold_results known(1, memory);
  for (word first = 0; known.is_on() && first < 1u << 20; first += 512) {
    std::vector<word> values(512);
    std::iota(values.begin(), values.end(), first);
    asked_groups asked(values);
    known.add(asked.keys(), asked.groups.data(), asked.size(), asked.results.data(), 1u << 20);
  }
  EXPECT_FALSE(known.is_on());
  EXPECT_EQ(memory.used(), 0U);
  asked_groups asked({1});
  known.add(asked.keys(), asked.groups.data(), 1, asked.results.data(), 1u << 20);
  EXPECT_EQ(known.find(asked.keys(), asked.groups.data(), 1, asked.results.data()), 1U);
}

}  // namespace
}  // namespace gpulog::kernels
