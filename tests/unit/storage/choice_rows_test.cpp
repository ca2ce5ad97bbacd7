#include "storage/representation/choice_rows.hpp"
#include "oracle/random_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using backend::cpu::serial_backend;

class choice : public testing::TestWithParam<storage_mode> {
 protected:
  relation& make(std::uint32_t arity, std::vector<choice_rows::domain> domains) {
    relation_options options;
    options.mode = GetParam();
    made_.push_back(std::make_unique<relation>(memory_, arity, options));
    made_.back()->set_choice_domains(std::move(domains));
    return *made_.back();
  }

  void insert(relation& target, const std::vector<tuple>& rows) {
    const auto scratch = std::make_unique<insert_scratch>();
    std::vector<std::vector<word>> columns(target.arity());
    std::vector<const word*> pointers(target.arity());
    for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
      const std::size_t n = std::min<std::size_t>(tile_rows, rows.size() - begin);
      for (std::uint32_t c = 0; c < target.arity(); ++c) {
        columns[c].clear();
        for (std::size_t i = 0; i < n; ++i) columns[c].push_back(rows[begin + i][c]);
        pointers[c] = columns[c].data();
      }
      while (!target.has_room()) target.make_room(backend_);
      target.insert<exclusive_access>(pointers.data(), static_cast<std::uint32_t>(n), *scratch, 0);
    }
  }

  static tuples rows_of(const relation& source) {
    tuples rows;
    for (std::uint64_t row = 0; row < source.rows(); ++row) {
      tuple values;
      for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
      EXPECT_TRUE(rows.insert(values).second);
    }
    return rows;
  }

  static bool has(const relation& source, const tuple& row) {
    const auto scratch = std::make_unique<insert_scratch>();
    std::vector<const word*> values;
    for (const word& value : row) values.push_back(&value);
    std::uint8_t found = 0;
    source.contains(values.data(), 1, *scratch, &found);
    return found != 0;
  }

  backend::host_memory memory_;
  serial_backend backend_;
  std::vector<std::unique_ptr<relation>> made_;
};

TEST_P(choice, keeps_the_smallest_tuple_of_each_key_as_numbers_compare) {
  const auto minus = [](int value) { return static_cast<word>(-value); };
  relation& target = make(3, {{1}});
  insert(target, {{7, 1, 0}, {minus(2), 1, 5}, {minus(2), 1, minus(5)}, {0, 2, 0}, {0, 2, 0}});
  EXPECT_EQ(target.choose(backend_), 2U);
  target.advance();
  EXPECT_EQ(rows_of(target), (tuples{{minus(2), 1, minus(5)}, {0, 2, 0}}));
  // What has been chosen stays.
  insert(target, {{minus(9), 1, 0}, {4, 3, 4}});
  EXPECT_EQ(target.choose(backend_), 1U);
  target.advance();
  EXPECT_EQ(target.delta_rows(), 1U);
  EXPECT_EQ(rows_of(target), (tuples{{minus(2), 1, minus(5)}, {0, 2, 0}, {4, 3, 4}}));
  EXPECT_TRUE(has(target, {4, 3, 4}));
  EXPECT_FALSE(has(target, {5, 3, 4}));
  EXPECT_FALSE(has(target, {4, 5, 4}));
}

TEST_P(choice, of_a_file_is_made_in_order) {
  relation& target = make(2, {{0}});
  insert(target, {{1, 5}, {1, 4}, {2, 3}, {1, 9}});
  EXPECT_EQ(target.choose_in_order(), 2U);
  target.complete();
  EXPECT_EQ(rows_of(target), (tuples{{1, 5}, {2, 3}}));
}

TEST_P(choice, does_not_depend_on_the_order_of_candidates) {
  std::mt19937_64 random(3);
  for (const std::vector<choice_rows::domain>& domains :
       {std::vector<choice_rows::domain>{{0}}, {{0}, {1}}, {{0, 2}, {1}}, {{0, 1, 2}}}) {
    std::vector<tuple> candidates;
    for (int i = 0; i < 3000; ++i) {
      candidates.push_back(
          {static_cast<word>(random() % 40), static_cast<word>(random() % 60), static_cast<word>(random() % 9)});
    }
    relation& first = make(3, domains);
    insert(first, candidates);
    first.settle(backend_);
    first.complete();
    const tuples chosen = rows_of(first);
    // Valid: each key once, each tuple a candidate, and no further candidate fits.
    const auto key_of = [](const tuple& row, const choice_rows::domain& domain) {
      tuple key;
      for (std::uint32_t c : domain) key.push_back(row[c]);
      return key;
    };
    std::vector<tuples> keys(domains.size());
    for (const tuple& row : chosen) {
      EXPECT_NE(std::find(candidates.begin(), candidates.end(), row), candidates.end());
      for (std::size_t d = 0; d < domains.size(); ++d) {
        EXPECT_TRUE(keys[d].insert(key_of(row, domains[d])).second);
      }
    }
    for (const tuple& row : candidates) {
      bool fits = true;
      for (std::size_t d = 0; d < domains.size(); ++d) fits = fits && !keys[d].contains(key_of(row, domains[d]));
      EXPECT_FALSE(fits);
    }
    std::shuffle(candidates.begin(), candidates.end(), random);
    relation& second = make(3, domains);
    insert(second, candidates);
    second.settle(backend_);
    second.complete();
    EXPECT_EQ(rows_of(second), chosen);
  }
}

TEST_P(choice, of_very_many_candidates_takes_little_memory) {
  relation& target = make(2, {{0}});
  std::map<word, word> smallest;
  std::mt19937_64 random(5);
  constexpr std::uint64_t batches = oracle::fewer_when_sanitized(60);
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    std::vector<tuple> candidates;
    for (int i = 0; i < 100000; ++i) {
      const auto key = static_cast<word>(random() % 1000);
      const auto value = static_cast<word>(random() % 1000000007);
      candidates.push_back({key, value});
      const auto [known, inserted] = smallest.emplace(key, value);
      if (!inserted) known->second = std::min(known->second, value);
    }
    insert(target, candidates);
  }
  EXPECT_EQ(target.choose(backend_), smallest.size());
  target.complete();
  for (const tuple& row : rows_of(target)) EXPECT_EQ(smallest.at(row[0]), row[1]);
  EXPECT_LT(target.bytes(), 32U << 20);
}

INSTANTIATE_TEST_SUITE_P(modes, choice, testing::Values(storage_mode::hash, storage_mode::hisa),
                         [](const auto& info) { return info.param == storage_mode::hash ? "hash" : "hisa"; });

}  // namespace
}  // namespace gpulog::storage
