// Tuples that evaluations add and remove: engine::changes and engine::on_change.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"
#include "input_errors.hpp"

namespace gpulog::changes_tests {
namespace {

using rows = std::set<std::vector<std::int32_t>>;

rows rows_of(const answer& from) {
  rows result;
  for (std::uint64_t row = 0; row < from.size(); ++row) {
    std::vector<std::int32_t> values;
    for (std::size_t c = 0; c < from.attributes().size(); ++c)
      values.push_back(std::get<std::span<const std::int32_t>>(from.column(c).values)[row]);
    EXPECT_TRUE(result.insert(values).second);
  }
  return result;
}

rows rows_of(const relation& from) {
  rows result;
  for (const tuple row : from) {
    std::vector<std::int32_t> values;
    for (std::size_t c = 0; c < row.size(); ++c) values.push_back(row.number(c));
    result.insert(values);
  }
  return result;
}

rows only_in(const rows& all, const rows& others) {
  rows result;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::inserter(result, result.end()));
  return result;
}

/// A recursion, an equivalence relation, a recursive minimum, negation, an aggregate and a relation without attributes.
const char* const text = R"(
.decl e(x:number, y:number)
.decl reach(x:number, y:number)
reach(x,y) :- e(x,y).
reach(x,z) :- reach(x,y), e(y,z).
.decl same(x:number, y:number) eqrel
same(x,y) :- e(x,y), x < y.
.decl far(x:number, n:number)
far(0,0).
far(y, d) :- e(_, y), d = min n + 1 : { far(x,n), e(x,y) }.
.decl apart(x:number, y:number)
apart(x,y) :- e(x,_), e(_,y), !reach(x,y).
.decl total(n:number)
total(n) :- n = count : { reach(_,_) }.
.decl loops()
loops() :- reach(x,x).
)";

std::vector<run_options> ways() {
  std::vector<run_options> result;
  for (const storage_kind storage :
       {storage_kind::automatic, storage_kind::hash, storage_kind::hisa, storage_kind::bits, storage_kind::words}) {
    for (const char* const continuation : {"auto", "on", "off"}) {
      for (const backend_kind backend : {backend_kind::cpu, backend_kind::gpu}) {
        if (backend == backend_kind::gpu && (!has_device() || storage > storage_kind::hash)) continue;
        run_options& one = result.emplace_back();
        one.storage = storage;
        one.backend = backend;
        one.changes = true;
        one.tuning = {{"continuation", continuation}};
      }
    }
  }
  return result;
}

TEST(changes, are_the_differences_of_two_evaluations) {
  std::mt19937 random(7);
  for (const run_options& options : ways()) {
    SCOPED_TRACE("storage " + std::to_string(static_cast<int>(options.storage)) + ", backend " +
                 std::to_string(static_cast<int>(options.backend)) + ", continuation " +
                 options.tuning.at("continuation"));
    engine run(program::from_text(text), options);
    std::vector<rows> before(run.relations().size());
    for (int batch = 0; batch < 6; ++batch) {
      for (int n = 0; n < 4; ++n) {
        const auto x = static_cast<std::int32_t>(random() % 8);
        const auto y = static_cast<std::int32_t>(random() % 8);
        batch % 3 == 2 ? run.relation("e").erase({x, y}) : run.relation("e").insert({x, y});
      }
      run.evaluate();
      std::size_t number = 0;
      for (const relation& one : run.relations()) {
        const rows now = rows_of(one);
        const changed_rows changes = run.changes(one.name());
        EXPECT_EQ(rows_of(changes.added), only_in(now, before[number])) << one.name() << " in batch " << batch;
        EXPECT_EQ(rows_of(changes.removed), only_in(before[number], now)) << one.name() << " in batch " << batch;
        before[number++] = now;
      }
    }
  }
}

TEST(changes, do_not_change_with_the_engine) {
  run_options options;
  options.changes = true;
  engine run(program::from_text(text), options);
  run.relation("e").insert({1, 2});
  run.evaluate();
  const changed_rows first = run.changes("reach");
  run.relation("e").erase({1, 2});
  run.evaluate();
  EXPECT_EQ(rows_of(run.changes("reach").removed), (rows{{1, 2}}));
  run.evaluate();
  EXPECT_EQ(run.changes("reach").removed.size(), 0U);
  EXPECT_EQ(rows_of(first.added), (rows{{1, 2}}));
  run.reset();
  EXPECT_EQ(rows_of(first.added), (rows{{1, 2}}));
}

TEST(changes, are_reported_to_functions) {
  engine run(program::from_text(text));
  std::vector<rows> added;
  run.on_change("reach", [&](const changed_rows& changes) {
    added.push_back(rows_of(changes.added));
    EXPECT_EQ(reason_of([&] { run.evaluate(); }), "a function of on_change cannot evaluate the program");
    if (added.size() == 1) run.relation("e").insert({2, 3});
  });
  run.relation("e").insert({1, 2});
  run.evaluate();
  run.evaluate();
  run.evaluate();
  EXPECT_EQ(added, (std::vector<rows>{{{1, 2}}, {{2, 3}, {1, 3}}}));
  run.relation("e").insert({3, 4});
  EXPECT_EQ(run.query("reach(1, x)").size(), 3U);  // evaluates the program first
  EXPECT_EQ(added.back(), (rows{{3, 4}, {2, 4}, {1, 4}}));
  EXPECT_EQ(run.query("reach(1, x)").size(), 3U);
  EXPECT_EQ(rows_of(run.changes("reach").added), added.back());
  EXPECT_EQ(added.size(), 3U);
  run.on_change("reach", {});
  run.relation("e").insert({4, 5});
  run.evaluate();
  EXPECT_EQ(added.size(), 3U);
}

TEST(changes, an_exception_of_a_function_leaves_the_results) {
  engine run(program::from_text(text));
  run.on_change("reach", [](const changed_rows&) { throw std::runtime_error("enough"); });
  run.relation("e").insert({1, 2});
  EXPECT_THROW(run.evaluate(), std::runtime_error);
  EXPECT_EQ(run.relation("reach").size(), 1U);
  run.evaluate();
}

TEST(changes, need_the_option) {
  engine run(program::from_text(text));
  EXPECT_EQ(reason_of([&] { (void)run.changes("reach"); }), "changes are there after an evaluation");
  run.evaluate();
  EXPECT_EQ(reason_of([&] { (void)run.changes("reach"); }), "changes need an engine with the option changes");
  run.on_change("reach", [](const changed_rows&) {});
  EXPECT_EQ(reason_of([&] { (void)run.changes("reach"); }),
            "the tuples of relation reach before the last evaluation were not kept");
  run.evaluate();
  EXPECT_EQ(run.changes("reach").added.size(), 0U);
}

}  // namespace
}  // namespace gpulog::changes_tests
