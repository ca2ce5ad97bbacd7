// Tuple sets for values that are known to be below bounds: bit matrices, and hash tables of their words, or of numbers
// of tuples.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "storage/relation/relation.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/narrow_set.hpp"
#include "storage/sets/word_set.hpp"

namespace gpulog::storage {
namespace {

using bounds = std::vector<std::uint64_t>;
using pair_list = std::vector<std::pair<word, word>>;

/// Pairs below the bounds, in runs of neighbours; of one column, the first value is 0.
pair_list random_pairs(std::size_t n, const bounds& below, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  pair_list rows;
  while (rows.size() < n) {
    const word first = below.size() == 1 ? 0 : static_cast<word>(random() % below[0]);
    const auto last = static_cast<word>(random() % below.back());
    for (word k = 0; k < 5 && last + k < below.back() && rows.size() < n; ++k) rows.emplace_back(first, last + k);
  }
  return rows;
}

/// Offers pairs [begin, end) in tiles. @return the new pairs
template <class Access, class Set>
pair_list offer(Set& set, const pair_list& rows, std::size_t begin, std::size_t end, bool is_unary) {
  const auto scratch = std::make_unique<insert_scratch>();
  pair_list fresh;
  std::vector<word> first(tile_rows);
  std::vector<word> last(tile_rows);
  for (std::size_t at = begin; at < end; at += tile_rows) {
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(tile_rows, end - at));
    for (std::uint32_t i = 0; i < n; ++i) std::tie(first[i], last[i]) = rows[at + i];
    const word* const values[] = {is_unary ? last.data() : first.data(), last.data()};
    const std::uint32_t found = set.template insert<Access>(values, n, *scratch);
    for (std::uint32_t i = 0; i < found; ++i) {
      fresh.emplace_back(static_cast<word>(scratch->keys[i] >> 32), static_cast<word>(scratch->keys[i]));
    }
  }
  return fresh;
}

template <class Set>
void expect_contains(const Set& set, const pair_list& asked, const std::set<std::pair<word, word>>& held,
                     bool is_unary) {
  const auto scratch = std::make_unique<insert_scratch>();
  for (const auto& [first, last] : asked) {
    const word* const values[] = {is_unary ? &last : &first, &last};
    std::uint8_t found = 2;
    set.contains(values, 1, *scratch, &found);
    EXPECT_EQ(found, held.contains({is_unary ? 0 : first, last}) ? 1 : 0) << first << ", " << last;
  }
}

template <class Set>
class bounded_set : public ::testing::Test {};
using sets = ::testing::Types<bit_set, word_set, narrow_set>;
TYPED_TEST_SUITE(bounded_set, sets, );

TYPED_TEST(bounded_set, holds_what_is_inserted) {
  // Around the sizes of words.
  for (const bounds& below :
       std::vector<bounds>{{1, 1}, {3, 15}, {3, 16}, {3, 17}, {70, 63}, {70, 64}, {70, 65}, {900}}) {
    SCOPED_TRACE(std::to_string(below.front()) + " " + std::to_string(below.back()));
    const bool is_unary = below.size() == 1;
    backend::host_memory memory;
    TypeParam set(memory, bit_matrix_shape::of(below));
    const pair_list rows = random_pairs(600, below, below.back());
    const pair_list fresh = offer<exclusive_access>(set, rows, 0, rows.size(), is_unary);
    const std::set<std::pair<word, word>> expected(rows.begin(), rows.end());
    const std::set<std::pair<word, word>> held(fresh.begin(), fresh.end());
    EXPECT_EQ(held, expected);
    EXPECT_EQ(held.size(), fresh.size());
    EXPECT_TRUE(offer<exclusive_access>(set, rows, 0, rows.size(), is_unary).empty());
    // Values beyond the bounds are not in the next row.
    pair_list asked = random_pairs(300, {2 * below.front() + 40, 2 * below.back() + 100}, 9);
    asked.emplace_back(UINT32_MAX, UINT32_MAX);
    asked.emplace_back(UINT32_MAX, 0);
    expect_contains(set, asked, held, is_unary);
  }
}

TYPED_TEST(bounded_set, several_workers_agree_who_was_first) {
  const bounds below = {300, 500};
  backend::host_memory memory;
  TypeParam set(memory, bit_matrix_shape::of(below));
  if constexpr (!std::is_same_v<TypeParam, bit_set>) set.grow(100000);
  const pair_list rows = random_pairs(40000, below, 1);
  constexpr std::size_t workers = 4;
  std::vector<pair_list> fresh(workers);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w) {
    threads.emplace_back(
        [&, w] { fresh[w] = offer<concurrent_access>(set, rows, w * 5000, rows.size() - w * 5000, false); });
  }
  for (std::thread& one : threads) one.join();
  std::set<std::pair<word, word>> held;
  for (const pair_list& own : fresh) {
    for (const auto& pair : own) EXPECT_TRUE(held.insert(pair).second);
  }
  EXPECT_EQ(held, (std::set<std::pair<word, word>>(rows.begin(), rows.end())));
}

