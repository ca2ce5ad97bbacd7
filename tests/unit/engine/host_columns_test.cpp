// Columns of results as spans.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

constexpr const char* host_program = R"(
.type Pair = [x:number, s:symbol]
.type Tree = Leaf {x:number} | Node {left:Tree, right:Tree}
.decl a(n:number, u:unsigned, f:float, s:symbol, p:Pair, t:Tree)
.decl b(n:number, u:unsigned, f:float, s:symbol, p:Pair, t:Tree)
b(n, u, f, s, p, t) :- a(n, u, f, s, p, t).
.decl same(x:number, y:number) eqrel
same(n, n + 1) :- a(n, _, _, _, _, _).
)";

template <class Value>
Value at(const typed_column& column, std::size_t row) {
  return std::get<std::span<const Value>>(column)[row];
}

std::vector<host_column> all_columns(const relation& of) {
  std::vector<host_column> columns;
  for (std::size_t c = 0; c < of.arity(); ++c) columns.push_back(of.column(c));
  return columns;
}

void fill(engine& run) {
  for (int i = 0; i < 100; ++i) {
    const value leaf = branch("Leaf", {i});
    run.relation("a").insert({i, 4000000000U, -0.5F, "s" + std::to_string(i), i == 7 ? value(nil) : record{{i, "p"}},
                              branch("Node", {leaf, leaf})});
  }
}

TEST(host_columns, have_what_tuples_have) {
  for (const unsigned word_size : {32U, 64U}) {
    for (const auto storage : {storage_kind::automatic, storage_kind::hisa}) {
      compile_options compiling;
      compiling.word_size = word_size;
      run_options options;
      options.storage = storage;
      engine run(program::from_text(host_program, compiling), options);
      fill(run);
      for (const bool is_evaluated : {false, true}) {
        if (is_evaluated) run.evaluate();
        const relation shown = run.relation(is_evaluated ? "b" : "a");
        const std::vector<host_column> columns = all_columns(shown);
        std::size_t row = 0;
        for (const tuple one : shown) {
          if (word_size == 32) {
            EXPECT_EQ(at<std::int32_t>(columns[0].values, row), one.number(0));
            EXPECT_EQ(at<std::uint32_t>(columns[1].values, row), one.unsigned_number(1));
            EXPECT_EQ(at<float>(columns[2].values, row), one.floating(2));
          } else {
            EXPECT_EQ(at<std::int64_t>(columns[0].values, row), one.number64(0));
            EXPECT_EQ(at<std::uint64_t>(columns[1].values, row), one.unsigned_number64(1));
            EXPECT_EQ(at<double>(columns[2].values, row), one.floating64(2));
          }
          EXPECT_EQ(at<std::string_view>(columns[3].values, row), one.symbol(3));
          EXPECT_EQ(at<value>(columns[4].values, row), one.value(4));
          EXPECT_EQ(at<value>(columns[5].values, row), one.value(5));
          ++row;
        }
        EXPECT_EQ(row, 100U);
        EXPECT_EQ(columns[0].is_copy, !is_evaluated || word_size == 64);
        EXPECT_TRUE(columns[3].is_copy && columns[4].is_copy);
      }
    }
  }
}

TEST(host_columns, outlive_their_engine) {
  auto run = std::make_unique<engine>(program::from_text(host_program));
  fill(*run);
  run->evaluate();
  const std::vector<host_column> columns = all_columns(run->relation("b"));
  std::int64_t numbers = 0;
  for (const tuple one : run->relation("b")) numbers += one.number(0) * (one.number(0) + 1);
  run->relation("a").insert({1000, 0U, 0.0F, "other", nil, branch("Leaf", {0})});
  run->evaluate();
  run->reset();
  run.reset();
  std::int64_t found = 0;
  for (std::size_t row = 0; row < 100; ++row) {
    const std::int64_t number = at<std::int32_t>(columns[0].values, row);
    found += number * (number + 1);
    EXPECT_EQ(at<std::string_view>(columns[3].values, row), "s" + std::to_string(number));
  }
  EXPECT_EQ(found, numbers);
}

TEST(host_columns, of_equivalence_relations_are_made) {
  engine run(program::from_text(host_program));
  fill(run);
  run.evaluate();
  const relation same = run.relation("same");
  const std::vector<host_column> columns = all_columns(same);
  EXPECT_TRUE(columns[0].is_copy);
  ASSERT_EQ(same.size(), 101U * 101U);
  EXPECT_EQ(std::get<std::span<const std::int32_t>>(columns[0].values).size(), same.size());
  std::size_t row = 0;
  for (const tuple one : same) {
    ASSERT_EQ(at<std::int32_t>(columns[0].values, row), one.number(0));
    ASSERT_EQ(at<std::int32_t>(columns[1].values, row), one.number(1));
    ++row;
  }
  EXPECT_THROW((void)same.column(2), input_error);
}

TEST(host_columns, may_be_facts_of_another_engine) {
  engine run(program::from_text(host_program));
  fill(run);
  run.evaluate();
  const std::vector<host_column> columns = all_columns(run.relation("b"));
  std::vector<typed_column> values;
  for (const host_column& column : columns) values.push_back(column.values);
  engine other(program::from_text(host_program));
  other.relation("a").insert_columns(values);
  other.evaluate();
  EXPECT_EQ(other.relation("b").size(), 100U);
  for (const tuple one : run.relation("b")) {
    std::vector<value> row;
    for (std::size_t c = 0; c < one.size(); ++c) row.push_back(one.value(c));
    EXPECT_TRUE(other.relation("b").contains(row));
  }
}

TEST(host_columns, of_a_build_without_devices_none_goes_in) {
  device_column column;
  column.format = "i";
  column.vendor = "nobody";
  column.rows = 3;
  engine run(program::from_text(".decl r(x:number)"));
  try {
    run.relation("r").insert_device_columns(std::vector<device_column>{column});
    FAIL();
  } catch (const input_error& fault) {
    EXPECT_STREQ(fault.what(),
                 "an array is in the memory of a device of nobody, and this build is for none of those: copy it to the "
                 "host");
  }
  column.format = "u";
  EXPECT_THROW(run.relation("r").insert_device_columns(std::vector<device_column>{column}), input_error);
  EXPECT_EQ(run.relation("r").size(), 0U);
}

}  // namespace
}  // namespace gpulog
