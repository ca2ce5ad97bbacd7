// Pipelines made by hand, run in every storage mode by one worker and by several, against nested loops.

#include "kernels/join/tile_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "../backend/thread_launcher.hpp"

namespace gpulog::kernels {
namespace {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using storage::storage_mode;

struct mode {
  storage_mode storage;
  unsigned workers;
  std::uint64_t piece;  ///< rows that a worker takes at a time
};

std::string name_of(const mode& how) {
  return std::string(how.storage == storage_mode::hash ? "hash" : "hisa") + "_" + std::to_string(how.workers) +
         "_workers_" + std::to_string(how.piece);
}

/// Relations that a test fills, and a pipeline that it runs over them. Relation 0 is the target.
class tile_runners : public ::testing::TestWithParam<mode> {
 protected:
  static constexpr relation_number target = 0;

  relation_number add_relation(std::uint32_t arity) {
    storage::relation_options options;
    options.mode = GetParam().storage;
    options.workers = GetParam().workers;
    options.candidate_rows = 3000;
    relations_.push_back(std::make_unique<relation>(memory_, arity, options));
    return static_cast<relation_number>(relations_.size() - 1);
  }

  /// A search by the first `key_lengths` columns of `order`; matches may bind all others.
  std::size_t add_index(relation_number number, std::vector<std::uint32_t> order,
                        std::vector<std::uint32_t> key_lengths) {
    storage::index_layout layout;
    layout.order = std::move(order);
    layout.key_lengths = std::move(key_lengths);
    layout.positions = GetParam().storage == storage_mode::hisa;
    if (!layout.positions) {
      for (std::uint32_t c = 0; c < relations_[number]->arity(); ++c) layout.stored.push_back(c);
    }
    return relations_[number]->add_index(layout);
  }

  /// Inserts rows, which become delta; every index gets a run more.
  void append(relation_number number, const std::vector<tuple>& rows) {
    relation& filled = *relations_[number];
    const auto scratch = std::make_unique<storage::insert_scratch>();
    for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
      const std::size_t end = std::min<std::size_t>(rows.size(), begin + tile_rows);
      std::vector<std::vector<word>> columns(filled.arity());
      std::vector<const word*> values;
      for (std::uint32_t c = 0; c < filled.arity(); ++c) {
        for (std::size_t row = begin; row < end; ++row) columns[c].push_back(rows[row][c]);
      }
      for (const auto& column : columns) values.push_back(column.data());
      while (!filled.has_room()) filled.make_room(backend_);
      filled.insert<storage::exclusive_access>(values.data(), static_cast<std::uint32_t>(end - begin), *scratch, 0);
    }
    filled.settle(backend_);
    filled.advance();
  }
  void refresh(relation_number number, std::size_t index) { relations_[number]->refresh_index(backend_, index); }

  /// Rows of a part as they were appended; hisa mode orders delta, so parts are compared as sets.
  [[nodiscard]] tuples rows_in(relation_number number, row_part part) const {
    const relation& source = *relations_[number];
    const part_rows rows = rows_of(source, part);
    tuples result;
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      tuple values;
      for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
      EXPECT_TRUE(result.insert(std::move(values)).second);
    }
    return result;
  }

  struct outcome {
    tuples rows;  ///< of the target, after its advance
    std::uint64_t candidates = 0;
    std::uint64_t fresh = 0;
  };