template <class Set>
void expect_that_it_grows(Set& set, const bounds& below) {
  const pair_list rows = random_pairs(50000, below, 2);
  std::set<std::pair<word, word>> held;
  for (std::size_t at = 0; at < rows.size(); at += tile_rows) {
    set.grow(tile_rows);
    for (const auto& pair : offer<exclusive_access>(set, rows, at, std::min(rows.size(), at + tile_rows), false)) {
      EXPECT_TRUE(held.insert(pair).second);
    }
  }
  EXPECT_EQ(held, (std::set<std::pair<word, word>>(rows.begin(), rows.end())));
  expect_contains(set, pair_list(rows.begin(), rows.begin() + 1000), held, false);
}

TEST(word_set, grows) {
  const bounds below = {20000, 1000000000};
  ASSERT_TRUE(packed_word::can_hold(bit_matrix_shape::of(below)));
  backend::host_memory memory;
  word_set set(memory, bit_matrix_shape::of(below));
  expect_that_it_grows(set, below);
  EXPECT_LT(set.size(), 50000 / 2);
}

TEST(narrow_set, grows) {
  for (const bounds& below : std::vector<bounds>{{60000, 70000}, {1ULL << 18, 1ULL << 17}, {1ULL << 23, 1ULL << 23}}) {
    SCOPED_TRACE(below.front());
    ASSERT_NE(narrow_set::least_slots(bit_matrix_shape::of(below)), 0);
    backend::host_memory memory;
    narrow_set set(memory, bit_matrix_shape::of(below));
    expect_that_it_grows(set, below);
  }
}

TEST(narrow_set, takes_slots_for_what_lines_do_not_tell) {
  const auto least_slots = [](const bounds& below) { return narrow_set::least_slots(bit_matrix_shape::of(below)); };
  EXPECT_EQ(least_slots({1, 1}), 1024);
  EXPECT_EQ(least_slots({1ULL << 32}), 1024);
  EXPECT_EQ(least_slots({1ULL << 17, 1ULL << 18}), 1024);
  EXPECT_EQ(least_slots({1ULL << 18, 1ULL << 18}), 2048);
  EXPECT_EQ(least_slots({1ULL << 18, (1ULL << 18) + 1}), 4096);
  EXPECT_EQ(least_slots({1ULL << 26, 1ULL << 32}), 1ULL << 33);
  EXPECT_EQ(least_slots({1ULL << 27, 1ULL << 32}), 0);
  EXPECT_EQ(least_slots({1ULL << 32, 1ULL << 32}), 0);
}

TEST(narrow_set, permutations_lose_no_number) {
  for (const unsigned bits : {1U, 2U, 7U, 16U}) {
    const number_permutation mixed(bits);
    std::set<std::uint64_t> held;
    for (std::uint64_t number = 0; number < 1ULL << bits; ++number) held.insert(mixed(number));
    EXPECT_EQ(held.size(), 1ULL << bits);
    EXPECT_EQ(*held.rbegin(), (1ULL << bits) - 1);
  }
}

