// Steps of pipelines made by hand, and what a run does on its way, against nested loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tile_runner_fixture.hpp"

namespace gpulog::kernels::tile_runner_tests {
namespace {

class tile_runner_steps : public tile_runner_fixture {};
INSTANTIATE_TEST_SUITE_P(modes, tile_runner_steps, all_modes(), [](const auto& info) { return name_of(info.param); });

TEST_P(tile_runner_steps, existence_steps_keep_or_drop_bindings) {
  // Rows (x, y) of the source; tests on other relations, negated or not.
  const relation_number unused = add_relation(2);
  ASSERT_EQ(unused, target);
  const relation_number source = add_relation(2);
  const relation_number listed = add_relation(2);
  const relation_number flag = add_relation(0);
  const std::size_t by_second = add_index(listed, {1}, {1});
  append(source, pairs(2000, 10));
  append(listed, pairs(900, 10, 500));
  refresh(listed, by_second);
  append(listed, pairs(50, 10, 1400));
  refresh(listed, by_second);
  const auto is_listed = [](word y, row_part part) {
    const bool old = y >= 500 && y < 1400;
    const bool delta = y >= 1400 && y < 1450;
    return part == row_part::all ? old || delta : part == row_part::old ? old : delta;
  };
  const auto run_with = [&](const step& test) {
    relations()[target] = std::move(relations()[add_relation(2)]);
    relations().pop_back();
    segment first = scan_of(source, {{0, 0}, {1, 1}});
    first.steps.push_back(test);
    return run(pipeline_of({first}, {0, 1}, 2));
  };
  for (const bool negated : {false, true}) {
    step test{};
    test.negated = negated;
    test.source = listed;
    test.live = {0, 1};
    tuples expected;
    for (const tuple& row : pairs(2000, 10)) {
      if (is_listed(row[1], row_part::all) != negated) expected.insert(row);
    }
    test.kind = step_kind::exists_tuple;
    test.arguments = {0, 1};
    expect(run_with(test), expected, expected.size());

    test.kind = step_kind::exists_key;
    test.index = by_second;
    test.arguments = {1};
    for (const row_part part : {row_part::all, row_part::old, row_part::delta}) {
      test.part = part;
      expected.clear();
      for (const tuple& row : pairs(2000, 10)) {
        if (is_listed(row[1], part) != negated) expected.insert(row);
      }
      expect(run_with(test), expected, expected.size());
    }

    test.kind = step_kind::exists_any;
    test.part = row_part::all;
    test.source = flag;
    test.arguments.clear();
    const auto every_row = pairs(2000, 10);
    const tuples all(every_row.begin(), every_row.end());
    EXPECT_EQ(run_with(test).rows, negated ? all : tuples());
    test.source = listed;
    EXPECT_EQ(run_with(test).rows, negated ? tuples() : all);
  }
}

TEST_P(tile_runner_steps, computes_and_filters_before_and_behind_an_expansion) {
  // target(x, w) :- a(x), x < 300, z = x % 10, b(z, y), w = x + y, w != 7.
  add_relation(2);
  const relation_number a = add_relation(1);
  const relation_number b = add_relation(2);
  const std::size_t index = add_index(b, {0}, {1});
  std::vector<tuple> a_rows;
  for (word i = 0; i < 1000; ++i) a_rows.push_back({i});
  append(a, a_rows);
  append(b, pairs(200, 13));
  refresh(b, index);
  // Slots x 0, z 1, y 2, w 3; constants 300, 10, 7 in registers 4, 5, 6.
  segment first = scan_of(a, {{0, 0}});
  step below{};
  below.kind = step_kind::filter;
  below.comparison = comparison_op::less_number;
  below.arguments = {0, 4};
  below.live = {0};
  step modulo{};
  modulo.kind = step_kind::compute;
  modulo.scalar = scalar_op::modulo_number;
  modulo.arguments = {0, 5};
  modulo.result = 1;
  first.steps = {below, modulo};
  segment second = match_of(b, index, 0, {1}, {{2, 1}}, {0});
  step add{};
  add.kind = step_kind::compute;
  add.scalar = scalar_op::add_number;
  add.arguments = {0, 2};
  add.result = 3;
  step differs{};
  differs.kind = step_kind::filter;
  differs.comparison = comparison_op::not_equal;
  differs.arguments = {3, 6};
  differs.live = {0, 3};
  second.steps = {add, differs};
  tuples expected;
  std::uint64_t candidates = 0;
  for (word x = 0; x < 300; ++x) {
    for (const tuple& row : pairs(200, 13)) {
      if (row[0] != x % 10 || x + row[1] == 7) continue;
      expected.insert({x, x + row[1]});
      ++candidates;
    }
  }
  expect(run(pipeline_of({first, second}, {0, 3}, 4, {300, 10, 7})), expected, candidates);
}

TEST_P(tile_runner_steps, a_pipeline_may_begin_with_constants) {
  add_relation(2);
  const relation_number source = add_relation(2);
  const std::size_t index = add_index(source, {0}, {1});
  append(source, pairs(3000, 4));
  refresh(source, index);
  // target(9, y) :- source(2, y).  Constants 2 and 9 are registers 1 and 2.
  tuples expected;
  for (word y = 2; y < 3000; y += 4) expected.insert({9, y});
  expect(run(pipeline_of({match_of(source, index, 0, {1}, {{0, 1}}, {})}, {2, 0}, 1, {2, 9})), expected,
         expected.size());

  // target(9, 9): no atom at all.
  relations()[target] = std::move(relations()[add_relation(2)]);
  relations().pop_back();
  expect(run(pipeline_of({segment{}}, {2, 2}, 1, {2, 9})), {{9, 9}}, 1);
}

TEST_P(tile_runner_steps, a_relation_may_be_read_while_it_grows) {
  // target(x, y) :- target(x, z), edge(z, y) over the rows it has; appended rows move its columns.
  add_relation(2);
  const relation_number edge = add_relation(2);
  const std::size_t edge_index = add_index(edge, {0}, {1});
  const std::size_t own_index = add_index(target, {1}, {1});
  std::vector<tuple> edges;
  std::vector<tuple> own;
  for (word i = 0; i < 2000; ++i) {
    edges.push_back({i % 50, i});
    own.push_back({i, i % 50});
  }
  append(edge, edges);
  append(target, own);
  refresh(edge, edge_index);
  refresh(target, own_index);
  tuples expected(own.begin(), own.end());
  std::uint64_t candidates = 0;
  for (const tuple& row : own) {
    for (word y = row[1]; y < 2000; y += 50) {
      expected.insert({row[0], y});
      ++candidates;
    }
  }
  const outcome by_scan = run(
      pipeline_of({scan_of(target, {{0, 0}, {1, 1}}), match_of(edge, edge_index, 0, {1}, {{2, 1}}, {0})}, {0, 2}, 3));
  EXPECT_EQ(by_scan.rows, expected);
  EXPECT_EQ(by_scan.candidates, candidates);

  // The same with the growing relation behind: target(x, y) :- edge(z, y), target(x, z) over the old rows.
  refresh(target, own_index);
  const outcome by_match = run(pipeline_of(
      {scan_of(edge, {{1, 0}, {2, 1}}), match_of(target, own_index, 0, {1}, {{0, 0}}, {2}, row_part::old)}, {0, 2}, 3));
  EXPECT_EQ(by_match.rows, expected);
  EXPECT_EQ(by_match.candidates, candidates);
  EXPECT_EQ(by_match.fresh, 0U);
}

TEST_P(tile_runner_steps, faults_and_stops_reach_the_caller_and_open_the_gate) {
  add_relation(1);
  const relation_number source = add_relation(2);
  const std::size_t index = add_index(source, {0}, {1});
  append(source, pairs(3000, 5));
  refresh(source, index);
  segment divides = scan_of(source, {{0, 1}});
  step divide{};
  divide.kind = step_kind::compute;
  divide.scalar = scalar_op::divide_number;
  divide.arguments = {1, 0};  // row 0 divides by zero
  divide.result = 0;
  divides.steps = {divide};
  EXPECT_THROW(run(pipeline_of({divides}, {0}, 1, {100})), arithmetic_fault);
  EXPECT_TRUE(gate().is_empty());

  const std::atomic<bool> stop = true;
  EXPECT_THROW(
      run(pipeline_of({scan_of(source, {{0, 0}}), match_of(source, index, 0, {0}, {{1, 1}}, {0})}, {1}, 2), &stop),
      interrupted);
  EXPECT_TRUE(gate().is_empty());
}

TEST_P(tile_runner_steps, scratch_serves_pipelines_of_any_size_one_after_another) {
  add_relation(1);
  const relation_number source = add_relation(2);
  const std::size_t index = add_index(source, {0}, {1});
  append(source, pairs(600, 600));  // (i, i)
  refresh(source, index);
  for (const std::uint32_t atoms : {1U, 5U, 2U, 8U, 1U}) {
    relations()[target] = std::move(relations()[add_relation(1)]);
    relations().pop_back();
    std::vector<segment> segments = {scan_of(source, {{0, 0}, {1, 1}})};
    for (std::uint32_t atom = 1; atom < atoms; ++atom) {
      segments.push_back(match_of(source, index, 0, {atom}, {{atom + 1, 1}}, {0}));
    }
    const outcome result = run(pipeline_of(segments, {0}, atoms + 1));
    EXPECT_EQ(result.rows.size(), 600U);
    EXPECT_EQ(result.candidates, 600U);
  }
}

}  // namespace
}  // namespace gpulog::kernels::tile_runner_tests
