// Closures over the components of their graphs: where they are, and what they give.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "closure_runs.hpp"
#include "gpulog/engine.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

run_options options_of(const std::string& rows, unsigned jobs) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.jobs = jobs;
  options.tuning["rows"] = rows;
  return options;
}

const std::string edges_of = ".decl e(x:number, y:number)\n";
const std::string binary = edges_of + ".decl r(x:number, y:number)\n";

/// The same as the loop. @return whether it was condensed where that was asked for
bool is_condensed(const std::string& text, const edge_list& edges) {
  const closure_outcome expected = run_closure(text, edges, options_of("loop", 1));
  std::set<bool> condensed;
  for (const unsigned jobs : {1U, 4U}) {
    EXPECT_EQ(run_closure(text, edges, options_of("search", jobs)).found, expected.found) << text;
    EXPECT_EQ(run_closure(text, edges, options_of("auto", jobs)).found, expected.found) << text;
    const closure_outcome found = run_closure(text, edges, options_of("recursions", jobs));
    EXPECT_EQ(found.found, expected.found) << jobs << " threads\n" << text;
    condensed.insert(found.ran("condensation"));
  }
  EXPECT_EQ(condensed.size(), 1U) << text;
  return *condensed.begin();
}

std::vector<edge_list> graphs() {
  edge_list star;
  edge_list chain;
  edge_list ring;
  for (std::uint32_t i = 1; i < 60; ++i) {
    star.emplace_back(0, i);
    star.emplace_back(0, i);
    chain.emplace_back(i, i + 1);
    ring.emplace_back(i, i % 59 + 1);
  }
  edge_list loops = {{1, 1}, {2, 2}, {2, 3}, {3, 4}, {4, 3}, {4, 5}, {7, 7}};
  return {{},
          {{1, 2}},
          star,
          chain,
          ring,
          loops,
          oracle::make_random_graph(1, 40, 30),
          oracle::make_random_graph(2, 40, 60),
          oracle::make_random_graph(3, 80, 300)};
}

TEST(condensed, all_forms_of_closures) {
  const std::vector<std::string> forms = {
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n",
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- e(x,z), r(z,y).\n",
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), r(z,y).\n",
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\nr(x,y) :- r(x,z), e(y,z).\n",
      binary + "r(x,x) :- e(x,_).\nr(x,y) :- r(x,z), e(z,y).\n",
      binary + "r(y,x) :- e(x,y), x != 3.\nr(x,y) :- r(x,z), e(z,y).\n",
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y), y != 3, !e(y,z).\n",
      binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y), e(y,_).\n",
      edges_of + ".decl r(p:number, q:number, y:number)\nr(x,x+y,y) :- e(x,y).\nr(p,q,y) :- r(p,q,z), e(z,y).\n",
      edges_of + ".decl r(y:number, k:number, p:number)\nr(y,x % 2,x) :- e(x,y).\nr(y,k,p) :- r(z,k,p), e(z,y).\n",
      binary +
          ".decl s(y:number, p:number)\nr(x,y) :- e(x,y).\ns(y,p) :- r(p,z), e(z,y).\nr(p,y) :- s(z,p), e(y,z).\n"};
  const std::vector<edge_list> all = graphs();
  std::size_t tried = 0;
  for (const std::string& form : forms) {
    for (const edge_list& graph : all) {
      if (!oracle::is_sanitized || tried++ % 2 == 0) EXPECT_EQ(is_condensed(form, graph), !graph.empty()) << form;
    }
  }
}

