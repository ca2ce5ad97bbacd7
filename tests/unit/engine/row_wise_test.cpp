// Row-wise evaluation of rules compared with pipelines, for small rows and for a row with most of the results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

using pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using result = std::set<std::pair<std::uint32_t, std::uint32_t>>;

const std::string declarations =
    ".decl a(x:unsigned, y:unsigned)\n.decl b(x:unsigned, y:unsigned)\n.decl r(x:unsigned, y:unsigned)\n";
const std::string join = declarations + "r(x,y) :- a(x,w), b(w,y).\n";

struct way {
  unsigned jobs = 1;
  const char* rows = "on";
  backend_kind backend = backend_kind::cpu;
  std::uint64_t memory_limit = 0;
  unsigned word_size = 32;
  storage_kind storage = storage_kind::automatic;
};

result run(const std::string& text, const pairs& a, const pairs& b, const way& how, bool* row_wise = nullptr) {
  run_options options;
  options.jobs = how.jobs;
  options.tuning = {{"rows", how.rows}};
  options.backend = how.backend;
  options.memory_limit = how.memory_limit;
  options.storage = how.storage;
  compile_options compile;
  compile.warnings = false;
  compile.word_size = how.word_size;
  engine running(program::from_text(text, compile), options);
  for (const auto& [name, rows] : {std::pair("a", &a), std::pair("b", &b)}) {
    relation input = running.relation(name);
    for (const auto& [x, y] : *rows) input.insert({value(x), value(y)});
  }
  running.evaluate();
  result found;
  std::uint64_t count = 0;
  for (const tuple& row : running.relation("r")) {
    found.emplace(static_cast<std::uint32_t>(row.word64(0)), static_cast<std::uint32_t>(row.word64(1)));
    ++count;
  }
  EXPECT_EQ(count, found.size()) << "rows repeat";
  if (row_wise != nullptr) {
    *row_wise = false;
    for (const stratum_statistics& stratum : running.figures().strata) {
      *row_wise =
          *row_wise || std::count(stratum.strategies.begin(), stratum.strategies.end(), "row-wise-evaluation") != 0;
      for (const rule_statistics& rule : stratum.rules) *row_wise = *row_wise || rule.row_wise_runs != 0;
    }
  }
  return found;
}

void expect_same(const std::string& text, const pairs& a, const pairs& b, unsigned word_size = 32) {
  way off;
  off.rows = "off";
  off.word_size = word_size;
  const result expected = run(text, a, b, off);
  std::vector<way> ways = {{1}, {3}};
  if (has_device()) ways.push_back({1, "on", backend_kind::gpu});
  for (way& how : ways) {
    how.word_size = word_size;
    bool row_wise = false;
    EXPECT_EQ(run(text, a, b, how, &row_wise), expected) << how.jobs << " threads\n" << text;
    EXPECT_TRUE(row_wise || how.backend == backend_kind::gpu) << text;
  }
}

pairs random_pairs(std::uint64_t seed, std::size_t count, std::uint32_t left, std::uint32_t right) {
  std::mt19937_64 random(seed);
  pairs made;
  for (std::size_t i = 0; i < count; ++i)
    made.emplace_back(static_cast<std::uint32_t>(random() % left), static_cast<std::uint32_t>(random() % right));
  return made;
}

TEST(rows, of_all_sizes_around_those_of_words_and_tables) {
  for (const std::uint32_t size : {0U, 1U, 31U, 32U, 33U, 63U, 64U, 65U, 300U, 5000U}) {
    pairs a = {{7, 1}};
    pairs b;
    for (std::uint32_t i = 0; i < size; ++i) b.emplace_back(1, 3 * i);
    expect_same(join, a, b);
    expect_same(join, b, a);
  }
}

