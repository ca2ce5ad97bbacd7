// Expansions of pipelines made by hand, against nested loops.

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

class tile_runners : public tile_runner_fixture {};
INSTANTIATE_TEST_SUITE_P(modes, tile_runners, all_modes(), [](const auto& info) { return name_of(info.param); });

TEST_P(tile_runners, scan_offers_the_rows_of_each_part) {
  for (const word n : {0U, 1U, 31U, 32U, 33U, 511U, 512U, 513U, 3000U}) {
    for (const row_part part : {row_part::all, row_part::old, row_part::delta}) {
      relations().clear();
      add_relation(2);
      const relation_number source = add_relation(2);
      append(source, pairs(100, 7));
      append(source, pairs(n, 7, 100));
      const pipeline program = pipeline_of({scan_of(source, {{0, 1}, {1, 0}}, part)}, {0, 1}, 2);
      const outcome result = run(program);
      tuples expected;
      for (const tuple& row : rows_in(source, part)) expected.insert({row[1], row[0]});
      expect(result, expected, part == row_part::all ? 100 + n : part == row_part::old ? 100 : n);
    }
  }
}

TEST_P(tile_runners, a_match_gives_more_rows_than_a_tile_from_several_runs) {
  add_relation(2);
  const relation_number keys = add_relation(1);
  const relation_number source = add_relation(2);
  const std::size_t index = add_index(source, {0}, {1});
  // Sizes fall, so that hash mode keeps runs apart.
  word first = 0;
  for (const word n : {6000U, 1500U, 300U, 64U, 10U, 1U}) {
    append(source, pairs(n, 3, first));
    refresh(source, index);
    first += n;
  }
  append(keys, {{0}, {1}, {2}, {3}});
  for (const row_part part : {row_part::all, row_part::old, row_part::delta}) {
    relations()[target] = std::move(relations()[add_relation(2)]);
    relations().pop_back();
    const pipeline program =
        pipeline_of({scan_of(keys, {{0, 0}}), match_of(source, index, 0, {0}, {{1, 1}}, {0}, part)}, {0, 1}, 2);
    expect(run(program), rows_in(source, part), rows_in(source, part).size());
  }
}

TEST_P(tile_runners, bindings_with_many_matches_are_left_to_all_workers) {
  if (GetParam().workers != 1 || GetParam().storage == storage_mode::hisa) GTEST_SKIP();
  // target(a, c) :- keys(a), s(a, b), s(b, c): key 1 has the matches 10, ..., 19, which have 0, 100, ..., 900 matches.
  add_relation(2);
  const relation_number keys = add_relation(1);
  const relation_number s = add_relation(2);
  const std::size_t index = add_index(s, {0, 1}, {1});
  std::vector<tuple> rows;
  tuples expected;
  for (word b = 10; b < 20; ++b) {
    rows.push_back({1, b});
    for (word c = 0; c < (b - 10) * 100; ++c) {
      rows.push_back({b, 1000 + c});
      expected.insert({1, 1000 + c});
    }
  }
  append(s, rows);
  append(keys, {{0}, {1}, {5}});
  refresh(s, index);
  const pipeline program = pipeline_of(
      {scan_of(keys, {{0, 0}}), match_of(s, index, 0, {0}, {{1, 1}}, {0}), match_of(s, index, 0, {1}, {{2, 1}}, {0})},
      {0, 2}, 3);
  waiting_matches waiting(11);  // the 10 matches of key 1 are too few
  relation& into = *relations()[target];
  const auto make_room = [&](std::uint64_t room) { into.make_room(backend(), room); };
  tile_runner<storage::exclusive_access> runner(program, relations(), 0, scratch(), gate(), nullptr, nullptr, nullptr,
                                                &waiting);
  runner.run(0, 3, make_room);
  EXPECT_EQ(runner.candidates(), 0U);
  const std::vector<shared_matches> left = waiting.take();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].segment, 2U);
  EXPECT_EQ(left[0].bindings, 9U);
  ASSERT_EQ(left[0].size(), 4500U);
  // The third piece divides the matches of a binding.
  std::uint64_t candidates = 0;
  for (const auto& [begin, end] : {std::pair{0, 100}, {100, 300}, {300, 550}, {550, 551}, {551, 4500}}) {
    runner.run_matches(left[0], begin, end, make_room);
    EXPECT_EQ(runner.candidates() - candidates, static_cast<std::uint64_t>(end - begin));
    candidates = runner.candidates();
  }
  EXPECT_TRUE(waiting.take().empty());
  into.settle(backend());
  into.advance();
  EXPECT_EQ(rows_in(target, row_part::all), expected);
}

