#include "storage/hisa/hisa_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;

std::vector<std::vector<word>> in_columns(const std::vector<tuple>& rows, std::uint32_t arity) {
  std::vector<std::vector<word>> columns(arity);
  for (std::uint32_t c = 0; c < arity; ++c) {
    for (const tuple& row : rows) columns[c].push_back(row[c]);
  }
  return columns;
}

column_pointers pointers_to(const std::vector<std::vector<word>>& columns) {
  column_pointers pointers;
  for (const auto& column : columns) pointers.push_back(column.data());
  return pointers;
}

struct shape {
  std::uint32_t arity;
  word below;  ///< values; 0: any
  bool eager;
};

template <class Backend>
void run_against_model(const shape& with) {
  SCOPED_TRACE(testing::Message() << "arity " << with.arity << ", values below " << with.below << ", eager "
                                  << with.eager);
  Backend backend;
  backend::host_memory memory;
  hisa_set set(memory, with.arity, buffer_policy{with.eager, 2.0});
  std::mt19937_64 random(with.arity + with.below);
  std::vector<tuple> data;
  std::set<tuple> model;
  // More than a block of the primitives once, when keys are any numbers.
  const std::size_t many = with.below == 0 && with.arity == 2 ? 40000 : 3000;
  for (const std::size_t offered : {0UL, 1UL, 31UL, 32UL, 33UL, 97UL, 1000UL, 3UL, many, 0UL, 500UL}) {
    std::vector<tuple> candidates(offered, tuple(with.arity));
    for (tuple& row : candidates) {
      for (word& value : row) value = static_cast<word>(with.below == 0 ? random() : random() % with.below);
    }
    // Some that are there already.
    for (std::size_t i = 0; i < offered / 3 && !data.empty(); ++i) candidates[i * 3] = data[random() % data.size()];

    const auto columns = in_columns(data, with.arity);
    const auto candidate_columns = in_columns(candidates, with.arity);
    array<std::uint32_t> selected(memory);
    array<std::uint32_t> ranks(memory);
    const std::uint64_t fresh =
        set.select_new(backend, pointers_to(columns), pointers_to(candidate_columns), offered, selected, ranks);
    std::set<tuple> expected;
    for (const tuple& row : candidates) {
      if (model.count(row) == 0) expected.insert(row);
    }
    ASSERT_EQ(fresh, expected.size());
    ASSERT_EQ(selected.size(), fresh);
    ASSERT_EQ(ranks.size(), fresh);
    std::uint64_t i = 0;
    for (const tuple& row : expected) {  // ascending
      ASSERT_EQ(candidates[selected[i]], row);
      ++i;
    }
    const std::uint64_t first_row = data.size();
    data.insert(data.end(), expected.begin(), expected.end());
    const auto grown = in_columns(data, with.arity);
    set.merge(backend, pointers_to(grown), first_row, ranks);
    model.merge(expected);

    for (std::size_t row = 0; row < candidates.size(); row += 1 + candidates.size() / 200) {
      ASSERT_TRUE(set.contains(pointers_to(grown), pointers_to(candidate_columns), row));
    }
    tuple absent(with.arity, ~word{0});
    const auto absent_column = in_columns({absent}, with.arity);
    ASSERT_EQ(set.contains(pointers_to(grown), pointers_to(absent_column), 0), model.count(absent) != 0);
  }
}

TEST(hisa_set, selects_and_merges_what_is_new_release_only) {
  for (const bool eager : {false, true}) {
    for (const std::uint32_t arity : {1U, 2U, 3U, 5U}) {
      for (const word below : {word{0}, word{2}, word{300}}) {
        run_against_model<backend::cpu::serial_backend>({arity, below, eager});
        run_against_model<backend::cpu::thread_backend>({arity, below, eager});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

/// As in a recursion with a few tuples an iteration: they wait in arrays of their own, and are found there.
TEST(hisa_set, few_new_tuples_are_found_wherever_they_wait) {
  backend::cpu::serial_backend backend;
  backend::host_memory memory;
  hisa_set set(memory, 2, buffer_policy{true, 8.0});
  std::mt19937_64 random(7);
  std::vector<word> first;
  std::vector<word> second;
  std::set<tuple> model;
  first.reserve(1 << 16);
  second.reserve(1 << 16);
  for (std::uint32_t batch = 0; batch < 3000; ++batch) {
    // Once more than waits.
    const std::size_t offered = batch == 1500 ? 2 * calibration::few_hisa_rows : 1 + random() % 4;
    std::vector<word> left(offered);
    std::vector<word> right(offered);
    std::set<tuple> expected;
    for (std::size_t i = 0; i < offered; ++i) {
      left[i] = static_cast<word>(random() % 300);
      right[i] = static_cast<word>(random() % 300);
      if (model.count({left[i], right[i]}) == 0) expected.insert({left[i], right[i]});
    }
    array<std::uint32_t> selected(memory);
    array<std::uint32_t> ranks(memory);
    const std::uint64_t fresh =
        set.select_new(backend, {first.data(), second.data()}, {left.data(), right.data()}, offered, selected, ranks);
    ASSERT_EQ(fresh, expected.size());
    const std::uint64_t begin = first.size();
    for (const tuple& one : expected) {
      first.push_back(one[0]);
      second.push_back(one[1]);
    }
    set.merge(backend, {first.data(), second.data()}, begin, ranks);
    model.merge(expected);
  }
  const column_pointers data = {first.data(), second.data()};
  for (std::size_t row = 0; row < first.size(); ++row) ASSERT_TRUE(set.contains(data, data, row));
}

TEST(hisa_set, buffers_are_kept_only_with_eager_management) {
  backend::cpu::serial_backend backend;
  std::vector<word> values(10000);
  for (word i = 0; i < values.size(); ++i) values[i] = i;
  std::vector<std::uint64_t> bytes;
  for (const bool eager : {false, true}) {
    backend::host_memory memory;
    hisa_set set(memory, 1, buffer_policy{eager, 8.0});
    for (std::uint64_t row = 0; row < values.size(); row += 1000) {
      array<std::uint32_t> selected(memory);
      array<std::uint32_t> ranks(memory);
      ASSERT_EQ(set.select_new(backend, {values.data()}, {values.data() + row}, 1000, selected, ranks), 1000U);
      set.merge(backend, {values.data()}, row, ranks);
    }
    bytes.push_back(set.bytes());
    EXPECT_EQ(memory.used(), set.bytes());
  }
  EXPECT_GT(bytes[1], 2 * bytes[0]);
}

}  // namespace
}  // namespace gpulog::storage
