// Searches of a device that take over complete rows: all forms of closures on all shapes of graphs, with and without
// room for all rows, as columns and by pieces, against the naive evaluator and, for large results, a CPU.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graphs_on_device.hpp"

namespace gpulog::exec {
namespace {

using row_takeover_on_gpu = on_gpu;

const std::string edges_of = ".decl e(x:number, y:number)\n";
const std::string pair_relations = edges_of + ".decl r(x:number, y:number)\n";
const std::string closure = pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";

options takeover_options(row_mode mode) {
  options chosen;
  chosen.rows = mode;
  return chosen;
}

struct takeover_outcome {
  device_tuples found;
  bool was_searched_so = false;
  std::uint64_t taken_over = 0;
};

takeover_outcome takeover_outcome_of(executor& done, const sema::program& source) {
  takeover_outcome result;
  const relation_id relation = source.find_relation("r").value();
  const device_tuples streamed = streamed_rows_of(done, relation, source.relations[relation.value].arity());
  result.found = rows_of(done, relation);
  EXPECT_TRUE(streamed == result.found) << streamed.size() << " rows by pieces, not " << result.found.size();
  EXPECT_EQ(done.rows(relation), result.found.size());
  for (const stratum_statistics& stratum : done.figures().strata) {
    for (const std::string& strategy : stratum.strategies)
      result.was_searched_so = result.was_searched_so || strategy == "row-takeover";
    result.taken_over += stratum.rows_taken_over;
  }
  return result;
}

takeover_outcome run_takeover(const std::string& text, const edges& graph, const options& chosen) {
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program);
  storage::symbol_table symbols(plan.symbols);
  const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
  load(*running, source.program, graph);
  running->evaluate();
  return takeover_outcome_of(*running, source.program);
}

edges one_ring(std::uint32_t nodes) {
  edges made = chain(nodes);
  made.emplace_back(nodes - 1, 0);
  return made;
}
edges with_repeated(edges graph) {
  graph.insert(graph.end(), graph.begin(), graph.begin() + static_cast<std::ptrdiff_t>(graph.size() / 2));
  return graph;
}
TEST_F(row_takeover_on_gpu, all_forms_of_closures) {
  const std::vector<std::string> forms = {
      closure,
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- e(x,z), r(z,y).\n",
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), r(z,y).\n",
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\nr(x,y) :- r(x,z), e(y,z).\n",
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- e(y,x).\nr(x,y) :- r(x,z), e(z,y).\nr(x,y) :- r(x,z), e(y,z).\n",
      pair_relations + "r(x,x) :- e(x,_).\nr(x,y) :- r(x,z), e(z,y).\n",
      pair_relations + "r(y,x) :- e(x,y), x != 3.\nr(x,y) :- r(x,z), e(z,y).\n",
      pair_relations + "r(x,y) :- e(x,y), x % 3 != 1.\nr(x,y) :- r(x,z), e(z,y).\n",
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y), y != 3, !e(y,z).\n",
      edges_of + ".decl r(p:number, q:number, y:number)\nr(x,x+y,y) :- e(x,y).\nr(p,q,y) :- r(p,q,z), e(z,y).\n",
      edges_of +
          ".decl r(a:number, b:number, c:number, d:number)\nr(x,y,y,z) :- e(x,y), e(y,z).\n"
          "r(a,b,d,y) :- r(a,b,_,d), e(d,y).\n"};
  const std::vector<edges> graphs = {{},
                                     {{1, 2}},
                                     {{1, 1}, {2, 2}, {2, 3}, {3, 4}, {4, 3}, {4, 5}, {7, 7}, {50, 50}},
                                     chain(45),
                                     one_ring(40),
                                     star(50),
                                     with_repeated(oracle::make_random_graph(1, 40, 30)),
                                     oracle::make_random_graph(2, 40, 60),
                                     oracle::make_random_graph(3, 70, 200)};
  const std::uint64_t one_of = oracle::is_sanitized ? 23 : sized(1, 5);  // an emulated device tries some of them
  std::uint64_t number = 0;
  for (const std::string& form : forms) {
    for (const edges& graph : graphs) {
      for (const std::uint32_t factor : {1U, 40503U}) {
        if (!oracle::is_in_sample(number++, one_of)) continue;
        const edges input = multiplied(graph, factor);
        const takeover_outcome found = run_takeover(form, input, takeover_options(row_mode::recursions));
        EXPECT_EQ(found.found, by_naive_evaluator(form, input)) << form << graph.size() << " edges, x " << factor;
      }
    }
  }
}

