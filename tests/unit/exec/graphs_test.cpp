// The paper's queries on random graphs, large enough to pass tiles, growth limits and cut-offs, against bit matrices.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysed_text.hpp"
#include "bit_matrix.hpp"
#include "oracle/random_program.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

struct graph {
  std::uint32_t nodes;
  std::uint32_t edges;
};

/// Sizes around those of words and warps, and some beyond a tile; random, a long path, one node that all others know.
const std::vector<graph> random_graphs = {{1, 0},    {1, 1},     {31, 40},    {32, 64},  {33, 33},
                                          {33, 500}, {300, 330}, {130, 2500}, {250, 500}};

using edge_list = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<std::pair<std::uint32_t, edge_list>> graphs() {
  std::vector<std::pair<std::uint32_t, edge_list>> made;
  for (const graph& size : random_graphs) {
    made.emplace_back(size.nodes, oracle::make_random_graph(size.nodes + size.edges, size.nodes, size.edges));
  }
  edge_list path;
  edge_list star;
  for (std::uint32_t node = 0; node + 1 < 200; ++node) {
    path.emplace_back(node, node + 1);
    star.emplace_back(0, node + 1);
    star.emplace_back(node + 1, 0);
  }
  made.emplace_back(200, path);
  made.emplace_back(200, star);
  return made;
}

bit_matrix matrix_of(std::uint32_t nodes, const edge_list& edges) {
  bit_matrix made(nodes);
  for (const auto& [from, to] : edges) made.set(from, to);
  return made;
}

std::vector<tuple> rows_of(const edge_list& edges) {
  std::vector<tuple> rows;
  for (const auto& [from, to] : edges) rows.push_back({from, to});
  return rows;
}