  outcome run(const pipeline& program, const std::atomic<bool>* stop = nullptr) {
    outcome result;
    const std::uint64_t rows = input_rows(program, relations_);
    relation& into = *relations_[program.target];
    const auto make_room = [&](std::uint64_t room) { into.make_room(backend_, room); };
    if (GetParam().workers == 1) {
      tile_runner<storage::exclusive_access> runner(program, relations_, 0, *scratch_[0], gate_, stop);
      for (std::uint64_t begin = 0; begin < rows; begin += GetParam().piece) {
        runner.run(begin, std::min(rows, begin + GetParam().piece), make_room);
      }
      result.candidates = runner.candidates();
      result.fresh = runner.fresh();
    } else {
      std::vector<std::optional<tile_runner<storage::concurrent_access>>> runners(GetParam().workers);
      backend_.for_each_tile(rows, GetParam().piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        if (!runners[worker]) runners[worker].emplace(program, relations_, worker, *scratch_[worker], gate_, stop);
        runners[worker]->run(begin, end, make_room);
      });
      for (const auto& runner : runners) {
        if (!runner) continue;
        result.candidates += runner->candidates();
        result.fresh += runner->fresh();
      }
    }
    into.settle(backend_);
    into.advance();
    result.rows = rows_in(program.target, row_part::all);
    return result;
  }

  void expect(const outcome& result, const tuples& expected, std::uint64_t candidates) {
    EXPECT_EQ(result.rows, expected);
    EXPECT_EQ(result.candidates, candidates);
    if (GetParam().storage == storage_mode::hash) EXPECT_EQ(result.fresh, expected.size());
  }

  static segment scan_of(relation_number source, std::vector<binding> bindings, row_part part = row_part::all) {
    segment made;
    made.kind = expansion_kind::scan;
    made.part = part;
    made.source = source;
    made.bindings = std::move(bindings);
    return made;
  }
  static segment match_of(relation_number source, std::size_t index, std::size_t level,
                          std::vector<register_number> keys, std::vector<binding> bindings,
                          std::vector<register_number> carried, row_part part = row_part::all) {
    segment made = scan_of(source, std::move(bindings), part);
    made.kind = expansion_kind::match;
    made.index = index;
    made.level = level;
    made.keys = std::move(keys);
    made.carried = std::move(carried);
    return made;
  }
  static pipeline pipeline_of(std::vector<segment> segments, std::vector<register_number> head,
                              std::uint32_t slot_count, std::vector<word> constants = {}) {
    pipeline made;
    made.segments = std::move(segments);
    made.head = std::move(head);
    made.target = target;
    made.slot_count = slot_count;
    made.constants = std::move(constants);
    return made;
  }

  relation_list<relation>& relations() { return relations_; }
  worker_gate& gate() { return gate_; }

 private:
  static std::vector<std::unique_ptr<tile_scratch>> make_scratch() {
    std::vector<std::unique_ptr<tile_scratch>> made;
    for (unsigned worker = 0; worker < GetParam().workers; ++worker) made.push_back(std::make_unique<tile_scratch>());
    return made;
  }

  backend::cpu::thread_backend backend_{GetParam().workers};
  backend::host_memory memory_;
  relation_list<relation> relations_;

  std::vector<std::unique_ptr<tile_scratch>> scratch_ = make_scratch();
  worker_gate gate_{GetParam().workers};
};

INSTANTIATE_TEST_SUITE_P(modes, tile_runners,
                         ::testing::Values(mode{storage_mode::hash, 1, 1u << 20}, mode{storage_mode::hisa, 1, 700},
                                           mode{storage_mode::hash, 3, 37}, mode{storage_mode::hisa, 3, 37}),
                         [](const auto& info) { return name_of(info.param); });

/// n distinct pairs (i % keys, i).
std::vector<tuple> pairs(word n, word keys, word first = 0) {
  std::vector<tuple> rows;
  for (word i = first; i < first + n; ++i) rows.push_back({i % keys, i});
  return rows;
}

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

TEST_P(tile_runners, existence_steps_keep_or_drop_bindings) {
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

TEST_P(tile_runners, computes_and_filters_before_and_behind_an_expansion) {
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

TEST_P(tile_runners, a_pipeline_may_begin_with_constants) {
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

TEST_P(tile_runners, a_relation_may_be_read_while_it_grows) {
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

TEST_P(tile_runners, faults_and_stops_reach_the_caller_and_open_the_gate) {
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
  ASSERT_TRUE(gate().mutex.try_lock());
  gate().mutex.unlock();

  const std::atomic<bool> stop = true;
  EXPECT_THROW(
      run(pipeline_of({scan_of(source, {{0, 0}}), match_of(source, index, 0, {0}, {{1, 1}}, {0})}, {1}, 2), &stop),
      interrupted);
  ASSERT_TRUE(gate().mutex.try_lock());
  gate().mutex.unlock();
}

TEST_P(tile_runners, scratch_serves_pipelines_of_any_size_one_after_another) {
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
}  // namespace gpulog::kernels