TEST_F(row_takeover_on_gpu, graphs_of_many_rows) {
  const auto nodes = static_cast<std::uint32_t>(oracle::is_sanitized ? 70 : sized(700, 120));
  const std::vector<edges> graphs = {chain(nodes),
                                     one_ring(nodes),
                                     star(nodes),
                                     multiplied(chain(nodes), 3),
                                     oracle::make_random_graph(4, nodes, nodes),
                                     oracle::make_random_graph(5, nodes, nodes + nodes / 4),
                                     oracle::make_random_graph(6, nodes, nodes * 3),
                                     oracle::make_random_graph(8, nodes * 20, nodes * 10),
                                     multiplied(oracle::make_random_graph(7, nodes, nodes * 2), 5)};
  std::uint64_t taken_over = 0;
  std::uint64_t number = 0;
  for (const edges& graph : graphs) {
    const device_tuples expected = by_cpu(closure, graph);
    for (const auto& [has_room, has_block_rows] : {std::pair(true, true), {false, true}, {true, false}}) {
      if (oracle::is_sanitized && number++ % 4 != 0) continue;
      options chosen = takeover_options(row_mode::recursions);
      if (!has_room) chosen.cut.kept_row_words = 1;
      if (!has_block_rows) chosen.cut.block_row_bytes = 0;
      const takeover_outcome found = run_takeover(closure, graph, chosen);
      EXPECT_TRUE(found.was_searched_so);
      EXPECT_TRUE(found.found == expected) << found.found.size() << " rows, not " << expected.size();
      taken_over += found.taken_over;
    }
  }
  EXPECT_GT(taken_over, 0U);
}

/// More than a million numbers (a hundred thousand with sanitizers), of which rows use all groups, few or one: a row of
/// bits needs several words to say which.
TEST_F(row_takeover_on_gpu, rows_that_use_some_of_many_groups) {
  constexpr std::uint32_t leaves = oracle::is_sanitized ? 12'000 : 270'000;
  edges graph;
  for (std::uint32_t i = 0; i < leaves; ++i) graph.emplace_back(1, 4 * i);
  graph.emplace_back(2, 1);  // takes the row of 1 over
  std::uint32_t first = 5;
  for (const std::uint32_t distance : {1U, 1U, 41U}) {
    for (const auto& [x, y] : oracle::make_random_graph(first, 80, 240))
      graph.emplace_back(first + distance * x, first + distance * y);
    graph.emplace_back(3, first + distance * 7);
    first += oracle::is_sanitized ? 17'000 : 400'000;
  }
  const device_tuples expected = by_cpu(closure, graph);
  for (const bool has_room : {true, false}) {
    for (const bool has_block_rows : {true, false}) {
      if (oracle::is_sanitized && has_room != has_block_rows) continue;
      options chosen = takeover_options(row_mode::recursions);
      if (!has_room) chosen.cut.kept_row_words = 1;
      if (!has_block_rows) chosen.cut.block_row_bytes = 0;
      const takeover_outcome found = run_takeover(closure, graph, chosen);
      EXPECT_TRUE(found.was_searched_so);
      EXPECT_TRUE(found.found == expected) << found.found.size() << " rows, not " << expected.size();
    }
  }
}

