// Fixpoints that fall apart, over numbers instead of values: where they are, and what they give.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "closure_runs.hpp"
#include "gpulog/engine.hpp"
#include "oracle/random_program.hpp"

namespace gpulog {
namespace {

/// The same as the loop. @return whether it was numbered on a CPU, whatever the number of threads
bool is_numbered(const std::string& rules, const edge_list& edges) {
  const std::string text = ".decl e(x:number, y:number)\n" + rules;
  run_options off;
  off.backend = backend_kind::cpu;
  off.tuning["rows"] = "loop";
  const closure_outcome expected = run_closure(text, edges, off);
  EXPECT_FALSE(expected.ran("search"));
  std::set<bool> numbered;
  for (const unsigned jobs : {1U, 4U}) {
    run_options options;
    options.backend = backend_kind::cpu;
    options.jobs = jobs;
    const closure_outcome found = run_closure(text, edges, options);
    EXPECT_EQ(found.found, expected.found) << jobs << " threads\n" << text;
    numbered.insert(found.search_numbers != 0);
  }
  run_options device;
  device.backend = backend_kind::gpu;
  try {
    EXPECT_EQ(run_closure(text, edges, device).found, expected.found) << "gpu\n" << text;
  } catch (const input_error&) {
    // There is none.
  }
  EXPECT_EQ(numbered.size(), 1U) << text;
  return *numbered.begin();
}

const std::string closure = ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";

edge_list far_apart(edge_list edges) {
  for (auto& [x, y] : edges) {
    x *= 2654435761U;
    y *= 2654435761U;
  }
  return edges;
}

TEST(numbered_fixpoints, of_values_that_are_no_places_in_a_bitmap_release_only) {
  for (const std::uint32_t nodes : {1U, 31U, 32U, 33U, 64U, 65U, 700U}) {
    const edge_list graph = oracle::make_random_graph(nodes, nodes, nodes + nodes / 8);
    EXPECT_FALSE(is_numbered(closure, graph));
    if (nodes > 1) EXPECT_TRUE(is_numbered(closure, far_apart(graph)));
  }
}

TEST(numbered_fixpoints, of_several_columns_and_relations) {
  const edge_list graph = oracle::make_random_graph(3, 60, 90);
  EXPECT_TRUE(
      is_numbered(".decl r(p:number, y:number, k:number)\nr(x,y,x+y) :- e(x,y).\n"
                  "r(p,y,k) :- r(p,z,k), e(z,y).\n",
                  graph));
  EXPECT_TRUE(
      is_numbered(".decl r(p:number, y:number)\n.decl s(y:number, p:number)\nr(x,y) :- e(x,y), x < y.\n"
                  "s(y,p) :- r(p,z), e(z,y).\nr(p,y) :- s(z,p), e(y,z).\n",
                  graph));
  // Whether the step that it asks is bounded is the planner's business.
  static_cast<void>(
      is_numbered(".decl r(a:number, p:number, b:number)\nr(x,z,y) :- e(x,y), e(y,z).\n"
                  "r(a,p,b) :- r(_,p,z), e(z,a), e(a,b).\nr(b,p,a) :- r(a,p,b).\n",
                  far_apart(graph)));
}

TEST(numbered_fixpoints, not_where_few_tuples_begin) {
  const edge_list graph = far_apart(oracle::make_random_graph(5, 5000, 9000));
  const std::string first = std::to_string(static_cast<std::int32_t>(graph.front().first));
  EXPECT_FALSE(is_numbered(
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), x = " + first + ".\nr(x,y) :- r(x,z), e(z,y).\n", graph));
}

TEST(numbered_fixpoints, within_a_memory_limit) {
  const edge_list graph = far_apart(oracle::make_random_graph(7, 3000, 4500));
  run_options options;
  options.memory_limit = 1 << 20;
  EXPECT_THROW(run_closure(".decl e(x:number, y:number)\n" + closure, graph, options), memory_limit_error);
}

}  // namespace
}  // namespace gpulog