TEST_P(tile_runners, bindings_are_carried_through_three_atoms) {
  // target(a, b, c, d) :- r(a, b), s(b, c), r(c, d): keys and payload of different segments.
  add_relation(4);
  const relation_number r = add_relation(2);
  const relation_number s = add_relation(2);
  const std::size_t r_index = add_index(r, {0}, {1});
  const std::size_t s_index = add_index(s, {0}, {1});
  std::vector<tuple> r_rows;
  std::vector<tuple> s_rows;
  for (word i = 0; i < 400; ++i) {
    r_rows.push_back({i % 20, (i * 7) % 90 + i / 20});
    s_rows.push_back({(i * 3) % 100, i % 23});
  }
  append(r, r_rows);
  append(s, s_rows);
  refresh(r, r_index);
  refresh(s, s_index);
  const pipeline program = pipeline_of({scan_of(r, {{0, 0}, {1, 1}}), match_of(s, s_index, 0, {1}, {{2, 1}}, {0, 1}),
                                        match_of(r, r_index, 0, {2}, {{3, 1}}, {0, 1, 2})},
                                       {0, 1, 2, 3}, 4);
  tuples expected;
  std::uint64_t candidates = 0;
  const auto all_of_r = rows_in(r, row_part::all);
  const auto all_of_s = rows_in(s, row_part::all);
  for (const tuple& one : all_of_r) {
    for (const tuple& two : all_of_s) {
      if (two[0] != one[1]) continue;
      for (const tuple& three : all_of_r) {
        if (three[0] != two[1]) continue;
        expected.insert({one[0], one[1], two[1], three[1]});
        ++candidates;
      }
    }
  }
  ASSERT_GT(expected.size(), 2 * tile_rows);
  expect(run(program), expected, candidates);
}

TEST_P(tile_runners, keys_of_three_columns_and_of_their_prefix) {
  add_relation(2);
  const relation_number probe = add_relation(3);
  const relation_number source = add_relation(4);
  const std::size_t index = add_index(source, {2, 0, 1, 3}, {1, 3});
  std::vector<tuple> rows;
  for (word i = 0; i < 3000; ++i) rows.push_back({i % 3, i % 5, i % 7, i});
  append(source, rows);
  refresh(source, index);
  std::vector<tuple> probes;
  for (word i = 0; i < 40; ++i) probes.push_back({i % 3, i % 6, i});
  append(probe, probes);
  for (const std::size_t level : {0UL, 1UL}) {
    relations()[target] = std::move(relations()[add_relation(2)]);
    relations().pop_back();
    // Keys in the order of the index: column 2, then columns 0 and 1.
    const std::vector<register_number> keys =
        level == 0 ? std::vector<register_number>{0} : std::vector<register_number>{0, 0, 1};
    const pipeline program = pipeline_of(
        {scan_of(probe, {{0, 0}, {1, 1}, {2, 2}}), match_of(source, index, level, keys, {{3, 3}}, {2})}, {2, 3}, 4);
    tuples expected;
    const auto all_of_source = rows_in(source, row_part::all);
    for (const tuple& one : rows_in(probe, row_part::all)) {
      for (const tuple& two : all_of_source) {
        if (two[2] != one[0]) continue;
        if (level == 1 && (two[0] != one[0] || two[1] != one[1])) continue;
        expected.insert({one[2], two[3]});
      }
    }
    ASSERT_FALSE(expected.empty());
    expect(run(program), expected, expected.size());
  }
}