// 256 numbers whose line is the last of 64 lines: seven lines have room for 112 numbers.
TEST(narrow_set, numbers_without_a_line_stand_beside_it) {
  const bounds below = {1ULL << 32};
  const number_permutation mixed(32);
  pair_list rows;
  for (word number = 0; rows.size() < 256; ++number) {
    if (mixed(number) >> 26 == 63) rows.emplace_back(0, number);
  }
  backend::host_memory memory;
  narrow_set set(memory, bit_matrix_shape::of(below));
  EXPECT_EQ(offer<exclusive_access>(set, rows, 0, 200, true).size(), 200);
  EXPECT_EQ(set.numbers_beside(), 200 - 112);
  EXPECT_TRUE(offer<exclusive_access>(set, rows, 0, 200, true).empty());
  std::set<std::pair<word, word>> held(rows.begin(), rows.begin() + 200);
  expect_contains(set, rows, held, true);
  std::vector<pair_list> fresh(4);
  std::vector<std::thread> threads;
  for (pair_list& own : fresh)
    threads.emplace_back([&] { own = offer<concurrent_access>(set, rows, 0, rows.size(), true); });
  for (std::thread& one : threads) one.join();
  for (const pair_list& own : fresh) {
    for (const auto& pair : own) EXPECT_TRUE(held.insert(pair).second);
  }
  EXPECT_EQ(held.size(), rows.size());
  set.grow(20000);
  EXPECT_EQ(set.numbers_beside(), 0);
  EXPECT_TRUE(offer<exclusive_access>(set, rows, 0, rows.size(), true).empty());
}

TEST(narrow_set, threads_move_its_parts) {
  const bounds below = {1ULL << 20, 1ULL << 20};
  const pair_list rows = random_pairs(600000, below, 7);
  backend::host_memory memory;
  narrow_set set(memory, bit_matrix_shape::of(below), 1300000);
  const std::size_t distinct = offer<exclusive_access>(set, rows, 0, rows.size(), false).size();
  const std::uint64_t bytes = set.bytes();
  ASSERT_EQ(bytes, 4ULL << 21);
  backend::cpu::thread_backend threads(4);
  set.grow(1300000, backend::piece_runner(threads));
  EXPECT_EQ(set.bytes(), 2 * bytes);
  EXPECT_EQ(set.size(), distinct);
  EXPECT_TRUE(offer<exclusive_access>(set, rows, 0, rows.size(), false).empty());
}

TEST(word_set, has_numbers_for_so_many_words) {
  EXPECT_TRUE(packed_word::can_hold(bit_matrix_shape::of({1ULL << 24, 1ULL << 28})));
  EXPECT_FALSE(packed_word::can_hold(bit_matrix_shape::of({1ULL << 24, (1ULL << 28) + 1})));
  EXPECT_FALSE(packed_word::can_hold(bit_matrix_shape::of({1ULL << 32, 1ULL << 32})));
  EXPECT_EQ(bit_matrix_shape::of({1ULL << 32, 1ULL << 32}).bytes(), 1ULL << 61);
}

TEST(word_set, tuples_that_share_a_word_are_counted) {
  std::vector<word> first;
  std::vector<word> last;
  for (word row = 0; row < 100000; ++row) {
    first.push_back(row / 1000);
    last.push_back(row % 1000 * 4);
  }
  const word* const columns[] = {first.data(), last.data()};
  EXPECT_NEAR(tuples_per_word(columns, first.size(), bit_matrix_shape::of({100, 4000})), 4, 0.2);
}

/// Inserts random rows into a relation with known bounds, in tiles. @return the name of the relation's set afterwards
template <class Backend>
std::string set_behind(Backend backend, set_choice sets, const bounds& below, std::size_t rows,
                       std::uint64_t memory_for_matrix) {
  backend::host_memory memory;
  relation_options options;
  options.sets = sets;
  relation target(memory, 2, options);
  const auto scratch = std::make_unique<insert_scratch>();
  std::set<std::pair<word, word>> held;
  const pair_list offered = random_pairs(rows, below, 3);
  for (std::size_t at = 0; at < offered.size(); at += tile_rows) {
    // The relation has some rows before the bounds are known.
    if (at == tile_rows) target.bound_values(below, memory_for_matrix);
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(tile_rows, offered.size() - at));
    std::vector<word> first;
    std::vector<word> last;
    for (std::uint32_t i = 0; i < n; ++i) {
      first.push_back(offered[at + i].first);
      last.push_back(offered[at + i].second);
      held.insert(offered[at + i]);
    }
    const word* const values[] = {first.data(), last.data()};
    while (!target.has_room()) target.make_room(backend);
    target.insert<exclusive_access>(values, n, *scratch, 0);
  }
  target.settle(backend);
  target.complete();
  EXPECT_EQ(target.rows(), held.size());
  for (std::uint64_t row = 0; row < target.rows(); ++row) {
    EXPECT_TRUE(held.erase({target.column(0)[row], target.column(1)[row]}));
  }
  return target.set_name();
}
/// Runs the test with one worker and with several workers, which move rows together.
std::string set_behind(set_choice sets, const bounds& below, std::size_t rows, std::uint64_t memory_for_matrix) {
  const std::string name = set_behind(backend::cpu::serial_backend(), sets, below, rows, memory_for_matrix);
  EXPECT_EQ(set_behind(backend::cpu::thread_backend(3U), sets, below, rows, memory_for_matrix), name);
  return name;
}