TEST(condensed, not_what_ties_its_ends_or_travels) {
  const edge_list graph = oracle::make_random_graph(2, 40, 60);
  EXPECT_FALSE(is_condensed(binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y), x < y.\n", graph));
  EXPECT_FALSE(is_condensed(edges_of + ".decl r(x:number, y:number, d:number)\nr(x,y,1) :- e(x,y).\n"
                                       "r(x,y,d+1) :- r(x,z,d), e(z,y), d < 5.\n",
                            graph));
}

TEST(condensed, what_reads_it) {
  const std::string closure = binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";
  const std::vector<std::string> readers = {
      ".decl o(x:number)\no(x) :- r(x,x).\n", ".decl o(x:number, y:number)\no(x,y) :- e(x,y), !r(y,x).\n",
      ".decl o(x:number, y:number)\no(x,y) :- r(x,z), r(y,z), x < y.\n",
      ".decl o(n:number)\no(n) :- n = count : { r(_,_) }.\n",
      ".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = count : { r(x,_) }.\n", ".decl o()\no() :- r(_,_).\n",
      ".decl o(x:number)\no(1) :- !r(_,_).\n",
      ".decl o(x:number, y:number)\no(x,y) :- r(x,y), x > y.\no(x,y) :- o(x,z), r(z,y).\n",
      // Tuples.
      ".decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n.decl o(x:number, y:number)\no(x,y) :- n(x), n(y), "
      "!r(x,y).\n",
      ".decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n.decl o(x:number, y:number)\no(y,x) :- n(x), n(y), "
      "r(y,x).\n",
      ".decl o(x:number, y:number)\no(x,y) :- e(x,z), e(z,y), r(y,x), !r(z,7).\n",
      // By source, by value.
      ".decl o(x:number, y:number)\no(x,y) :- e(x,x), r(x,y).\n",
      ".decl o(x:number, y:number)\no(x,y) :- e(y,y), r(x,y).\n", ".decl o(y:number)\no(y) :- r(3,y).\n",
      ".decl o(y:number)\no(x) :- r(x,3), x != 4.\n",
      ".decl o(x:number)\no(x) :- e(x,_), r(x,_).\no(x) :- e(x,_), !r(_,x).\n",
      ".decl o(x:number, y:number)\no(x,y) :- e(x,x), r(x,z), r(z,y), !r(y,x).\n",
      ".decl o(x:number, y:number)\no(x,y) :- e(z,z), r(x,z), r(z,y), e(y,x).\n",
      // Scans.
      ".decl o(x:number)\no(y) :- r(_,y).\n", ".decl o(x:number)\no(x) :- r(x,_).\n",
      ".decl o(x:number, y:number)\no(x,y) :- r(y,x), (x + y) % 3 = 0.\n",
      ".decl o(x:number, y:number, n:number)\no(x,y,n) :- r(x,y), n = count : { e(y,_) }, n > 1.\n",
      ".decl o(n:number)\no(n) :- r(_,_), n = 3.\n",
      // Aggregates.
      ".decl o(x:number, n:number)\no(x,n) :- e(_,x), n = count : { r(_,x) }.\n",
      ".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = sum y : { r(x,y) }.\n",
      ".decl o(x:number, n:number)\no(x,n) :- e(x,_), n = min y : { r(x,y), y > x }.\n",
      ".decl o(n:number, m:number)\no(n,m) :- n = max y : { r(_,y) }, m = sum x : { r(x,y), e(y,x) }.\n"};
  const std::vector<edge_list> all = graphs();
  std::size_t tried = 0;
  for (const std::string& reader : readers) {
    for (std::size_t number = 0; number < all.size(); ++number) {
      if (!oracle::is_sanitized || tried++ % 4 == 0) is_condensed(closure + reader, all[number]);
    }
  }
}

/// Rows of 10^9 tuples and more are counted, and said to be without columns.
TEST(condensed, a_long_chain_is_counted) {
  constexpr std::uint32_t nodes = 100'000;
  edge_list chain;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) chain.emplace_back(i, i + 1);
  for (const unsigned jobs : {1U, 4U}) {
    engine running(program::from_text(binary + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"),
                   options_of("auto", jobs));
    insert_edges(running, chain);
    running.evaluate();
    EXPECT_EQ(running.relation("r").size(), std::uint64_t{nodes} * (nodes - 1) / 2);
    EXPECT_LT(running.figures().peak_relation_bytes, 256U << 20);
    const auto& figures = running.figures().relations;
    const auto found = std::find_if(figures.begin(), figures.end(), [](const auto& one) { return one.name == "r"; });
    ASSERT_NE(found, figures.end());
    EXPECT_EQ(found->set, "factorized");
  }
}

/// Its rows would take more than 10 GB as columns, or 2 GB with sanitizers.
void expect_read_within_a_gigabyte(const edge_list& edges, std::uint64_t tuples, std::int32_t far) {
  const std::string text = binary +
                           "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"
                           ".decl start(x:number)\nstart(x) :- e(x,_), x % 20000 = 7.\n"
                           ".decl back(x:number, y:number)\nback(x,y) :- e(x,y), r(y,x).\n"
                           ".decl ahead(x:number, y:number)\nahead(x,y) :- e(x,y), !r(y,x).\n"
                           ".decl pairs(x:number, y:number)\npairs(x,y) :- start(x), start(y), !r(x,y).\n"
                           ".decl from(x:number)\nfrom(y) :- start(x), r(x,y).\n"
                           ".decl to(x:number)\nto(x) :- r(x," +
                           std::to_string(far) +
                           ").\n.decl ends(x:number)\nends(y) :- r(_,y).\n"
                           ".decl counts(x:number, n:number)\ncounts(x,n) :- start(x), n = count : { r(x,_) }.\n";
  for (const unsigned jobs : {1U, 4U}) {
    if (oracle::is_sanitized && jobs == 1) continue;
    run_options options = options_of("auto", jobs);
    options.memory_limit = 1U << 30;
    engine running(program::from_text(text), options);
    insert_edges(running, edges);
    running.evaluate();
    EXPECT_EQ(running.relation("r").size(), tuples);
    EXPECT_EQ(running.relation("back").size() + running.relation("ahead").size(), running.relation("e").size());
    std::set<std::uint64_t> ends;
    for (const auto& [x, y] : edges) ends.insert(y);
    EXPECT_EQ(running.relation("ends").size(), ends.size());
    std::set<std::uint64_t> to;
    for (const tuple& row : running.relation("to")) to.insert(row.word64(0));
    const std::uint64_t starts = running.relation("start").size();
    ASSERT_NE(starts, 0U);
    std::uint64_t far_ones = 0;
    std::uint64_t found = 0;
    std::uint64_t most = 0;
    for (const tuple& row : running.relation("start")) far_ones += to.contains(row.word64(0)) ? 1 : 0;
    for (const tuple& row : running.relation("counts")) most = std::max(most, row.word64(1));
    for (const tuple& row : running.relation("pairs"))
      found += row.word64(1) == static_cast<std::uint64_t>(far) ? 1 : 0;
    EXPECT_EQ(found, starts - far_ones);  // far is a start
    EXPECT_EQ(running.relation("counts").size(), starts);
    EXPECT_LE(most, running.relation("from").size());
    EXPECT_GT(most, 0U);
    EXPECT_LT(running.figures().peak_relation_bytes, 256U << 20);
  }
}

TEST(condensed, a_long_chain_is_read_without_columns_release_only) {
  constexpr std::uint32_t nodes = 50'000;
  edge_list chain;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) chain.emplace_back(i, i + 1);
  expect_read_within_a_gigabyte(chain, std::uint64_t{nodes} * (nodes - 1) / 2, 40'007);
}

/// As graphs of people are: one component that nearly all lead to, and others around it.
TEST(condensed, one_large_component_is_read_without_columns_release_only) {
  constexpr std::uint32_t in_ring = 20'000;
  constexpr std::uint32_t around = 40'000;
  edge_list edges;
  for (std::uint32_t i = 0; i < in_ring; ++i) {
    edges.emplace_back(i, (i + 1) % in_ring);
    edges.emplace_back(i, (i * 7919 + 13) % in_ring);
  }
  for (std::uint32_t i = 0; i < around; ++i) edges.emplace_back(in_ring + i, i % in_ring);
  // Each of the others has the ring's nodes.
  expect_read_within_a_gigabyte(edges, std::uint64_t{in_ring} * (in_ring + around), 7);
}

/// Files are written without columns, whatever the strips and the pieces.
TEST(condensed, rows_are_written_piece_by_piece) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "gpulog_condensed";
  const edge_list graph = oracle::make_random_graph(4, 1500, 1700);
  std::set<std::multiset<std::string>> written;
  for (const auto& [condensation, jobs] : {std::pair{"off", 1U}, {"on", 1U}, {"on", 4U}}) {
    std::filesystem::create_directories(folder);
    run_options options = options_of(condensation, jobs);
    options.output_directory = folder.string();
    engine running(program::from_text(binary + ".output r\nr(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"), options);
    insert_edges(running, graph);
    running.evaluate();
    running.write();
    std::ifstream file(folder / "r.csv");
    std::multiset<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.insert(line);
    written.insert(std::move(lines));
    std::filesystem::remove_all(folder);
  }
  EXPECT_EQ(written.size(), 1U);
  EXPECT_FALSE(written.begin()->empty());
}

}  // namespace
}  // namespace gpulog
