#include "storage/indexes/sorted_index.hpp"
#include "oracle/random_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;

struct part {
  bool with_old, with_delta;
  std::uint64_t begin, end;
};

/// An index over growing columns, and the expected answers.
class index_model {
 public:
  index_model(backend::memory_resource& memory, std::uint32_t arity, const index_layout& layout, buffer_policy buffers)
      : layout_(layout), index_(memory, layout, buffers), columns_(arity) {}

  void append(std::size_t rows, word below, std::mt19937_64& random) {
    for (auto& column : columns_) {
      for (std::size_t i = 0; i < rows; ++i) {
        column.push_back(static_cast<word>(below == 0 ? random() : random() % below));
      }
    }
  }
  [[nodiscard]] std::uint64_t rows() const { return columns_[0].size(); }
  [[nodiscard]] const sorted_index& index() const { return index_; }

  template <class Backend>
  void refresh(Backend& backend, std::uint64_t old_rows) {
    old_rows_ = old_rows;
    index_.refresh(backend, pointers(), old_rows, rows());
  }

  void expect_answers() const {
    const std::uint64_t n = rows();
    for (const part& read :
         {part{true, true, 0, n}, part{true, false, 0, old_rows_}, part{false, true, old_rows_, n}}) {
      std::uint64_t indexed = 0;
      index_.for_each_run(read.with_old, read.with_delta, [&](const sorted_run& run) { indexed += run.rows(); });
      ASSERT_EQ(indexed, read.end - read.begin);
      for (std::size_t level = 0; level < layout_.key_lengths.size(); ++level) expect_level(read, level);
    }
  }

 private:
  [[nodiscard]] column_pointers pointers() const {
    column_pointers result;
    for (const auto& column : columns_) result.push_back(column.data());
    return result;
  }

  /// The columns that a match reads: the stored columns; in `hisa` mode, all columns.
  [[nodiscard]] tuple payload(std::uint64_t row) const {
    tuple values;
    if (layout_.positions) {
      values.push_back(static_cast<word>(row));
    } else {
      for (const std::uint32_t column : layout_.stored) values.push_back(columns_[column][row]);
    }
    return values;
  }

  void expect_level(const part& read, std::size_t level) const {
    const std::uint32_t length = layout_.key_lengths[level];
    std::map<tuple, std::multiset<tuple>> expected;
    for (std::uint64_t row = read.begin; row < read.end; ++row) {
      tuple key;
      for (std::uint32_t c = 0; c < length; ++c) key.push_back(columns_[layout_.order[c]][row]);
      expected[key].insert(payload(row));
    }
    // All keys of small models, some keys of large models, and a missing key.
    const std::size_t step = 1 + expected.size() / 300;
    std::size_t number = 0;
    expected[tuple(length, 0x7fffffff)];
    for (const auto& [key, rows] : expected) {
      if (number++ % step != 0) continue;
      ASSERT_EQ(find(read, level, key), rows) << "key of length " << length << " from " << key[0];
    }
  }

  [[nodiscard]] std::multiset<tuple> find(const part& read, std::size_t level, const tuple& key) const {
    std::multiset<tuple> found;
    index_.for_each_run(read.with_old, read.with_delta, [&](const sorted_run& run) {
      const key_level& keys = run.level(level);
      const auto key_of = [&key](std::uint32_t c) { return key[c]; };
      const std::uint64_t code = keys.code(key_of);
      const row_range range = keys.find(code, keys.home(code), key_of);
      for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
        tuple values;
        if (layout_.positions) {
          values.push_back(run.positions()[i]);
        } else {
          for (std::size_t s = 0; s < layout_.stored.size(); ++s) values.push_back(run.stored(s)[i]);
        }
        found.insert(std::move(values));
      }
    });
    return found;
  }

  index_layout layout_;
  sorted_index index_;
  std::vector<std::vector<word>> columns_;
  std::uint64_t old_rows_ = 0;
};

/// Layouts over four columns: the layout of `hash` mode, or the published layout with positions.
std::vector<index_layout> layouts(bool positions) {
  const std::vector<index_layout> covering = {{{0}, {1}, {1, 2, 3}, false, 0.5},
                                              {{2, 1}, {1, 2}, {1, 0}, false, 0.5},
                                              {{3, 0, 1}, {1, 3}, {0, 1, 2}, false, 0.5},
                                              {{1, 2, 3, 0}, {2, 4}, {3, 0}, false, 0.5},
                                              {{1, 3, 2, 0}, {1, 2, 3}, {3, 2}, false, 0.5}};
  std::vector<index_layout> result = covering;
  for (index_layout& layout : result) {
    if (!positions) continue;
    layout.positions = true;
    layout.load = 0.8;
    layout.stored.clear();
  }
  return result;
}

