// Rows that are kept as words, counted, written and read by source and by value.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "backend/memory_resource.hpp"
#include "graph_lists.hpp"
#include "oracle/random_runs.hpp"
#include "storage/factorized/word_rows.hpp"

namespace gpulog::storage {
namespace {

row_words in_groups(backend::memory_resource& memory, std::uint32_t numbers, const pairs& of) {
  row_words made;
  const std::uint64_t groups = (numbers + row_groups::bits - 1) / row_groups::bits;
  made.bits = row_groups(memory, numbers * groups, 1);
  made.table = group_table(memory, numbers, groups);
  made.blocks = row_groups(memory, made.table.blocks(), 1);
  row_groups::reserve reserve;
  row_groups::reserve block_reserve;
  for (const auto& [x, y] : of) {
    std::uint64_t& place = made.table.entry(made.blocks, block_reserve, x, y / row_groups::bits);
    if (place == 0) place = made.bits.take(reserve);
    made.bits.at(static_cast<std::uint32_t>(place))[y / 64 % row_groups::words] |= 1ULL << y % 64;
  }
  return made;
}

/// Every other row by another worker, and the last ones first.
row_words in_lists(backend::memory_resource& memory, std::uint32_t numbers, const pairs& of) {
  std::map<word, std::map<std::uint32_t, std::uint64_t>> rows;
  for (const auto& [x, y] : of) rows[x][y / 64] |= 1ULL << y % 64;
  row_words made;
  made.lists.emplace(memory, numbers);
  word_lists::reserve reserves[2];
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto count = static_cast<std::uint32_t>(row->second.size());
    const word_lists::new_words added = made.lists->add(row->first, count, reserves[row->first % 2]);
    std::uint32_t next = 0;
    for (const auto& [number, bits] : row->second) {
      added.numbers[next] = number;
      added.bits[next++] = bits;
    }
  }
  return made;
}

/// Values are 3 i + 7 for number i, unless they are numbers themselves.
class words_of_pairs {
 public:
  words_of_pairs(std::uint32_t numbers, const pairs& of, bool is_plain, bool has_lists) : is_plain_(is_plain) {
    row_words made = has_lists ? in_lists(memory_, numbers, of) : in_groups(memory_, numbers, of);
    made.numbers = numbers;
    made.first_row = backend::array<std::uint64_t>(memory_, numbers + 1ULL);
    for (const auto& [x, y] : of) ++made.first_row[x + 1ULL];
    for (std::uint32_t number = 0; number < numbers; ++number) made.first_row[number + 1ULL] += made.first_row[number];
    if (!is_plain) {
      made.values.emplace_back(memory_, numbers);
      for (std::uint32_t number = 0; number < numbers; ++number) made.values.front()[number] = value(number);
    }
    rows_ = std::make_unique<word_rows>(memory_, std::move(made));
    for (const auto& [x, y] : of) expected_.emplace(value(x), value(y));
  }

  [[nodiscard]] word value(word number) const { return is_plain_ ? number : 3 * number + 7; }
  [[nodiscard]] word_rows& rows() const { return *rows_; }
  [[nodiscard]] const pairs& expected() const { return expected_; }

  /// Read so many rows at a time, by one cursor a piece, or by a new one each time.
  [[nodiscard]] pairs written(std::uint64_t part, bool anew) const {
    pairs found;
    std::vector<word> x(part);
    std::vector<word> y(part);
    word* const columns[] = {x.data(), y.data()};
    const auto piece = rows_->make_piece();
    for (std::uint32_t number = 0; number < rows_->pieces().size() - 1; ++number) {
      piece->make(number);
      auto cursor = piece->cursor();
      const std::uint64_t count = rows_->pieces()[number + 1] - rows_->pieces()[number];
      for (std::uint64_t first = 0; first < count; first += part) {
        const std::uint64_t n = std::min(part, count - first);
        if (anew) cursor = piece->cursor();
        cursor->write(first, n, columns);
        for (std::uint64_t i = 0; i < n; ++i) EXPECT_TRUE(found.emplace(x[i], y[i]).second);
      }
    }
    return found;
  }