TEST_P(tile_runners, cartesian_product) {
  for (const word n : {0U, 1U, 33U, 1100U}) {
    relations().clear();
    add_relation(2);
    const relation_number left = add_relation(1);
    const relation_number right = add_relation(1);
    std::vector<tuple> left_rows;
    std::vector<tuple> right_rows;
    for (word i = 0; i < 40; ++i) left_rows.push_back({i});
    for (word i = 0; i < n; ++i) right_rows.push_back({i + 5000});
    append(left, left_rows);
    append(right, right_rows);
    segment second = scan_of(right, {{1, 0}});
    second.carried = {0};
    tuples expected;
    for (const tuple& one : left_rows) {
      for (const tuple& two : right_rows) expected.insert({one[0], two[0]});
    }
    expect(run(pipeline_of({scan_of(left, {{0, 0}}), second}, {0, 1}, 2)), expected, expected.size());
  }
}

/// Of source(key, row) the keys that have a row in listed(key, value) with value >= the key's own bound, by a fold that
/// is a first match. A counter in its body tells how many rows were looked at.
TEST_P(tile_runners, first_matches_end_a_search) {
  constexpr word keys = 40;
  constexpr word rows_of_key = 3000;
  const relation_number unused = add_relation(2);
  ASSERT_EQ(unused, target);
  const relation_number source = add_relation(2);
  const relation_number listed = add_relation(2);
  const std::size_t by_key = add_index(listed, {0, 1}, {1});
  // Of each key all rows are good, or all but a few, or few, or none.
  const word bounds[] = {0, 500, rows_of_key - 3, rows_of_key};
  std::vector<tuple> asking;
  tuples expected;
  for (word key = 0; key < keys; ++key) {
    for (word i = 0; i < 20; ++i) {
      asking.push_back({key, bounds[(key + i) % 4]});
      if (bounds[(key + i) % 4] < rows_of_key) expected.insert(asking.back());
    }
  }
  append(source, asking);
  for (const word begin : {word{0}, rows_of_key / 2}) {
    std::vector<tuple> rows;
    for (word key = 0; key < keys; ++key) {
      for (word i = begin; i < begin + rows_of_key / 2; ++i) rows.push_back({key, i});
    }
    append(listed, rows);
    refresh(listed, by_key);
  }
  std::atomic<wide_word> tested = 0;
  const auto run_with = [&](bool first_match) {
    relations()[target] = std::move(relations()[add_relation(2)]);
    relations().pop_back();
    tested = 0;
    segment fold;
    fold.kind = expansion_kind::fold;
    fold.first_match = true;
    fold.owner = 4;
    fold.unfold = 3;
    fold.carried = {0, 1};
    const std::uint32_t column = GetParam().storage == storage_mode::hash ? 1U : 1U;
    segment body = match_of(listed, by_key, 0, {0}, {{2, column}}, {1, 4});
    body.first_match_around = first_match ? 1 : 0;
    body.ended_fold = 1;
    body.folded = 4;
    step count{};
    count.kind = step_kind::compute;
    count.scalar = scalar_op::next_counter;
    count.result = 3;
    count.live = {1, 2, 4};
    step test{};
    test.kind = step_kind::filter;
    test.comparison = comparison_op::greater_equal_unsigned;
    test.arguments = {2, 1};
    test.live = {4};
    body.steps = {count, test};
    segment behind;
    behind.kind = expansion_kind::unfold;
    behind.result = 4;
    behind.carried = {0, 1};
    pipeline program = pipeline_of({scan_of(source, {{0, 0}, {1, 1}}), fold, body, behind}, {0, 1}, 5);
    program.counter = &tested;
    expect(run(program), expected, expected.size());
    return tested.load();
  };
  const std::uint64_t all = run_with(false);
  const std::uint64_t in_rounds = run_with(true);
  // Each key asks four times; what has no match is read to its end, and what has many hardly.
  EXPECT_GE(all, std::uint64_t{keys} * 4 * rows_of_key);
  EXPECT_LE(in_rounds, all * 2 / 3);
  EXPECT_GE(in_rounds, std::uint64_t{keys} * rows_of_key);
}

}  // namespace
}  // namespace gpulog::kernels::tile_runner_tests
