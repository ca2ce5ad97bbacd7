#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/random_runs.hpp"
#include "random_on_device.hpp"

/// Graphs in a relation e, and expected contents of a relation r.
namespace gpulog::exec {

using edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline void load(executor& target, const sema::program& source, const edges& graph) {
  std::vector<word> columns[2];
  for (const auto& [x, y] : graph) {
    columns[0].push_back(x);
    columns[1].push_back(y);
  }
  target.load(source.find_relation("e").value(), {columns[0].data(), columns[1].data()}, graph.size());
}

inline device_tuples by_naive_evaluator(const std::string& text, const edges& graph) {
  const analysed_text source(text);
  oracle::database expected(source.program);
  for (const auto& [x, y] : graph) expected[source.program.find_relation("e").value()].insert({x, y});
  oracle::evaluate(source.program, expected);
  const auto& known = expected[source.program.find_relation("r").value()];
  return {known.begin(), known.end()};
}

inline device_tuples by_cpu(const std::string& text, const edges& graph) {
  const analysed_text source(text);
  const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
  storage::symbol_table symbols(plan.symbols);
  backend::host_memory memory;
  const auto running = make_cpu_executor(plan, symbols, memory, {});
  load(*running, source.program, graph);
  running->evaluate();
  return rows_of(*running, source.program.find_relation("r").value());
}

/// Reads rows as a stream, like a writer of files, without columns.
inline device_tuples streamed_rows_of(executor& done, relation_id relation, std::size_t arity) {
  const std::unique_ptr<row_stream> stream = done.stream_rows(relation);
  if (stream == nullptr) return rows_of(done, relation);
  device_tuples found;
  constexpr std::uint64_t at_once = 1000;
  std::vector<std::vector<word>> columns(arity, std::vector<word>(at_once));
  std::vector<word*> places;
  for (auto& column : columns) places.push_back(column.data());
  for (std::uint64_t first = 0; first < done.rows(relation); first += at_once) {
    const std::uint64_t n = std::min(at_once, done.rows(relation) - first);
    stream->read(first, n, places.data());
    for (std::uint64_t i = 0; i < n; ++i) {
      std::vector<wide_word> tuple;
      for (const auto& column : columns) tuple.push_back(column[i]);
      found.insert(std::move(tuple));
    }
  }
  return found;
}

inline edges chain(std::uint32_t nodes) {
  edges made;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) made.emplace_back(i, i + 1);
  return made;
}
/// Edges from the centre, and some back to the centre.
inline edges star(std::uint32_t nodes) {
  edges made;
  for (std::uint32_t i = 1; i < nodes; ++i) made.emplace_back(0, i);
  for (std::uint32_t i = 1; i < nodes; i += 3) made.emplace_back(i, 0);
  return made;
}
inline edges multiplied(edges graph, std::uint32_t factor) {
  for (auto& [x, y] : graph) {
    x *= factor;
    y *= factor;
  }
  return graph;
}