TEST_F(row_takeover_on_gpu, what_reads_rows) {
  std::vector<options> all;
  for (const auto& [has_room, has_block_rows] : {std::pair(true, true), {false, true}, {true, false}}) {
    options chosen = takeover_options(row_mode::recursions);
    if (!has_room) chosen.cut.kept_row_words = 1;
    if (!has_block_rows) chosen.cut.block_row_bytes = 0;
    all.push_back(chosen);
  }
  expect_readers(closure, readers_of_rows(), {chain(45), star(50), oracle::make_random_graph(2, 40, 60)}, all);
  // Values that need numbers, and rows of bits.
  const edges wide = multiplied(with_repeated(oracle::make_random_graph(3, 60, 150)), 40503);
  expect_readers(closure, readers_of_rows(), {wide, chain(70)}, all);
}

/// A recursion asks in each iteration, until columns would have cost less: then it gets them, and goes on.
TEST_F(row_takeover_on_gpu, makes_columns_while_a_recursion_runs) {
  constexpr std::uint32_t nodes = 45;
  const std::string text = closure + ".decl o(x:number)\no(0).\no(y) :- o(x), r(x,y), y - x < 2.\n";
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program);
  const double asks = calibration::work_of_asking / (nodes * (nodes - 1) / 2);  // in work of a row
  for (const double work : {std::numeric_limits<double>::infinity(), 3 * asks, 1.5 * asks, asks / 2}) {
    options chosen = takeover_options(row_mode::recursions);
    chosen.cut.matrix_work_of_row = work;
    storage::symbol_table symbols(plan.symbols);
    const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
    load(*running, source.program, chain(nodes));
    running->evaluate();
    const relation_id relation = source.program.find_relation("r").value();
    EXPECT_EQ(set_of(*running, relation), "factorized");
    EXPECT_EQ(running->rows(source.program.find_relation("o").value()), nodes) << work;
    EXPECT_EQ(running->stream_rows(relation) == nullptr, work <= 3 * asks) << work;
  }
}

/// Rules that ask end with the right result, or with the message that memory is not enough.
TEST_F(row_takeover_on_gpu, asks_within_memory_limits) {
  const auto nodes = static_cast<std::uint32_t>(sized(2000, 200));
  const std::string text = closure +
                           ".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = count : { r(_,x) }.\n"
                           "o(x,x) :- e(x,_), r(_,x), r(x,_).\n"
                           ".decl p(x:number)\np(x) :- e(x,_), r(y,x), y < 3.\n"
                           ".decl s(x:number)\ns(x) :- r(x,y), x + y = 7.\n";
  const edges graph = one_ring(nodes);
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program);
  options chosen = takeover_options(row_mode::recursions);
  chosen.cut.asked_rows = nodes * 30;
  chosen.cut.matrix_work_of_row = std::numeric_limits<double>::infinity();
  std::uint64_t limit = 0;
  int finished = 0;
  int refused = 0;
  constexpr std::uint64_t limits = oracle::is_sanitized ? 8 : 24;
  for (std::uint64_t turn = 0; turn < limits; ++turn) {
    storage::symbol_table symbols(plan.symbols);
    try {
      const auto running = make_gpu_executor(plan, symbols, chosen, 0, limit);
      load(*running, source.program, graph);
      running->evaluate();
      const auto rows = [&](const char* name) { return running->rows(source.program.find_relation(name).value()); };
      EXPECT_EQ(rows("o"), std::uint64_t{2} * nodes);
      EXPECT_EQ(rows("p"), nodes);
      EXPECT_EQ(rows("s"), 8U);
      ++finished;
      if (limit == 0) {
        limit = running->figures().peak_memory_bytes;
        continue;
      }
    } catch (const memory_fault&) {
      ++refused;
    } catch (const backend::memory_exceeded&) {
      ++refused;  // there is not even enough to start with
    }
    limit -= 2 * limit / limits;
  }
  EXPECT_GT(finished, 1);
  EXPECT_GT(refused, 0);
}