TEST(rows, random_joins_release_only) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::uint32_t middle = seed % 2 == 0 ? 20 : 400;
    const pairs a = random_pairs(seed, 2000, 300, middle);
    const pairs b = random_pairs(seed + 100, 2000, middle, 100 << (4 * seed));
    expect_same(join, a, b);
    expect_same(declarations + "r(y,x) :- a(x,w), b(w,y), x != y.\n", a, b);
    expect_same(join + "r(x,y) :- b(x,w), a(w,y).\nr(x,y) :- b(y,x).\nr(x,x) :- a(_,x).\n", a, b);
    expect_same(declarations + "r(x,y) :- a(w,x), a(w,y), y < 50, x > 3.\n", a, b);
  }
}

/// One row has nearly all results, a second row nearly all candidates.
TEST(rows, skewed) {
  pairs a;
  pairs b;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    a.emplace_back(1, i);
    b.emplace_back(i, i % 5);
    b.emplace_back(i, 100000 + 7 * i);
    a.emplace_back(i + 2, 5000);
  }
  for (std::uint32_t w = 0; w < 100; ++w) {
    a.emplace_back(9999, 10000 + w);
    for (std::uint32_t y = 0; y < 300; ++y) b.emplace_back(10000 + w, y);
  }
  b.emplace_back(5000, 3);
  expect_same(join, a, b);
}

TEST(rows, of_a_rule_that_reads_nothing_beside_one_that_does) {
  const pairs b = {{1, 2}, {2, 3}, {3, 1}};
  expect_same(join + "r(x,y) :- b(x,w), b(w,y).\n", {}, b);
}

TEST(rows, that_are_asked_for_membership_afterwards) {
  const pairs a = random_pairs(1, 500, 60, 40);
  const pairs b = random_pairs(2, 500, 40, 60);
  const std::string text = declarations + ".decl m(x:unsigned, y:unsigned)\nm(x,y) :- a(x,w), b(w,y).\n" +
                           "r(x,y) :- a(x,y), !m(x,y).\nr(x,y) :- b(x,y), m(y,x).\n";
  expect_same(text, a, b);
}

TEST(rows, of_wide_words) {
  const pairs a = random_pairs(1, 500, 60, 40);
  const pairs b = random_pairs(2, 500, 40, 60);
  expect_same(join, a, b, 64);
  expect_same(declarations + "r(x,y) :- a(x,w), b(w,y), x != y.\n", a, b, 64);
  expect_same(declarations + "r(x,y) :- a(x,w), b(w,y), x < y, y >= 7, x != 3.\n", a, b, 64);
}

/// Recursions whose comparisons rule out all equations but those of single versions.
const std::string row_wise_closure = declarations + "r(x,y) :- a(x,y).\nr(x,y) :- r(x,w), r(w,y), x != 4000000000.\n";
const std::string row_wise_generation =
    declarations + "r(x,y) :- a(p,x), a(p,y), x != y.\nr(x,y) :- a(p,x), r(p,q), a(q,y), x != y, x != 4000000000.\n";
const std::string in_turns = declarations +
                             ".decl s(x:unsigned, y:unsigned)\n.decl t(x:unsigned, y:unsigned)\n"
                             "s(x,y) :- a(x,y).\nt(x,y) :- b(x,y).\ns(x,y) :- s(x,w), t(w,y), y < 180.\n"
                             "t(y,x) :- t(x,w), s(w,y), x != 3.\nt(x,y) :- s(w,x), s(w,y), 7 != y.\n"
                             "r(x,y) :- s(x,y), t(x,y).\n";