/// A program that reads a recursive relation r, and whether it always needs columns of r.
struct row_reader {
  std::string text;
  bool needs_columns;
};
inline std::vector<row_reader> readers_of_rows() {
  const std::string one = ".decl o(x:number)\n";
  const std::string two = ".decl o(x:number, y:number)\n";
  return {{two + "o(x,y) :- e(x,y), !r(y,x).\n", false},
          {two + "o(x,y) :- e(x,z), r(z,x), e(y,_), !r(x,y).\n", false},
          {two + "o(x,y) :- e(x,y).\no(x,y) :- o(x,z), e(z,y), r(y,x), !r(y,z).\n", false},
          {two + "o(x,n) :- e(x,_), n = count : { e(x,y), r(y,x) }.\n", false},
          {one + "o(n) :- n = count : { r(_,_) }.\n", false},
          {".decl o()\no() :- r(_,_).\n", false},
          {one + "o(1) :- !r(_,_).\n", false},
          // By source.
          {two + "o(x,n) :- e(x,_), n = count : { r(x,_) }.\n", false},
          {two + "o(x,n) :- e(x,_), n = sum y : { r(x,y) }.\n", false},
          {two + "o(x,y) :- e(x,z), r(z,y), !r(y,x).\no(y,y) :- r(5,y).\n", false},
          {one + "o(x) :- e(x,_), r(x,y), e(_,y).\n", false},
          {one + "o(x) :- e(x,_), !r(x,_).\n", false},
          {two + "o(x,y) :- e(x,y), r(y,_), !r(x,3).\n", false},
          {two + "o(x,n) :- e(x,_), n = count : { e(x,y), !r(y,_) }.\n", false},
          // By value.
          {two + "o(x,y) :- e(y,_), r(x,y).\n", true},  // row by row
          {one + "o(x) :- e(y,_), r(x,y), y != 2.\n", false},
          {two + "o(x,y) :- e(z,y), r(x,z), !r(y,x).\n", false},
          {two + "o(x,y) :- r(x,z), r(y,z), x < y.\n", true},
          {two + "o(x,y) :- r(x,z), r(y,z), e(x,y).\n", false},
          {two + "o(x,n) :- e(x,_), n = count : { r(_,x) }.\n", false},
          {two + "o(y,n) :- e(y,_), n = sum x : { r(x,y), x != 2 }.\n", false},
          {two + "o(x,x) :- r(x,5).\no(x,y) :- e(y,z), r(x,z), !r(z,y).\n", false},
          {one + "o(y) :- e(_,y), r(x,y), e(y,x).\n", false},
          {one + "o(x) :- e(x,_), !r(_,x).\n", false},
          {two + "o(x,y) :- e(x,y), r(_,x), !r(_,3).\n", false},
          // All rows, or all values of one side.
          {one + "o(x) :- r(x,x).\n", false},
          {one + "o(x) :- r(x,x), !e(x,x).\n", false},
          {one + "o(x) :- r(x,_).\n", false},
          {one + "o(y) :- r(_,y), y != 4.\n", false},
          {two + "o(x,y) :- r(x,y).\n", false},
          {one + "o(y) :- r(x,y), e(y,x), x != y.\n", false},
          {two + "o(x,n) :- r(x,y), n = count : { r(y,_) }, n > 2.\n", false},
          {".decl o(x:number, y:number, z:number)\no(x,y,z) :- r(x,y), e(y,z), r(z,x).\n", false},
          // Recursions.
          {two + "o(x,y) :- r(x,y), x > y.\no(x,y) :- o(x,z), r(z,y).\n", true},
          {two + "o(x,y) :- r(x,y), x > y.\no(x,y) :- e(a,x), o(a,b), r(b,y).\n", true},
          {two + "o(x,y) :- e(x,y).\no(x,y) :- o(y,z), r(z,x), x != z.\n", false},
          {two + "o(x,y) :- r(x,y), y < 9.\no(y,x) :- o(x,z), r(z,y), e(y,_), !r(y,_).\no(y,x) :- o(x,y), r(x,_).\n",
           false},
          {two + "o(x,y) :- e(x,y).\no(y,z) :- o(z,x), r(y,x).\n", true}};
}

/// Returns the representation of a relation when its stratum was complete.
inline std::string set_of(executor& done, relation_id relation) {
  for (const stratum_statistics& stratum : done.figures().strata) {
    for (const relation_statistics& one : stratum.relations) {
      if (one.relation == relation) return one.set;
    }
  }
  return "";
}

/// Runs readers of r after the rules that derive r, over several graphs and with several limits: all requested rows at
/// once, a few rows at a time, or until columns are cheaper. Expects columns only for readers that need columns, or
/// after many requests.
inline void expect_readers(const std::string& rules, const std::vector<row_reader>& readers,
                           const std::vector<edges>& graphs, const std::vector<options>& all) {
  struct way {
    std::uint64_t rows;
    double work;
  };
  constexpr double without_end = std::numeric_limits<double>::infinity();
  const std::vector<way> ways = {{calibration::asked_rows, without_end},
                                 {20, without_end},
                                 {1, without_end},
                                 {calibration::asked_rows, calibration::asked_work_of_row},
                                 {calibration::asked_rows, 1e4}};
  const std::uint64_t one_of = oracle::is_sanitized ? 421 : sized(1, 41);  // an emulated device runs only a sample
  std::uint64_t number = 0;
  for (const row_reader& one : readers) {
    const analysed_text source(rules + one.text);
    const plan::program plan = plan::make_plan(source.program);
    for (const edges& graph : graphs) {
      std::optional<oracle::database> expected;  // computed only for cases that run
      for (options chosen : all) {
        for (const way& asked : ways) {
          if (!oracle::is_in_sample(number++, one_of)) continue;
          if (!expected) {
            expected.emplace(source.program);
            for (const auto& [x, y] : graph) (*expected)[source.program.find_relation("e").value()].insert({x, y});
            oracle::evaluate(source.program, *expected);
          }
          chosen.cut.asked_rows = asked.rows;
          chosen.cut.matrix_work_of_row = asked.work;
          storage::symbol_table symbols(plan.symbols);
          const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
          load(*running, source.program, graph);
          running->evaluate();
          for (const char* name : {"o", "r"}) {
            const relation_id relation = source.program.find_relation(name).value();
            const auto& known = (*expected)[relation];
            const bool is_told = one.needs_columns || asked.work == without_end;
            if (std::string(name) == "r" && is_told && set_of(*running, relation) == "factorized")
              EXPECT_EQ(running->stream_rows(relation) == nullptr, one.needs_columns) << one.text << graph.size();
            EXPECT_EQ(rows_of(*running, relation), device_tuples(known.begin(), known.end()))
                << one.text << name << ", " << asked.rows << " rows, " << asked.work;
          }
        }
      }
    }
  }
}

}  // namespace gpulog::exec
