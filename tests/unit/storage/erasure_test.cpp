// Relations that lose rows: erasing from the row set, chains of rows by key, the best row of a key.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <shared_mutex>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "row_tile.hpp"
#include "storage/relation/relation.hpp"
#include "storage/sets/row_chains.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using backend::cpu::serial_backend;
using backend::cpu::thread_backend;

template <class Backend>
void insert(Backend& backend, relation& target, const std::vector<tuple>& rows) {
  constexpr std::size_t tile_size = 100;
  const auto scratch = std::make_unique<insert_scratch>();
  for (std::size_t begin = 0; begin < rows.size(); begin += tile_size) {
    const row_tile one(rows, begin, std::min(rows.size(), begin + tile_size), target.arity());
    while (!target.has_room()) target.make_room(backend);
    target.insert<exclusive_access>(one.values(), one.size(), *scratch, 0);
  }
  target.settle(backend);
}

/// By all of the backend's workers at once, as pipelines do.
template <class Backend>
void insert_together(Backend& backend, relation& target, const std::vector<tuple>& rows) {
  std::shared_mutex gate;
  std::vector<std::unique_ptr<insert_scratch>> scratch(backend.workers());
  for (auto& one : scratch) one = std::make_unique<insert_scratch>();
  backend.for_each_tile(rows.size(), 64, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
    const row_tile one(rows, begin, end, target.arity());
    gate.lock_shared();
    while (!target.has_room()) {
      gate.unlock_shared();
      {
        const std::unique_lock<std::shared_mutex> alone(gate);
        if (!target.has_room()) target.make_room(backend);
      }
      gate.lock_shared();
    }
    target.insert<concurrent_access>(one.values(), one.size(), *scratch[worker], worker);
    gate.unlock_shared();
  });
  target.settle(backend);
}

tuple row_of(const relation& source, std::uint64_t row) {
  tuple values;
  for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
  return values;
}

tuples rows_of(const relation& source, std::uint64_t begin, std::uint64_t end) {
  tuples rows;
  for (std::uint64_t row = begin; row < end; ++row) EXPECT_TRUE(rows.insert(row_of(source, row)).second);
  return rows;
}

bool has(const relation& source, const tuple& row) {
  const auto scratch = std::make_unique<insert_scratch>();
  const row_tile one({row}, 0, 1, static_cast<std::uint32_t>(row.size()));
  std::uint8_t found = 0;
  source.contains(one.values(), 1, *scratch, &found);
  return found != 0;
}

class erasure : public testing::TestWithParam<storage_mode> {
 protected:
  [[nodiscard]] relation_options options(unsigned workers = 1) const {
    relation_options chosen;
    chosen.mode = GetParam();
    chosen.workers = workers;
    return chosen;
  }
  std::vector<tuple> random_tuples(std::size_t n, std::uint32_t arity, word below) {
    std::vector<tuple> rows(n, tuple(arity));
    for (tuple& row : rows) {
      for (word& value : row) value = static_cast<word>(random_() % below);
    }
    return rows;
  }
  backend::host_memory memory_;
  serial_backend backend_;
  std::mt19937_64 random_{17};
};

TEST_P(erasure, of_random_rows_leaves_a_set_as_if_they_had_never_been_there) {
  for (const std::uint32_t arity : {1U, 2U, 3U}) {
    relation target(memory_, arity, options());
    target.make_erasable();
    tuples expected;
    for (int round = 0; round < 20; ++round) {
      const std::vector<tuple> rows = random_tuples(400, arity, arity == 1 ? 3000 : 40);
      insert(backend_, target, rows);
      expected.insert(rows.begin(), rows.end());
      // Some of those that were appended go, then some of all.
      std::vector<std::uint8_t> marks(target.appended_rows());
      for (std::uint64_t i = 0; i < marks.size(); ++i) {
        marks[i] = random_() % 3 == 0 ? 1 : 0;
        if (marks[i] != 0) expected.erase(row_of(target, target.rows() + i));
      }
      target.erase_appended(marks.data());
      EXPECT_EQ(rows_of(target, 0, target.rows() + target.appended_rows()), expected);
      target.advance();
      marks.assign(target.rows(), 0);
      for (std::uint64_t row = 0; row < target.rows(); ++row) {
        if (random_() % 4 != 0) continue;
        marks[row] = 1;
        target.erase(row);
        expected.erase(row_of(target, row));
      }
      EXPECT_EQ(target.tuples(), expected.size());
      for (std::uint64_t row = 0; row < target.rows(); ++row) {
        EXPECT_EQ(has(target, row_of(target, row)), marks[row] == 0);
      }
      tuples delta;
      for (std::uint64_t row = target.old_rows(); row < target.rows(); ++row) {
        if (marks[row] == 0) delta.insert(row_of(target, row));
      }
      target.compact(marks.data());
      EXPECT_EQ(rows_of(target, 0, target.rows()), expected);
      EXPECT_EQ(rows_of(target, target.old_rows(), target.rows()), delta);
      for (const tuple& row : expected) EXPECT_TRUE(has(target, row));
    }
  }
  EXPECT_EQ(memory_.used(), 0U);
}

