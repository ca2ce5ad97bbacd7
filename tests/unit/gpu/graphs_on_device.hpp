#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "random_on_device.hpp"

/// Graphs in a relation e, and what a relation r of them has to be.
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

/// As files are written: without columns.
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
/// From its centre, and back to it.
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

/// A program that reads a recursive relation r, and whether it needs columns of it.
struct row_reader {
  std::string text;
  bool needs_columns;
};
inline std::vector<row_reader> readers_of_rows() {
  return {{".decl o(x:number)\no(x) :- r(x,x).\n", true},
          {".decl o(x:number, y:number)\no(x,y) :- e(x,y), !r(y,x).\n", false},
          {".decl o(x:number, y:number)\no(x,y) :- e(x,z), r(z,x), e(y,_), !r(x,y).\n", false},
          {".decl o(x:number, y:number)\no(x,y) :- e(x,y).\no(x,y) :- o(x,z), e(z,y), r(y,x), !r(y,z).\n", false},
          {".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = count : { e(x,y), r(y,x) }.\n", false},
          {".decl o(x:number, y:number)\no(x,y) :- r(x,z), r(y,z), x < y.\n", true},
          {".decl o(n:number)\no(n) :- n = count : { r(_,_) }.\n", false},
          {".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = count : { r(x,_) }.\n", false},
          {".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = sum y : { r(x,y) }.\n", false},
          {".decl o(x:number, y:number)\no(x,y) :- e(x,z), r(z,y), !r(y,x).\no(y,y) :- r(5,y).\n", false},
          {".decl o(x:number)\no(x) :- e(x,_), r(x,y), e(_,y).\n", false},
          {".decl o(x:number)\no(x) :- e(x,_), !r(x,_).\n", true},
          {".decl o()\no() :- r(_,_).\n", false},
          {".decl o(x:number)\no(1) :- !r(_,_).\n", false},
          {".decl o(x:number, y:number)\no(x,y) :- r(x,y), x > y.\no(x,y) :- o(x,z), r(z,y).\n", true},
          {".decl o(x:number, y:number)\no(x,y) :- r(x,y), x > y.\no(x,y) :- e(a,x), o(a,b), r(b,y).\n", true}};
}

}  // namespace gpulog::exec