void expect_same_in_loops(const std::string& text, const pairs& a, const pairs& b) {
  way off;
  off.rows = "off";
  const result expected = run(text, a, b, off);
  std::uint64_t number_of_case = 0;
  for (const storage_kind storage :
       {storage_kind::automatic, storage_kind::hash, storage_kind::bits, storage_kind::words}) {
    if (!oracle::is_in_sample(number_of_case++, 2)) continue;
    for (const auto& [jobs, rows, backend] :
         {std::tuple(1U, "on", backend_kind::cpu), std::tuple(4U, "on", backend_kind::cpu),
          std::tuple(1U, "auto", backend_kind::cpu), std::tuple(1U, "on", backend_kind::gpu)}) {
      if (backend == backend_kind::gpu && !has_device()) continue;
      way how{jobs, rows, backend};
      how.storage = storage;
      bool row_wise = false;
      EXPECT_EQ(run(text, a, b, how, &row_wise), expected)
          << jobs << " threads, storage " << static_cast<int>(storage) << "\n"
          << text;
      if (std::string_view(rows) == "on") EXPECT_TRUE(row_wise) << text;
    }
  }
}

TEST(rows, inside_loops_release_only) {
  for (std::uint64_t seed = 0; seed < (has_emulated_device() ? 1U : 2U); ++seed) {
    const pairs a = random_pairs(seed, 300, 200, 200);
    const pairs b = random_pairs(seed + 10, 100, 200, 200);
    for (const std::string& text : {row_wise_closure, row_wise_generation, in_turns}) expect_same_in_loops(text, a, b);
  }
}

/// Rows of all sizes in one run, and a relation that has most results from the beginning.
TEST(rows, inside_loops_that_are_skewed_release_only) {
  pairs a;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    if (i < 200) a.emplace_back(i, i + 1);
    if (i % 2 == 0) a.emplace_back(1, 5 * i);
    if (i % 3 == 0) a.emplace_back(7 * i, 190);
  }
  for (std::uint32_t i = 0; i < 3; ++i) a.emplace_back(100000 + i, 200000 - 70 * i);
  expect_same_in_loops(row_wise_closure, a, {});
  const pairs some(a.begin(), a.begin() + 600);
  expect_same_in_loops(row_wise_generation, some, {});
}

TEST(rows, inside_loops_without_memory_for_them_release_only) {
  const pairs a = random_pairs(1, 3000, 600, 600);
  way limited;
  limited.rows = "off";
  const std::size_t expected = run(row_wise_closure, a, {}, limited).size();
  limited.rows = "on";
  std::size_t enough = 0;
  for (limited.memory_limit = 1u << 20; limited.memory_limit <= 64u << 20; limited.memory_limit *= 2) {
    try {
      EXPECT_EQ(run(row_wise_closure, a, {}, limited).size(), expected) << limited.memory_limit;
      ++enough;
    } catch (const memory_limit_error&) {
      EXPECT_EQ(enough, 0U) << limited.memory_limit;
    }
  }
  EXPECT_NE(enough, 0U);
}

/// Values without a place in a bitmap, and comparisons of codes, run as pipelines.
/// The bitmap has numbers of values, also inside a loop, whose results have further values.
TEST(rows, of_sparse_values) {
  constexpr std::uint32_t many = oracle::is_sanitized ? 150 : 2000;
  pairs a = random_pairs(1, many, 300, 100);
  pairs b = random_pairs(2, many, 100, 100);
  for (auto& [x, w] : a) w *= 10000019;
  for (auto& [w, y] : b) {
    w *= 10000019;
    y *= 10000019;
  }
  for (const unsigned word_size : {32U, 64U}) {
    expect_same(join, a, b, word_size);
    expect_same(declarations + "r(x,y) :- a(x,w), b(w,y), x != y, y != 10000019, y != 8.\n", a, b, word_size);
    expect_same(declarations + "r(x,y) :- a(x,w), b(w,y), x < y, y <= 800000000.\n", a, b, word_size);
    expect_same(declarations +
                    "r(x,y) :- a(x,y).\nr(x,y) :- r(x,w), b(w,y).\nr(w,y) :- r(x,w), r(x,y).\n"
                    "r(x + 1, 7) :- r(x, 0), x < 900.\n",
                a, b, word_size);
  }
}