TEST_P(erasure, adopted_rows_get_a_set_when_it_is_needed) {
  thread_backend workers(4);
  for (const std::uint32_t arity : {1U, 2U, 3U}) {
    for (const std::size_t size : {0U, 1U, 700U, 40000U}) {
      relation target(memory_, arity, options(4));
      target.make_erasable();
      const std::vector<tuple> drawn = random_tuples(size, arity, arity == 1 ? 100000 : 300);
      tuples expected(drawn.begin(), drawn.end());
      std::vector<std::vector<word>> columns(arity);
      for (const tuple& row : expected) {
        for (std::uint32_t c = 0; c < arity; ++c) columns[c].push_back(row[c]);
      }
      std::vector<const word*> pointers;
      for (const auto& column : columns) pointers.push_back(column.data());
      target.adopt_erasable(pointers, expected.size(), size % 2 == 0);
      EXPECT_EQ(rows_of(target, 0, target.rows()), expected);
      const bool erases = size != 700;
      for (std::uint64_t row = 0; erases && row < target.rows(); row += 3) {
        expected.erase(row_of(target, row));
        target.erase(row);
      }
      EXPECT_EQ(target.tuples(), expected.size());
      const std::uint64_t rows = target.rows();
      insert_together(workers, target, {drawn.begin(), drawn.end()});
      target.advance();
      EXPECT_EQ(target.rows(), rows + (erases ? (rows + 2) / 3 : 0));
    }
  }
  EXPECT_EQ(memory_.used(), 0U);
}

TEST_P(erasure, makes_indexes_anew) {
  relation target(memory_, 2, options());
  target.make_erasable();
  index_layout layout;
  layout.order = {0, 1};
  layout.key_lengths = {1};
  layout.positions = GetParam() == storage_mode::hisa;
  if (!layout.positions) layout.stored = {1};
  const std::size_t number = target.add_index(layout);
  insert(backend_, target, {{1, 1}, {1, 2}, {2, 1}});
  target.complete();
  target.refresh_index(backend_, number);
  target.erase(1);
  const std::uint8_t marks[] = {0, 1, 0};
  target.compact(marks);
  target.refresh_index(backend_, number);
  std::uint64_t rows = 0;
  target.index(number).for_each_run(true, true, [&](const sorted_run& run) { rows += run.rows(); });
  EXPECT_EQ(rows, 2U);
}

TEST_P(erasure, a_tuple_found_again_is_seen_from_the_next_iteration_on) {
  relation target(memory_, 2, options());
  target.make_erasable();
  insert(backend_, target, {{1, 1}});
  target.complete();
  target.erase(0);
  EXPECT_FALSE(has(target, {1, 1}));
  insert(backend_, target, {{1, 1}});
  EXPECT_FALSE(has(target, {1, 1}));
  target.advance();
  EXPECT_TRUE(has(target, {1, 1}));
}

TEST_P(erasure, the_best_row_of_a_key_stays_or_a_bound_of_all) {
  struct order {
    std::optional<value_order> chosen;  // none: a bound
    word (*kept)(word, word);
  };
  const std::vector<order> orders = {
      {value_order{value_kind::unsigned_number, false, nullptr}, [](word a, word b) { return std::min(a, b); }},
      {value_order{value_kind::unsigned_number, true, nullptr}, [](word a, word b) { return std::max(a, b); }},
      {value_order{value_kind::number, false, nullptr},
       [](word a, word b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b; }},
      {value_order{value_kind::number, true, nullptr},
       [](word a, word b) { return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b; }},
      {std::nullopt, [](word a, word b) { return a | b; }}};
  thread_backend workers(4);
  for (const order& chosen : orders) {
    for (const bool together : {false, true}) {
      relation target(memory_, 3, options(4));
      if (chosen.chosen) {
        target.keep_best(1, *chosen.chosen);
      } else {
        target.keep_bounds({{1, chosen.kept}});
      }
      std::map<tuple, word> best;
      for (int round = 0; round < 12; ++round) {
        std::vector<tuple> rows = random_tuples(3000, 3, 12);
        for (tuple& row : rows) {
          row[1] = chosen.chosen ? static_cast<word>(random_()) - 3U : 1U << random_() % 32;
          row[2] += static_cast<word>(round) / 4;
        }
        std::map<tuple, word> before = best;
        for (const tuple& row : rows) {
          const auto [known, inserted] = best.emplace(tuple{row[0], row[2]}, row[1]);
          if (!inserted) known->second = chosen.kept(row[1], known->second);
        }
        if (together) {
          insert_together(workers, target, rows);
        } else {
          insert(backend_, target, rows);
        }
        tuples fresh;
        tuples all;
        for (const auto& [key, value] : best) {
          const auto known = before.find(key);
          all.insert({key[0], value, key[1]});
          if (known == before.end() || known->second != value) fresh.insert({key[0], value, key[1]});
        }
        target.advance();
        EXPECT_EQ(rows_of(target, target.old_rows(), target.rows()), fresh);
        EXPECT_EQ(target.tuples(), all.size());
        for (const tuple& row : all) EXPECT_TRUE(has(target, row));
        for (const auto& [key, value] : before) EXPECT_EQ(has(target, {key[0], value, key[1]}), best[key] == value);
        if (round % 3 == 2) {
          target.compact_best();
          EXPECT_EQ(rows_of(target, 0, target.rows()), all);
          EXPECT_EQ(rows_of(target, target.old_rows(), target.rows()), fresh);
        }
      }
    }
  }
}

