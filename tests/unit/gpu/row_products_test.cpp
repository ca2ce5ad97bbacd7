// Recursions of products on a device, by rows of bits: all forms on all shapes of graphs, against the naive evaluator
// and, for large results, a CPU.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graphs_on_device.hpp"
#include "oracle/abandoning_plan.hpp"

namespace gpulog::exec {
namespace {

using row_products_on_gpu = on_gpu;

const std::string binary = ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n";
const std::string same_generation =
    binary + "r(x,y) :- e(p,x), e(p,y), x != y.\nr(x,y) :- e(a,x), r(a,b), e(b,y), x != y.\n";

options product_options(row_mode mode) {
  options chosen;
  chosen.rows = mode;
  return chosen;
}

/// Rows in rounds; in topological order where the graph has one; and in topological order until a row takes long.
const std::vector<double> orders = {0, std::numeric_limits<double>::infinity(), 1e-12};

struct product_outcome {
  device_tuples found;
  bool was_made_so = false;
  bool was_made_from_start = false;
  std::string set;
};

product_outcome run(const std::string& text, const edges& graph, const options& chosen) {
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program);
  storage::symbol_table symbols(plan.symbols);
  const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
  load(*running, source.program, graph);
  running->evaluate();
  product_outcome result;
  const relation_id relation = source.program.find_relation("r").value();
  result.set = set_of(*running, relation);
  const device_tuples streamed = streamed_rows_of(*running, relation, 2);
  result.found = rows_of(*running, relation);
  EXPECT_TRUE(streamed == result.found) << streamed.size() << " rows by pieces, not " << result.found.size();
  EXPECT_EQ(running->rows(relation), result.found.size());
  for (const stratum_statistics& stratum : running->figures().strata) {
    for (const std::string& strategy : stratum.strategies)
      result.was_made_so = result.was_made_so || strategy == "row-products";
    result.was_made_from_start = result.was_made_from_start || stratum.strategies.front() == "row-products";
  }
  return result;
}

/// Two chains from the same node.
edges fork(std::uint32_t nodes) {
  edges made = {{0, 1}, {0, 2}};
  for (std::uint32_t i = 1; i + 2 < nodes; ++i) made.emplace_back(i, i + 2);
  return made;
}
edges ring(std::uint32_t nodes) {
  edges made = fork(nodes);
  made.emplace_back(nodes - 1, 0);
  return made;
}
edges with_loops(edges graph) {
  graph.emplace_back(3, 3);
  graph.emplace_back(graph.front());
  return graph;
}
struct form {
  std::string rules;
  bool from_start;  ///< whether the rules before the loop are part of the equations
};

TEST_F(row_products_on_gpu, all_forms_on_all_graphs) {
  const std::string by_three = ".decl f(x:number, y:number, z:number)\nf(x,y,z) :- e(x,y), e(y,z).\n";
  const std::vector<form> forms = {
      {"r(x,y) :- e(p,x), e(p,y), x != y.\nr(x,y) :- e(a,x), r(a,b), e(b,y), x != y.\n", true},
      {"r(x,y) :- e(p,x), e(p,y), x != y.\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n", false},
      {"r(x,y) :- e(p,x), e(p,y).\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n", true},
      {"r(x,y) :- e(x,p), e(y,p).\nr(x,y) :- e(x,a), r(a,b), e(y,b), y != x.\n", false},
      {"r(x,y) :- e(y,x).\nr(x,y) :- e(a,x), r(a,b), e(y,b).\n", true},
      {"r(x,x) :- e(x,_).\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n", true},
      {"r(x,y) :- e(x,p), e(p,y), x < y.\nr(x,y) :- e(x,a), r(a,b), e(b,y).\n", false},
      // A relation on a single side; the comparison prevents a search by source.
      {"r(x,y) :- e(x,y), x != y.\nr(x,y) :- r(x,z), e(z,y), x != y.\n", true},
      {"r(x,y) :- e(x,y).\nr(x,y) :- e(x,z), r(z,y), x != y.\n", false},
      // Several rules with relations on a single side and on both sides.
      {"r(x,y) :- e(x,y).\nr(x,y) :- e(z,x), r(z,y).\nr(x,y) :- r(x,z), e(z,y).\n", true},
      {"r(x,y) :- e(p,x), e(p,y).\nr(x,y) :- e(y,x).\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n"
       "r(x,y) :- e(x,a), r(a,b), e(y,b).\n",
       true},
      // A relation that contains a pair several times.
      {by_three + "r(x,y) :- e(x,y).\nr(x,y) :- f(x,_,a), r(a,b), f(b,y,_).\n", true},
  };
  const std::vector<edges> graphs = {chain(40),
                                     fork(150),
                                     ring(70),
                                     with_loops(ring(33)),
                                     star(80),
                                     with_loops(star(40)),
                                     multiplied(fork(60), 1'000'003),
                                     {{5, 5}},
                                     oracle::make_random_graph(1, 60, 70),
                                     oracle::make_random_graph(2, 60, 100),
                                     with_loops(oracle::make_random_graph(3, 50, 200)),
                                     multiplied(oracle::make_random_graph(4, 60, 90), 77)};
  const std::uint64_t one_of = oracle::is_sanitized ? 41 : sized(1, 13);  // an emulated device runs some combinations
  std::uint64_t pair = 0;
  for (const form& tried : forms) {
    for (std::size_t number = 0; number < graphs.size(); ++number) {
      if (!oracle::is_in_sample(pair++, one_of)) continue;
      const device_tuples expected = by_naive_evaluator(binary + tried.rules, graphs[number]);
      for (const double waited : orders) {
        options chosen = product_options(row_mode::recursions);
        chosen.cut.waited_row_seconds = waited;
        const product_outcome found = run(binary + tried.rules, graphs[number], chosen);
        EXPECT_TRUE(found.found == expected) << tried.rules << "graph " << number << " waited " << waited;
        EXPECT_EQ(found.was_made_from_start, tried.from_start) << tried.rules << "graph " << number;
      }
    }
  }
}

TEST_F(row_products_on_gpu, graphs_of_many_rows) {
  const auto nodes = static_cast<std::uint32_t>(sized(2000, 300));
  const std::vector<edges> graphs = {fork(nodes), star(nodes / 4), oracle::make_random_graph(4, nodes, nodes),
                                     oracle::make_random_graph(5, nodes, nodes + nodes / 4),
                                     multiplied(oracle::make_random_graph(7, nodes, nodes), 5)};
  for (const edges& graph : graphs) {
    const product_outcome found = run(same_generation, graph, product_options(row_mode::recursions));
    EXPECT_TRUE(found.was_made_so);
    const device_tuples expected = by_cpu(same_generation, graph);
    EXPECT_TRUE(found.found == expected) << found.found.size() << " rows, not " << expected.size();
  }
}

/// The results stay words; without memory for words, and without any row, the results are columns.
TEST_F(row_products_on_gpu, results_are_kept_as_words) {
  for (const edges& graph : {ring(70), star(40), multiplied(oracle::make_random_graph(2, 60, 100), 1'000'003)}) {
    const device_tuples expected = by_naive_evaluator(same_generation, graph);
    options chosen = product_options(row_mode::recursions);
    const product_outcome kept = run(same_generation, graph, chosen);
    EXPECT_EQ(kept.set, "factorized");
    EXPECT_TRUE(kept.found == expected);
    chosen.cut.kept_row_words = 1;
    const product_outcome as_columns = run(same_generation, graph, chosen);
    EXPECT_EQ(as_columns.set, "");
    EXPECT_TRUE(as_columns.found == expected);
  }
  EXPECT_EQ(run(same_generation, chain(20), product_options(row_mode::recursions)).set, "");
}

TEST_F(row_products_on_gpu, what_reads_rows) {
  const edges wide = multiplied(oracle::make_random_graph(3, 60, 150), 40503);
  expect_readers(same_generation, readers_of_rows(), {ring(45), star(40), oracle::make_random_graph(2, 40, 60), wide},
                 {product_options(row_mode::recursions)});
}

/// Lists of all lengths: a lane reads a short list alone, and lanes share a long list.
TEST_F(row_products_on_gpu, values_that_many_follow) {
  edges graph;
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (std::uint32_t j = 0; j < 90; ++j) graph.emplace_back(i, 20 + (i * 7 + j) % 200);
    graph.emplace_back(20 + i, i + 1);
    graph.emplace_back(60 + i, i);
  }
  EXPECT_TRUE(run(same_generation, graph, product_options(row_mode::recursions)).found ==
              by_cpu(same_generation, graph));
}