TEST(bounded_relation, takes_bits_for_the_rows_that_are_there_and_a_hash_set_when_others_come) {
  constexpr std::uint64_t plenty = 1ULL << 40;
  for (const std::uint64_t memory_for_matrix : {plenty, std::uint64_t{0}}) {
    backend::host_memory memory;
    backend::cpu::serial_backend backend;
    relation target(memory, 1, {});
    const auto scratch = std::make_unique<insert_scratch>();
    std::vector<word> offered(tile_rows);
    const auto offer_from = [&](word first) {
      for (word i = 0; i < tile_rows; ++i) offered[i] = first + i;
      const word* const values[] = {offered.data()};
      while (!target.has_room()) target.make_room(backend);
      return target.insert<exclusive_access>(values, tile_rows, *scratch, 0);
    };
    EXPECT_EQ(offer_from(0), tile_rows);
    target.bound_present_values({tile_rows}, memory_for_matrix);
    EXPECT_STREQ(target.set_name(), memory_for_matrix == plenty ? "bits" : "hash");
    std::vector<std::uint8_t> found(tile_rows);
    const word* const values[] = {offered.data()};
    for (word& value : offered) value += 100;
    target.contains(values, tile_rows, *scratch, found.data());
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), tile_rows - 100);
    EXPECT_EQ(offer_from(100), 100);
    EXPECT_STREQ(target.set_name(), "hash");
    EXPECT_EQ(offer_from(100000000), tile_rows);
    EXPECT_EQ(offer_from(0), 0);
  }
}

TEST(bounded_relation, takes_the_set_that_fits_release_only) {
  constexpr std::uint64_t plenty = 1ULL << 40;
  const bounds small = {1000, 1000};
  const bounds middle = {4000, 8000};  // 4 MB
  const bounds large = {1ULL << 20, 1ULL << 20};
  EXPECT_EQ(set_behind(set_choice::automatic, small, 2000, plenty), "bits");
  EXPECT_EQ(set_behind(set_choice::hash, small, 2000, plenty), "hash");
  EXPECT_EQ(set_behind(set_choice::automatic, middle, 2000, plenty), "narrow");
  EXPECT_EQ(set_behind(set_choice::automatic, middle, 60000, plenty), "bits");
  EXPECT_EQ(set_behind(set_choice::automatic, middle, 60000, 14u << 20), "narrow");
  EXPECT_EQ(set_behind(set_choice::hash, middle, 60000, plenty), "hash");
  EXPECT_EQ(set_behind(set_choice::automatic, large, 2000, plenty), "hash");
  EXPECT_EQ(set_behind(set_choice::automatic, large, 60000, plenty), "narrow");
  EXPECT_EQ(set_behind(set_choice::automatic, {1ULL << 32, 1ULL << 32}, 60000, plenty), "hash");
  EXPECT_EQ(set_behind(set_choice::bits, middle, 2000, plenty), "bits");
  EXPECT_EQ(set_behind(set_choice::bits, large, 2000, 1u << 20), "hash");
  EXPECT_EQ(set_behind(set_choice::words, large, 60000, plenty), "words");
  EXPECT_EQ(set_behind(set_choice::words, {1ULL << 32, 1ULL << 32}, 2000, plenty), "hash");
}

}  // namespace
}  // namespace gpulog::storage