TEST_P(erasure, bounds_of_several_columns_stay_each_by_itself) {
  const auto either_bit = [](word a, word b) { return a | b; };
  const auto larger = [](word a, word b) { return std::max(a, b); };
  thread_backend workers(4);
  for (const bool together : {false, true}) {
    relation target(memory_, 4, options(4));
    target.keep_bounds({{0, either_bit}, {3, larger}});
    std::map<tuple, tuple> bounds;
    for (int round = 0; round < 12; ++round) {
      std::vector<tuple> rows = random_tuples(3000, 4, 12);
      for (tuple& row : rows) {
        row[0] = 1U << random_() % 32;
        row[2] += static_cast<word>(round) / 4;
        row[3] = static_cast<word>(random_() % 1000000) + static_cast<word>(round);
      }
      const std::map<tuple, tuple> before = bounds;
      for (const tuple& row : rows) {
        tuple& known = bounds.emplace(tuple{row[1], row[2]}, tuple{row[0], row[3]}).first->second;
        known = {either_bit(known[0], row[0]), larger(known[1], row[3])};
      }
      if (together) {
        insert_together(workers, target, rows);
      } else {
        insert(backend_, target, rows);
      }
      const auto row_of = [](const auto& bound) {
        return tuple{bound.second[0], bound.first[0], bound.first[1], bound.second[1]};
      };
      tuples fresh;
      tuples all;
      for (const auto& bound : bounds) {
        const auto known = before.find(bound.first);
        all.insert(row_of(bound));
        if (known == before.end() || known->second != bound.second) fresh.insert(row_of(bound));
      }
      target.advance();
      EXPECT_EQ(rows_of(target, target.old_rows(), target.rows()), fresh);
      EXPECT_EQ(target.tuples(), all.size());
      for (const tuple& row : all) EXPECT_TRUE(has(target, row));
      for (const auto& bound : before) EXPECT_EQ(has(target, row_of(bound)), bounds[bound.first] == bound.second);
      if (round % 3 == 2) {
        target.compact_best();
        EXPECT_EQ(rows_of(target, 0, target.rows()), all);
      }
    }
  }
}

TEST_P(erasure, the_best_rows_are_shown_first_release_only) {
  thread_backend workers(4);
  for (const bool together : {false, true}) {
    relation target(memory_, 3, options(4));
    target.keep_best(1, {value_kind::number, false, nullptr});
    std::map<tuple, std::int32_t> best;   // of what was inserted
    std::map<tuple, std::int32_t> shown;  // of what the relation has
    target.use_priority_delta(20);
    for (int round = 0; round < 60 || best != shown; ++round) {
      ASSERT_LT(round, 1000);
      std::vector<tuple> rows = random_tuples(round < 60 ? 100 : 0, 3, 40);
      for (tuple& row : rows) {
        row[1] = static_cast<word>(random_() % 2000) - 100U - static_cast<word>(round);
        const auto value = static_cast<std::int32_t>(row[1]);
        const auto [known, inserted] = best.emplace(tuple{row[0], row[2]}, value);
        known->second = std::min(known->second, value);
      }
      if (together) {
        insert_together(workers, target, rows);
      } else {
        insert(backend_, target, rows);
      }
      if (round % 7 == 3) target.compact_best();
      target.advance();
      EXPECT_TRUE(target.appended_rows() == 0 || target.delta_rows() != 0);
      for (const tuple& row : rows_of(target, target.old_rows(), target.rows())) {
        const tuple key{row[0], row[2]};
        const auto value = static_cast<std::int32_t>(row[1]);
        EXPECT_EQ(best.at(key), value);
        EXPECT_TRUE(!shown.contains(key) || shown.at(key) > value);
        shown[key] = value;
      }
      EXPECT_EQ(target.tuples(), shown.size());
      for (const auto& [key, value] : best) {
        EXPECT_EQ(has(target, {key[0], static_cast<word>(value), key[1]}), shown.contains(key) && shown[key] == value);
      }
      for (const auto& [key, value] : shown) EXPECT_TRUE(has(target, {key[0], static_cast<word>(value), key[1]}));
      if (round == 30) {
        target.compact_best();
        target.restart();
        shown.clear();
        for (const tuple& row : rows_of(target, 0, target.rows()))
          shown[{row[0], row[2]}] = static_cast<std::int32_t>(row[1]);
        EXPECT_LT(shown.size(), best.size());
      }
    }
  }
}