TEST(rows, of_any_values) {
  bool row_wise = true;
  const pairs a = {{1, 2}, {4000000000U, 2}};
  const pairs b = {{2, 4000000000U}, {2, 5}};
  EXPECT_EQ(run(join, {{1, 2}}, b, {1}, &row_wise).size(), 2U);
  EXPECT_FALSE(row_wise);
  // There are enough candidates to number values.
  EXPECT_EQ(run(join, a, b, {1}, &row_wise).size(), 4U);
  EXPECT_TRUE(row_wise);
  // Rows may have any number.
  EXPECT_EQ(run(join, {{4294967295U, 2}, {7, 2}}, {{2, 5}, {2, 70}}, {1}, &row_wise).size(), 4U);
  EXPECT_TRUE(row_wise);
  const std::string less = declarations + "r(x,y) :- a(x,w), b(w,y), x < y.\n";
  way wide;
  wide.word_size = 64;
  EXPECT_EQ(run(less, a, b, wide, &row_wise).size(), 2U);
  EXPECT_TRUE(row_wise);
  EXPECT_EQ(run(less, {{4294967295U, 2}, {7, 2}}, {{2, 5}, {2, 70}}, wide, &row_wise), (result{{7, 70}}));
  EXPECT_TRUE(row_wise);
}

TEST(rows, chosen_where_results_repeat) {
  bool row_wise = false;
  const way automatic = {1, "auto"};
  const pairs a = random_pairs(1, 5000, 100, 100);
  run(join, a, a, automatic, &row_wise);
  EXPECT_TRUE(row_wise);
  pairs chain;
  for (std::uint32_t i = 0; i < 5000; ++i) chain.emplace_back(i, i + 1);
  run(join, chain, chain, automatic, &row_wise);
  EXPECT_FALSE(row_wise);
}

/// Returns the representation of relation r, which only `readers` read.
std::string kept_as(const pairs& a, const pairs& b, const std::string& readers, unsigned jobs = 1) {
  run_options options;
  options.jobs = jobs;
  options.backend = backend_kind::cpu;
  compile_options compile;
  compile.warnings = false;
  engine running(program::from_text(join + readers, compile), options);
  for (const auto& [name, rows] : {std::pair("a", &a), std::pair("b", &b)}) {
    relation input = running.relation(name);
    for (const auto& [x, y] : *rows) input.insert({value(x), value(y)});
  }
  running.evaluate();
  const auto& figures = running.figures().relations;
  const auto found = std::find_if(figures.begin(), figures.end(), [](const auto& one) { return one.name == "r"; });
  return found == figures.end() ? "" : found->set;
}

TEST(rows, that_stay_words) {
  const pairs a = random_pairs(1, 5000, 100, 100);
  const std::string asking = ".decl o(x:unsigned, y:unsigned)\no(x,y) :- a(x,y), r(y,x).\n";
  const std::string joining = ".decl o(x:unsigned, y:unsigned)\no(x,y) :- r(x,z), r(z,y).\n";
  for (const unsigned jobs : {1U, 4U}) {
    EXPECT_EQ(kept_as(a, a, "", jobs), "factorized");
    EXPECT_EQ(kept_as(a, a, asking, jobs), "factorized");
    EXPECT_EQ(kept_as(a, a, joining, jobs), "none");
  }
  // No two values are in a word.
  pairs far = a;
  for (auto& [x, y] : far) y *= 64;
  EXPECT_EQ(kept_as(a, far, ""), "none");
}

TEST(rows, without_memory_for_them) {
  const pairs a = random_pairs(1, 20000, 300, 300);
  EXPECT_THROW(run(join, a, a, {1, "on", backend_kind::cpu, 700u << 10}), memory_limit_error);
  EXPECT_EQ(run(join, a, a, {1, "on", backend_kind::cpu, 64u << 20}).size(), run(join, a, a, {1, "off"}).size());
}

}  // namespace
}  // namespace gpulog