class graph_queries : public ::testing::TestWithParam<run_mode> {
 protected:
  /// Runs a program whose inputs are the given relations, and compares what is in a relation.
  struct input {
    std::string name;
    edge_list edges;
  };
  struct output {
    std::string name;
    bit_matrix expected;
  };
  void expect(const std::string& text, const std::vector<input>& inputs, const std::vector<output>& outputs,
              const std::vector<bool>& makes_relations = {true, false}) {
    for (const bool makes : makes_relations) {
      const analysed_text analysed_source(text);
      const sema::program& analysed = analysed_source.program;
      plan::statistics known;
      known.relations.resize(analysed.relations.size());
      for (const input& one : inputs) {
        known.relations[analysed.find_relation(one.name)->value].rows = one.edges.size();
      }
      const plan::program plan = plan::make_plan(analysed, known, {makes});
      plan_run run(plan, GetParam());
      for (const input& one : inputs) run.load(*analysed.find_relation(one.name), 2, rows_of(one.edges));
      run->evaluate();
      for (const output& one : outputs) {
        const relation_id relation = *analysed.find_relation(one.name);
        bit_matrix result(one.expected.nodes());
        std::uint64_t pairs = 0;
        const auto columns = run->columns(relation);
        for (std::uint64_t row = 0; row < run->rows(relation); ++row) {
          ASSERT_FALSE(result.has(columns[0][row], columns[1][row])) << "a row repeats";
          result.set(columns[0][row], columns[1][row]);
          ++pairs;
        }
        ASSERT_TRUE(result == one.expected)
            << one.name << " differs, " << pairs << " rows, " << inputs[0].edges.size() << " edges in\n"
            << text;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(modes, graph_queries, ::testing::ValuesIn(all_run_modes()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(graph_queries, reach_in_its_three_forms_release_only) {
  const std::string declarations =
      ".decl edge(x:number, y:number)\n.decl reach(x:number, y:number)\n"
      "reach(x,y) :- edge(x,y).\n";
  for (const auto& [nodes, edges] : graphs()) {
    const bit_matrix edge = matrix_of(nodes, edges);
    bit_matrix reach = edge;
    for (bit_matrix before(nodes); !(reach == before);) {
      before = reach;
      reach = reach | reach * reach;
    }
    for (const std::string rule : {"reach(x,y) :- reach(x,z), edge(z,y).\n", "reach(x,y) :- edge(x,z), reach(z,y).\n",
                                   "reach(x,y) :- reach(x,z), reach(z,y).\n"}) {
      expect(declarations + rule, {{"edge", edges}}, {{"reach", reach}}, {true});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(graph_queries, same_generation) {
  const std::string text =
      ".decl edge(x:number, y:number)\n.decl sg(x:number, y:number)\n"
      "sg(x,y) :- edge(p,x), edge(p,y), x != y.\n"
      "sg(x,y) :- edge(a,x), sg(a,b), edge(b,y), x != y.\n";
  for (const auto& [nodes, edges] : graphs()) {
    if (edges.size() > 1000) continue;
    const bit_matrix edge = matrix_of(nodes, edges);
    const bit_matrix turned = edge.turned();
    bit_matrix same = (turned * edge).without_diagonal();
    for (bit_matrix before(nodes); !(same == before);) {
      before = same;
      same = same | (turned * same * edge).without_diagonal();
    }
    expect(text, {{"edge", edges}}, {{"sg", same}});
    if (HasFatalFailure()) return;
  }
}

TEST_P(graph_queries, points_to_analysis_release_only) {
  const std::string text =
      ".decl assign(x:number, y:number)\n.decl dereference(x:number, y:number)\n.decl vf(x:number, y:number)\n"
      ".decl va(x:number, y:number)\n.decl ma(x:number, y:number)\n"
      "vf(y,x) :- assign(y,x).\nvf(x,x) :- assign(x,_).\nvf(x,x) :- assign(_,x).\n"
      "ma(x,x) :- assign(_,x).\nma(x,x) :- assign(x,_).\n"
      "vf(x,y) :- vf(x,z), vf(z,y).\nvf(x,y) :- assign(x,z), ma(z,y).\n"
      "va(x,y) :- vf(z,x), vf(z,y).\nva(x,y) :- vf(z,x), ma(z,w), vf(w,y).\n"
      "ma(x,w) :- dereference(y,x), va(y,z), dereference(z,w).\n";
  for (const graph size : {graph{1, 1}, graph{31, 31}, graph{32, 40}, graph{33, 20}, graph{120, 90}, graph{250, 150}}) {
    const edge_list assigned = oracle::make_random_graph(size.edges, size.nodes, size.edges);
    const edge_list dereferenced = oracle::make_random_graph(size.edges + 1, size.nodes, size.edges);
    const bit_matrix assign = matrix_of(size.nodes, assigned);
    const bit_matrix dereference = matrix_of(size.nodes, dereferenced);
    bit_matrix mentioned(size.nodes);
    for (const auto& [from, to] : assigned) {
      mentioned.set(from, from);
      mentioned.set(to, to);
    }
    bit_matrix vf = assign | mentioned;
    bit_matrix ma = mentioned;
    bit_matrix va(size.nodes);
    for (bool changed = true; changed;) {
      const bit_matrix next_vf = vf | vf * vf | assign * ma;
      const bit_matrix next_va = va | vf.turned() * vf | vf.turned() * ma * vf;
      const bit_matrix next_ma = ma | dereference.turned() * va * dereference;
      changed = !(next_vf == vf && next_va == va && next_ma == ma);
      vf = next_vf;
      va = next_va;
      ma = next_ma;
    }
    expect(text, {{"assign", assigned}, {"dereference", dereferenced}}, {{"vf", vf}, {"va", va}, {"ma", ma}});
    if (HasFatalFailure()) return;
  }
}

TEST_P(graph_queries, tuples_wider_than_a_slot_from_many_workers) {
  // Paths of three edges, kept whole.
  const std::string text =
      ".decl edge(x:number, y:number)\n.decl walk(a:number, b:number, c:number, d:number)\n"
      ".decl ends(x:number, y:number)\n"
      "walk(a,b,c,d) :- edge(a,b), edge(b,c), edge(c,d).\nends(a,d) :- walk(a,_,_,d).\n";
  for (const graph size : {graph{1, 1}, graph{32, 32}, graph{60, 500}, graph{300, 1500}}) {
    const edge_list edges = oracle::make_random_graph(size.nodes, size.nodes, size.edges);
    const bit_matrix edge = matrix_of(size.nodes, edges);
    expect(text, {{"edge", edges}}, {{"ends", edge * edge * edge}});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gpulog::exec