/// Sources of two columns, the second and the first key of searches by them.
TEST_F(row_takeover_on_gpu, what_reads_rows_of_wide_sources) {
  const std::string wide =
      edges_of + ".decl r(p:number, y:number, q:number)\nr(x % 3,y,x) :- e(x,y).\nr(p,y,q) :- r(p,z,q), e(z,y).\n";
  const std::string two = ".decl o(x:number, y:number)\n";
  const std::vector<row_reader> readers = {
      {two + "o(x,y) :- e(x,z), r(x % 3,y,x), e(y,_), y != z.\n", false},
      {two + "o(x,y) :- e(x,y), !r(y % 3,x,y).\n", false},
      {two + "o(x,y) :- e(x,y), !r(y % 3,_,y).\n", false},
      {two + "o(x,y) :- e(x,y), r(_,x,_), !r(_,3,_).\n", false},
      {two + "o(x,p) :- e(y,_), r(p,y,x).\n", false},
      {two + "o(x,y) :- e(y,_), r(_,y,x).\n", true},
      {two + "o(p,x) :- r(p,_,x).\n", false},
      {two + "o(x,x) :- r(_,_,x).\n", false},
      {two + "o(x,y) :- r(_,y,x), e(x,y).\n", true},
      {two + "o(y,n) :- e(y,_), n = count : { r(_,y,_) }.\n", false},
      {two + "o(x,n) :- e(x,_), n = sum y : { r(x % 3,y,x) }.\n", false},
      {two + "o(x,y) :- e(x,_), r(_,y,x).\n", true},
      {two + "o(x,y) :- e(x,y).\no(y,z) :- o(x,y), r(y % 3,z,y), z != x.\n", false}};
  expect_readers(wide, readers, {chain(40), star(30), multiplied(oracle::make_random_graph(2, 40, 60), 40503)},
                 {takeover_options(row_mode::recursions)});
}

/// Lists of starts and steps that only a block can compare.
TEST_F(row_takeover_on_gpu, vertices_that_many_follow) {
  edges graph;
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (std::uint32_t j = 0; j < 90; ++j) graph.emplace_back(i, 20 + (i * 7 + j) % 200);
    graph.emplace_back(20 + i, i + 1);
  }
  const std::string some = pair_relations + "r(x,y) :- e(x,y), y != 25.\nr(x,y) :- r(x,z), e(z,y).\n";
  for (const std::string& form : {closure, some})
    EXPECT_TRUE(run_takeover(form, graph, takeover_options(row_mode::recursions)).found == by_cpu(form, graph)) << form;
}

TEST_F(row_takeover_on_gpu, is_chosen_or_not) {
  const edges graph = oracle::make_random_graph(2, 40, 60);
  EXPECT_TRUE(run_takeover(closure, graph, takeover_options(row_mode::recursions)).was_searched_so);
  EXPECT_FALSE(run_takeover(closure, graph, takeover_options(row_mode::searches)).was_searched_so);
  EXPECT_FALSE(run_takeover(closure, {}, takeover_options(row_mode::recursions)).was_searched_so);
  // Several relations, and values that travel.
  const std::vector<std::string> others = {
      pair_relations +
          ".decl s(y:number, p:number)\nr(x,y) :- e(x,y).\ns(y,p) :- r(p,z), e(z,y).\nr(p,y) :- s(z,p), e(y,z).\n",
      pair_relations + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y), x < y.\n"};
  for (const std::string& text : others) {
    const takeover_outcome found = run_takeover(text, graph, takeover_options(row_mode::recursions));
    EXPECT_FALSE(found.was_searched_so);
    EXPECT_EQ(found.found, by_naive_evaluator(text, graph));
  }
}

}  // namespace
}  // namespace gpulog::exec