 private:
  backend::host_memory memory_;
  bool is_plain_;
  std::unique_ptr<word_rows> rows_;
  pairs expected_;
};

void expect_read(const words_of_pairs& made, word most) {
  const auto reader = made.rows().make_reader();
  const word* const all = made.rows().values_of(0).values;
  pairs forward;
  pairs backward;
  std::vector<std::uint64_t> counts(most + 1ULL);
  std::vector<std::uint64_t> source_counts(most + 1ULL);
  for (const auto& [x, y] : made.expected()) {
    ++counts[x];
    ++source_counts[y];
  }
  for (word x = 0; x <= most; ++x) {
    const word* const key = &x;
    const std::uint64_t count = counts[x];
    const std::uint32_t source = reader->source_number(&key, 0);
    if (source == matrix_reader::none) {
      EXPECT_EQ(count, 0U);
    } else {
      EXPECT_EQ(reader->count_targets(source), count);
      EXPECT_EQ(reader->has_targets(source), count != 0);
      reader->targets_of(source).for_each_range([&](std::uint64_t first, std::uint64_t behind) {
        for (; first < behind; ++first) EXPECT_TRUE(forward.emplace(x, all[first]).second);
      });
    }
    const std::uint64_t sources = source_counts[x];
    const std::uint32_t number = reader->target_number(&key, 0);
    EXPECT_EQ(number == matrix_reader::none, sources == 0);
    if (number == matrix_reader::none) continue;
    EXPECT_EQ(reader->count_sources(number), sources);
    reader->sources_of(number).for_each_range([&](std::uint64_t first, std::uint64_t behind) {
      for (; first < behind; ++first) EXPECT_TRUE(backward.emplace(all[first], x).second);
    });
  }
  EXPECT_EQ(forward, made.expected());
  EXPECT_EQ(backward, made.expected());
}

void expect_contained(const words_of_pairs& made, word most) {
  const auto reader = made.rows().make_reader();
  std::vector<word> x(most + 1ULL);
  std::vector<word> y(most + 1ULL);
  std::vector<std::uint8_t> found(most + 1ULL);
  const word* const columns[] = {x.data(), y.data()};
  for (word i = 0; i <= most; ++i) y[i] = i;
  const word step = oracle::is_sanitized && most > 1000 ? 17 : 1;
  for (word source = 0; source <= most; source += step) {
    std::fill(x.begin(), x.end(), source);
    reader->contains(columns, most + 1, found.data());
    for (word i = 0; i <= most; ++i) ASSERT_EQ(found[i] != 0, made.expected().contains({source, i}));
  }
}

void expect_kept(std::uint32_t numbers, const pairs& of) {
  for (const auto& [is_plain, has_lists] :
       {std::pair(true, false), std::pair(false, false), std::pair(true, true), std::pair(false, true)}) {
    const bool is_slow = oracle::is_sanitized && numbers > 1000;
    if (is_slow && (is_plain || !has_lists)) continue;
    const words_of_pairs made(numbers, of, is_plain, has_lists);
    EXPECT_EQ(made.rows().rows(), of.size());
    EXPECT_GT(made.rows().bytes(), 0U);
    for (const std::uint64_t part : {1, 7, 1000}) {
      if (is_slow && part != 7) continue;
      EXPECT_EQ(made.written(part, false), made.expected());
      EXPECT_EQ(made.written(part, true), made.expected());
    }
    std::set<word> sources;
    std::set<word> values;
    for (const auto& [x, y] : made.expected()) {
      sources.insert(x);
      values.insert(y);
    }
    EXPECT_EQ(made.rows().places_with_rows(true)->size(), sources.size());
    EXPECT_EQ(made.rows().places_with_rows(false)->size(), values.size());
    const word most = made.value(numbers) + 1;
    expect_read(made, most);
    expect_contained(made, most);
  }
}

TEST(word_rows, of_random_pairs) {
  std::mt19937 random(1);
  for (const std::uint32_t numbers : {1U, 2U, 63U, 64U, 65U, oracle::is_sanitized ? 130U : 300U}) {
    for (const double share : {0.0, 0.02, 0.5, 1.0}) {
      pairs of;
      for (word x = 0; x < numbers; ++x) {
        for (word y = 0; y < numbers; ++y) {
          if (random() < share * static_cast<double>(std::mt19937::max())) of.emplace(x, y);
        }
      }
      expect_kept(numbers, of);
    }
  }
}

TEST(word_rows, of_several_groups) {
  constexpr std::uint32_t numbers = oracle::is_sanitized ? 1110 : 2100;
  std::mt19937 random(2);
  pairs of;
  for (int i = 0; i < 5000; ++i) of.emplace(random() % (numbers / 3) * 3, random() % numbers);
  for (word y = 1000; y < 1100; ++y) of.emplace(5, y);
  of.emplace(numbers - 1, numbers - 1);
  expect_kept(numbers, of);
}

TEST(word_rows, have_several_pieces_release_only) {
  constexpr std::uint32_t numbers = 1500;
  pairs of;
  for (word x = 0; x < numbers; ++x)
    for (word y = x % 3; y < numbers; y += 2) of.emplace(x, y);
  for (const bool has_lists : {false, true}) {
    const words_of_pairs made(numbers, of, true, has_lists);
    EXPECT_GT(made.rows().pieces().size(), 2U);
    EXPECT_EQ(made.written(4096, false), of);
  }
}

/// A row has more words than a worker takes room for at a time.
TEST(word_rows, of_a_long_list) {
  pairs of;
  for (word y = 0; y < 2'000'000; y += 50) of.emplace(3, y);
  for (word x = 4; x < 2000; ++x) of.emplace(x, 64 * x);
  const words_of_pairs made(2'000'000, of, true, true);
  EXPECT_EQ(made.written(1000, false), of);
  const auto reader = made.rows().make_reader();
  std::vector<word> x(3, 3);
  const std::vector<word> y = {1'000'000, 1'000'001, 1'999'950};
  const word* const columns[] = {x.data(), y.data()};
  std::vector<std::uint8_t> found(3);
  reader->contains(columns, 3, found.data());
  EXPECT_EQ(found, (std::vector<std::uint8_t>{1, 0, 1}));
}

}  // namespace
}  // namespace gpulog::storage