template <class Backend>
class sorted_indexes : public ::testing::Test {
 protected:
  Backend backend;
  backend::host_memory memory;
};
using backends = ::testing::Types<backend::cpu::serial_backend, backend::cpu::thread_backend>;
TYPED_TEST_SUITE(sorted_indexes, backends);

TYPED_TEST(sorted_indexes, sort_rows_is_stable_by_the_given_columns) {
  std::mt19937_64 random(1);
  for (const std::uint64_t n : {0, 1, 31, 32, 33, 96, 97, 70000}) {
    std::vector<word> a(n + 5);
    std::vector<word> b(n + 5);
    for (word& value : a) value = static_cast<word>(random() % 5);
    for (word& value : b) value = static_cast<word>(random());
    std::vector<word> c(n + 5);  // with a, small enough to be counted
    for (word& value : c) value = static_cast<word>(random() % (n / 2 + 1));
    std::vector<word> d(n + 5);  // with b, too wide for one key of 64 bits
    for (word& value : d) value = static_cast<word>(random() % 7 * 0x24924924);
    for (const std::vector<std::uint32_t>& by :
         {std::vector<std::uint32_t>{0}, {1}, {0, 1}, {1, 0}, {}, {2}, {2, 0}, {0, 2}, {0, 2, 0}, {3, 1}}) {
      array<std::uint32_t> sorted(this->memory);
      const column_pointers columns = {a.data(), b.data(), c.data(), d.data()};
      sort_rows(this->backend, this->memory, columns, by, 5, n + 5, sorted);
      std::vector<std::uint32_t> expected(n);
      for (std::uint32_t i = 0; i < n; ++i) expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t left, std::uint32_t right) {
        for (const std::uint32_t k : by) {
          if (columns[k][5 + left] != columns[k][5 + right]) return columns[k][5 + left] < columns[k][5 + right];
        }
        return false;
      });
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), sorted.begin(), sorted.end())) << n;
    }
  }
}