TEST(value_order, ranks_floats_and_wide_values) {
  const auto of = [](float value) { return std::bit_cast<word>(value); };
  const value_order least{value_kind::floating, false, nullptr};
  const value_order greatest{value_kind::floating, true, nullptr};
  const std::vector<float> ascending = {-INFINITY, -2.5F, -1e-30F, 0.0F, 1e-30F, 3.0F, INFINITY};
  for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
    EXPECT_TRUE(least.better(of(ascending[i]), of(ascending[i + 1])));
    EXPECT_TRUE(greatest.better(of(ascending[i + 1]), of(ascending[i])));
    EXPECT_FALSE(least.better(of(ascending[i]), of(ascending[i])));
    for (const value_order& order : {least, greatest}) {
      EXPECT_TRUE(order.better(of(ascending[i]), of(NAN)));
      EXPECT_FALSE(order.better(of(NAN), of(ascending[i])));
    }
  }
  wide_values wide;
  const value_order numbers{value_kind::number, false, &wide};
  const std::vector<std::int64_t> values = {INT64_MIN, -5000000000, -3, 0, 7, 4000000000, INT64_MAX};
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const word smaller = wide.code(static_cast<wide_word>(values[i]));
    const word larger = wide.code(static_cast<wide_word>(values[i + 1]));
    EXPECT_TRUE(numbers.better(smaller, larger));
    EXPECT_FALSE(numbers.better(larger, smaller));
  }
}

INSTANTIATE_TEST_SUITE_P(modes, erasure, testing::Values(storage_mode::hash, storage_mode::hisa),
                         [](const auto& info) { return info.param == storage_mode::hash ? "hash" : "hisa"; });

TEST(row_chains, hold_the_rows_of_each_key_while_rows_come_and_go) {
  backend::host_memory memory;
  std::mt19937_64 random(3);
  for (const std::vector<std::uint32_t>& key : {std::vector<std::uint32_t>{}, {0}, {1, 0}}) {
    std::vector<std::vector<word>> columns(2);
    row_chains chains(memory, key);
    constexpr std::uint64_t first_row = 5;
    for (int i = 0; i < 600; ++i) {
      for (auto& column : columns) column.push_back(static_cast<word>(random() % 8));
    }
    const column_pointers pointers = {columns[0].data(), columns[1].data()};
    for (int cleared = 0; cleared < 2; ++cleared) {
      chains.clear(first_row);
      std::set<std::uint64_t> rows;
      for (const std::uint64_t end : {6, 7, 100, 600}) {
        for (std::uint64_t row = rows.empty() ? first_row : *rows.rbegin() + 1; row < end; ++row) rows.insert(row);
        chains.add_until(pointers, end);
        for (int i = 0; i < 50; ++i) {
          const std::uint64_t row = first_row + random() % (end - first_row - 1 == 0 ? 1 : end - first_row - 1);
          if (row + 1 < end && rows.erase(row) != 0) chains.remove(pointers, row);
        }
        std::map<tuple, std::set<std::uint64_t>> expected;
        const auto key_of = [&](std::uint64_t row) {
          tuple values;
          for (std::uint32_t c : key) values.push_back(columns[c][row]);
          return values;
        };
        for (const std::uint64_t row : rows) expected[key_of(row)].insert(row);
        for (std::uint64_t row = 0; row < columns[0].size(); ++row) {
          std::set<std::uint64_t> found;
          for (std::uint64_t at = chains.first(chains.group(pointers, row)); at != row_chains::none;
               at = chains.next(at)) {
            EXPECT_TRUE(found.insert(at).second);
          }
          const auto wanted = expected.find(key_of(row));
          EXPECT_EQ(found, wanted == expected.end() ? std::set<std::uint64_t>() : wanted->second);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpulog::storage
