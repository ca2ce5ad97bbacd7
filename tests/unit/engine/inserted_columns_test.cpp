// Facts that come as columns.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

namespace {

using gpulog::engine;
using gpulog::program;

constexpr const char* all_types =
    ".decl in(n:number, u:unsigned, f:float, s:symbol)\n.decl out(n:number, u:unsigned, f:float, s:symbol)\n"
    "out(n,u,f,s) :- in(n,u,f,s).\n";

std::string message_of(gpulog::relation relation, std::initializer_list<gpulog::typed_column> columns) {
  const std::uint64_t rows = relation.size();
  try {
    relation.insert_columns(columns);
  } catch (const gpulog::input_error& problem) {
    EXPECT_EQ(relation.size(), rows);  // all or none
    return problem.what();
  }
  return "none";
}

TEST(inserted_columns, are_the_same_as_rows) {
  for (const int size : {0, 1, 31, 32, 33, 5000}) {
    std::vector<std::int32_t> from(static_cast<std::size_t>(size));
    std::iota(from.begin(), from.end(), 0);
    std::vector<std::int32_t> to = from;
    for (std::int32_t& value : to) ++value;
    for (const auto storage : {gpulog::storage_kind::automatic, gpulog::storage_kind::hisa}) {
      gpulog::run_options options;
      options.storage = storage;
      engine run(program::from_text(".decl edge(x:number, y:number)\n.decl two(x:number, y:number)\n"
                                    "two(x,z) :- edge(x,y), edge(y,z).\n"),
                 options);
      auto edge = run.relation("edge");
      edge.insert({-1, 0});
      edge.insert_columns({from, to});
      edge.insert({size, size + 1});
      EXPECT_EQ(edge.size(), static_cast<std::uint64_t>(size) + 2);
      EXPECT_TRUE(edge.contains({size, size + 1}));
      run.evaluate();
      std::set<std::pair<int, int>> found;
      for (const auto row : run.relation("two")) found.emplace(row.number(0), row.number(1));
      ASSERT_EQ(found.size(), static_cast<std::size_t>(size) + 1);
      for (const auto& [x, z] : found) EXPECT_EQ(z, x + 2);
    }
  }
}

TEST(inserted_columns, of_all_types_and_widths) {
  for (const unsigned word_size : {32U, 64U}) {
    engine run(program::from_text(all_types, {.word_size = word_size}));
    const std::vector<std::int32_t> numbers = {-5, 7};
    const std::vector<std::uint32_t> unsigned_numbers = {4000000000U, 8};
    const std::vector<float> floats = {0.5F, -0.0F};
    const std::vector<std::string> texts = {"one", "two"};
    run.relation("in").insert_columns({numbers, unsigned_numbers, floats, texts});
    const std::vector<std::int64_t> wide_numbers = {9};
    const std::vector<std::uint64_t> wide_unsigned = {10};
    const std::vector<double> doubles = {0.25};
    const std::vector<std::string_view> views = {"three"};
    run.relation("in").insert_columns({wide_numbers, wide_unsigned, doubles, views});
    run.evaluate();
    const auto out = run.relation("out");
    EXPECT_EQ(out.size(), 3U);
    EXPECT_TRUE(out.contains({-5, 4000000000U, 0.5F, "one"}));
    EXPECT_TRUE(out.contains({7, 8U, 0.0F, "two"}));
    EXPECT_TRUE(out.contains({9, 10U, 0.25F, "three"}));
  }
}

TEST(inserted_columns, of_values_that_need_64_bits) {
  const std::vector<std::int64_t> numbers = {1, -5000000000};
  const std::vector<std::uint64_t> unsigned_numbers = {1, std::numeric_limits<std::uint64_t>::max()};
  const std::vector<double> floats = {1, 0.1};
  const std::vector<std::string> texts = {"", "x"};
  const std::vector<std::int64_t> small_numbers = {1, 2};
  const std::vector<std::uint64_t> small_unsigned = {1, 2};
  engine wide(program::from_text(all_types, {.word_size = 64}));
  EXPECT_EQ(message_of(wide.relation("in"), {numbers, unsigned_numbers, floats, texts}), "none");
  wide.evaluate();
  EXPECT_TRUE(wide.relation("out").contains({numbers[1], unsigned_numbers[1], floats[1], "x"}));

  engine narrow(program::from_text(all_types));
  EXPECT_EQ(message_of(narrow.relation("in"), {numbers, unsigned_numbers, floats, texts}),
            "row 1 of attribute n of relation in is no number of 32 bits: -5000000000");
  EXPECT_EQ(message_of(narrow.relation("in"), {small_numbers, unsigned_numbers, floats, texts}),
            "row 1 of attribute u of relation in is no unsigned of 32 bits: 18446744073709551615");
  EXPECT_EQ(message_of(narrow.relation("in"), {small_numbers, small_unsigned, floats, texts}),
            "row 1 of attribute f of relation in is no float of 32 bits: 0.1");
}

TEST(inserted_columns, wrong_ones_are_errors) {
  engine run(program::from_text(".decl r(x:number, s:symbol)\n.decl nothing()\n.type P = [x:number]\n.decl p(x:P)\n"));
  const std::vector<std::int32_t> numbers = {1, 2};
  const std::vector<std::uint32_t> unsigned_numbers = {1, 2};
  const std::vector<std::string> texts = {"x", "y"};
  const std::vector<std::string> one_text = {"x"};
  auto relation = run.relation("r");
  EXPECT_EQ(message_of(relation, {numbers}), "relation r has 2 attributes, but 1 columns were given");
  EXPECT_EQ(message_of(relation, {numbers, one_text}), "attribute s of relation r has 1 values, but attribute x has 2");
  EXPECT_EQ(message_of(relation, {unsigned_numbers, texts}), "attribute x of relation r is of type number");
  EXPECT_EQ(message_of(relation, {numbers, numbers}), "attribute s of relation r is of type symbol");
  EXPECT_EQ(message_of(relation, {texts, texts}), "attribute x of relation r is of type number");
  EXPECT_EQ(message_of(run.relation("p"), {numbers}), "attribute x of relation p is of type record");
  EXPECT_EQ(message_of(run.relation("nothing"), {}),
            "relation nothing has no attributes: how many tuples there are is unknown");
  relation.insert_columns({numbers, texts});
}

TEST(inserted_columns, that_do_not_fit_into_memory_are_an_error) {
  gpulog::run_options options;
  options.memory_limit = 1 << 20;
  engine run(program::from_text(".decl r(x:number)\n"), options);
  const std::vector<std::int32_t> numbers(1 << 20);
  EXPECT_THROW(run.relation("r").insert_columns({numbers}), gpulog::memory_limit_error);
  EXPECT_EQ(run.relation("r").size(), 0U);
}

TEST(inserted_columns, of_texts_have_the_same_numbers_with_any_threads) {
  for (const std::size_t distinct : {1U, 1000U, 50000U, 1000000U}) {
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < 100000; ++row) texts.push_back("text " + std::to_string(row * 7919 % distinct));
    std::vector<std::uint32_t> numbers;
    for (const unsigned jobs : {1U, 2U, 4U}) {
      gpulog::run_options options;
      options.jobs = jobs;
      gpulog::engine run(gpulog::program::from_text(".decl a(row:number, x:symbol)\na(-1, \"text 5\")."), options);
      std::vector<std::int32_t> rows(texts.size());
      std::iota(rows.begin(), rows.end(), 0);
      run.relation("a").insert_columns({rows, texts});
      run.evaluate();
      std::vector<std::uint32_t> found(texts.size());
      for (const gpulog::tuple row : run.relation("a")) {
        if (row.number(0) < 0) continue;
        const auto place = static_cast<std::size_t>(row.number(0));
        ASSERT_EQ(row.symbol(1), texts[place]);
        found[place] = row.word(1);
      }
      if (jobs == 1) numbers = found;
      EXPECT_EQ(found, numbers) << jobs;
    }
  }
}

}  // namespace