TEST_F(row_products_on_gpu, is_chosen_or_not) {
  const edges graph = oracle::make_random_graph(2, 40, 60);
  EXPECT_TRUE(run(same_generation, graph, product_options(row_mode::recursions)).was_made_so);
  EXPECT_FALSE(run(same_generation, graph, product_options(row_mode::automatic)).was_made_so);
  EXPECT_FALSE(run(same_generation, {}, product_options(row_mode::recursions)).was_made_so);
}

/// Strata with row equations that no schedule solves, whose loops lose their supplementary relations: at once, or after
/// some iterations.
TEST_F(row_products_on_gpu, loops_abandon_supplementary_relations) {
  const std::vector<std::string> recursions = {
      same_generation,
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- e(x,a), r(a,b), e(y,b).\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n",
      // Two recursive atoms: joins of the loop, but no products.
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,a), e(b,a), r(b,c), e(c,y).\n"};
  const edges graph = oracle::make_random_graph(2, 40, 60);
  constexpr std::uint64_t at_once = 20, later = 8;  // seeds
  for (const std::string& text : recursions) {
    const analysed_text source(text);
    const device_tuples expected = by_naive_evaluator(text, graph);
    for (const row_mode mode : {row_mode::automatic, row_mode::recursions, row_mode::always}) {
      for (const std::uint64_t seed : {at_once, later}) {
        for (const bool on_device : {false, true}) {
          SCOPED_TRACE(text + "mode " + std::to_string(static_cast<int>(mode)) + (on_device ? ", gpu" : ", cpu"));
          oracle::abandoning_plan planned(source.program, seed);
          options chosen = planned.options_of_run(product_options(mode));
          chosen.cut.loop_rows = 0;  // the loop kernel has no budgets
          storage::symbol_table symbols(planned.plan().symbols);
          backend::host_memory memory;
          const auto running = on_device ? make_gpu_executor(planned.plan(), symbols, chosen, 0, 0)
                                         : make_cpu_executor(planned.plan(), symbols, memory, chosen);
          planned.watch(*running);
          load(*running, source.program, graph);
          running->evaluate();
          EXPECT_TRUE(rows_of(*running, source.program.find_relation("r").value()) == expected);
          const bool is_solved = planned.plan().strata.back().has_row_products() && mode != row_mode::automatic;
          EXPECT_EQ(planned.abandoned() == 0, is_solved);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpulog::exec