TYPED_TEST(sorted_indexes, answers_over_many_advances_release_only) {
  for (const bool positions : {false, true}) {
    for (const index_layout& layout : layouts(positions)) {
      for (const bool eager : {true, false}) {
        if (!positions && !eager) continue;  // buffers are managed eagerly in `hisa` mode only
        for (const word below : {word{0}, word{4}, word{60}}) {
          if (oracle::is_sanitized && below != 4) continue;
          SCOPED_TRACE(testing::Message()
                       << "order from " << layout.order[0] << ", longest key " << layout.sorted_columns()
                       << ", positions " << positions << ", eager " << eager << ", values below " << below);
          std::mt19937_64 random(layout.order[0] + below);
          index_model model(this->memory, 4, layout, buffer_policy{eager, 8.0});
          std::uint64_t old_rows = 0;
          const std::vector<std::size_t> advances =
              oracle::is_sanitized
                  ? std::vector<std::size_t>{0, 1, 33, 300, 1, 0, 2, 2, 100, 1}
                  : std::vector<std::size_t>{0, 1, 33, 31, 32, 700, 1, 0, 100, 5, 300, 2, 2, 2, 1000, 0, 1};
          for (const std::size_t added : advances) {
            old_rows = model.rows();
            model.append(added, below, random);
            model.refresh(this->backend, old_rows);
            model.expect_answers();
            if (this->HasFatalFailure()) return;
          }
          // The relation is complete; then all rows are delta again, each time with more rows.
          const auto refresh = [&](std::size_t added, std::uint64_t first_of_delta) {
            model.append(added, below, random);
            model.refresh(this->backend, first_of_delta);
            model.expect_answers();
          };
          refresh(0, model.rows());
          for (const std::size_t added : {0, 40, 3}) refresh(added, 0);
          refresh(200, model.rows());
          refresh(7, 0);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(sorted_indexes, runs_stay_few_and_rows_are_not_merged_each_time) {
  const index_layout layout = {{0}, {1}, {1}, false, 0.5};
  index_model model(this->memory, 2, layout, {});
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t old_rows = model.rows();
    model.append(40, 50, random);
    model.refresh(this->backend, old_rows);
    std::vector<std::uint64_t> sizes;
    model.index().for_each_run(true, false, [&](const sorted_run& run) { sizes.push_back(run.rows()); });
    EXPECT_LE(sizes.size(), 8U);
    for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_GE(sizes[i - 1], 3 * sizes[i]);
  }
  model.expect_answers();
}

/// Deltas of few rows, whose keys are new, equal, or repeated among other keys.
TYPED_TEST(sorted_indexes, answers_over_many_deltas_of_few_rows_release_only) {
  for (const index_layout& layout : layouts(false)) {
    for (const word below : {word{0}, word{1}, word{3}, word{30}}) {
      SCOPED_TRACE(testing::Message() << "order from " << layout.order[0] << ", values below " << below);
      std::mt19937_64 random(layout.order[0] + below);
      index_model model(this->memory, 4, layout, {});
      for (int round = 0; round < 150; ++round) {
        const std::uint64_t old_rows = model.rows();
        model.append(round % 50 == 49 ? 70 : random() % 4, below, random);
        if (random() % 3 == 0) continue;  // not refreshed: not searched in this iteration
        model.refresh(this->backend, old_rows);
        model.expect_answers();
        if (this->HasFatalFailure()) return;
      }
      model.refresh(this->backend, model.rows());  // complete
      model.expect_answers();
      model.append(2, below, random);
      model.refresh(this->backend, 0);  // the start of a fixpoint
      model.expect_answers();
      const std::uint64_t old_rows = model.rows();
      model.append(3, below, random);
      model.refresh(this->backend, old_rows);
      model.expect_answers();
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(sorted_indexes, deltas_of_one_row_allocate_seldom) {
  const index_layout layout = {{0}, {1}, {1}, false, 0.5};
  index_model model(this->memory, 2, layout, {});
  std::mt19937_64 random(3);
  const auto advance = [&] {
    const std::uint64_t old_rows = model.rows();
    model.append(1, 0, random);
    model.refresh(this->backend, old_rows);
  };
  for (int round = 0; round < 2; ++round) advance();
  const std::uint64_t allocations = this->memory.allocations();
  for (std::uint64_t round = 0; round + 3 < open_run::most_rows; ++round) advance();
  EXPECT_EQ(this->memory.allocations(), allocations);
  model.expect_answers();
}

/// Few rows wait in runs whose sizes fall geometrically, because a merge copies all of full.
TYPED_TEST(sorted_indexes, published_layout_keeps_full_as_one_run_but_for_few_rows) {
  const index_layout layout = {{0}, {1}, {}, true, 0.8};
  for (const std::uint64_t added : {std::uint64_t{10}, calibration::few_hisa_rows}) {
    index_model model(this->memory, 2, layout, {});
    std::mt19937_64 random(3);
    for (int round = 0; round < 20; ++round) {
      const std::uint64_t old_rows = model.rows();
      model.append(added, 50, random);
      model.refresh(this->backend, old_rows);
      int runs = 0;
      model.index().for_each_run(true, false, [&](const sorted_run&) { ++runs; });
      EXPECT_LE(runs, added == calibration::few_hisa_rows ? 1 : 4);
    }
    if (added != calibration::few_hisa_rows) model.expect_answers();
  }
}

TYPED_TEST(sorted_indexes, rows_that_were_old_may_become_delta_again) {
  for (const bool positions : {false, true}) {
    const index_layout layout = layouts(positions)[1];
    index_model model(this->memory, 4, layout, {});
    std::mt19937_64 random(5);
    model.append(200, 20, random);
    model.refresh(this->backend, 200);  // complete
    model.append(100, 20, random);
    model.refresh(this->backend, 0);  // the start of a fixpoint
    model.expect_answers();
    if (this->HasFatalFailure()) return;
    model.append(50, 20, random);
    model.refresh(this->backend, 300);
    model.expect_answers();
    if (this->HasFatalFailure()) return;
  }
}

// A merge without enough memory destroys the index, which is built again.
TYPED_TEST(sorted_indexes, can_be_refreshed_again_where_memory_was_refused) {
  constexpr std::uint64_t step = oracle::is_sanitized ? 48 << 10 : 8 << 10;
  for (const bool positions : {false, true}) {
    int refused = 0;
    for (bool was_refused = true; was_refused; refused += was_refused ? 1 : 0) {
      index_model model(this->memory, 4, layouts(positions)[2], {});
      std::mt19937_64 random(11);
      model.append(3000, 0, random);
      model.refresh(this->backend, 0);
      model.append(2000, 0, random);
      this->memory.set_limit(this->memory.used() + step * (refused + 1));
      try {
        model.refresh(this->backend, model.rows());
        was_refused = false;
      } catch (const backend::memory_exceeded&) {
      }
      this->memory.set_limit(0);
      model.refresh(this->backend, model.rows());
      model.expect_answers();
      if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(refused, oracle::is_sanitized ? 2 : 10);
  }
}

TYPED_TEST(sorted_indexes, gives_its_memory_back) {
  {
    index_model model(this->memory, 4, layouts(true)[2], {});
    std::mt19937_64 random(7);
    for (int round = 0; round < 5; ++round) {
      const std::uint64_t old_rows = model.rows();
      model.append(2000, 0, random);
      model.refresh(this->backend, old_rows);
      EXPECT_EQ(this->memory.used(), model.index().bytes());
    }
  }
  EXPECT_EQ(this->memory.used(), 0U);
}

}  // namespace
}  // namespace gpulog::storage
