// Rules that search factorized relations, and those that give them columns.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "oracle/random_program.hpp"
#include "plan/planner.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

struct read_outcome {
  tuples found;
  bool is_kept = false;  ///< the closure has no columns still
};

/// What a rule that reads the closure r of e finds.
read_outcome read(const std::string& rule, unsigned threads, double steps_of_row, std::uint64_t memory_limit = 0) {
  const analysed_text source(
      ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl o(x:number, y:number)\n"
      "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n" +
      rule);
  const plan::program plan = plan::make_plan(source.program);
  run_mode mode;
  mode.threads = threads;
  mode.own_threads = threads > 1;
  options chosen;
  chosen.condensation = condensation_mode::always;
  chosen.cut.searched_steps_of_row = steps_of_row;
  plan_run run(plan, mode, memory_limit, chosen);
  tuples edges;
  for (const auto& [x, y] : oracle::make_random_graph(7, 300, 400)) edges.insert({x, y});
  run.load(source.program.find_relation("e").value(), 2, edges);
  run->evaluate();
  const relation_id closure = source.program.find_relation("r").value();
  read_outcome outcome;
  outcome.is_kept = run->stream_rows(closure) != nullptr;
  bool is_distinct = false;
  outcome.found = run.rows_of(source.program.find_relation("o").value(), &is_distinct);
  EXPECT_TRUE(is_distinct) << rule;
  return outcome;
}

const std::vector<std::string> searching = {"o(x,y) :- e(y,x), r(x,y).\n",
                                            "o(x,y) :- e(_,x), e(y,_), !r(x,y).\n",
                                            "o(x,y) :- e(_,y), e(x,_), !r(x,y).\n",
                                            "o(x,y) :- e(x,z), r(z,y), y != x, !e(y,z).\n",
                                            "o(x,y) :- e(z,y), r(x,z), y != x, !e(x,z).\n",
                                            "o(x,c) :- e(x,_), c = count : { r(x,_) }.\n",
                                            "o(y,c) :- e(_,y), c = count : { r(_,y) }.\n",
                                            "o(x,y) :- e(x,y), r(y,_), !r(_,x).\n"};

TEST(factorized_reads, of_what_a_search_finds_need_no_columns) {
  for (const std::string& rule : searching) {
    const read_outcome kept = read(rule, 1, 1e9);
    EXPECT_TRUE(kept.is_kept) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9).found, kept.found) << rule;
  }
}

/// Searches are given up at once where they may take no step.
TEST(factorized_reads, go_on_over_columns_where_searches_take_long) {
  for (const std::string& rule : searching) {
    const read_outcome kept = read(rule, 1, 1e9);
    for (const unsigned threads : {1U, 3U}) {
      const read_outcome left = read(rule, threads, 0);
      EXPECT_EQ(left.found, kept.found) << rule;
    }
  }
  EXPECT_FALSE(read(searching.front(), 1, 0).is_kept);
}

TEST(factorized_reads, of_all_rows_take_strips) {
  for (const std::string& rule : {"o(y,x) :- r(x,y), x % 3 = y % 3.\n", "o(y,y) :- r(_,y).\n", "o(x,x) :- r(x,_).\n",
                                  "o(x,y) :- r(x,y), !e(x,y).\n", "o(x,y) :- r(x,y), r(y,x).\n"}) {
    const read_outcome kept = read(rule, 1, 1e9);
    EXPECT_TRUE(kept.is_kept) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9).found, kept.found) << rule;
    EXPECT_EQ(read(rule, 3, 0).found, kept.found) << rule;
  }
}

TEST(factorized_reads, of_recursions_get_columns) {
  const read_outcome outcome = read("o(x,y) :- e(x,y).\no(x,y) :- o(x,z), r(z,y), !r(y,x).\n", 1, 1e9);
  EXPECT_FALSE(outcome.is_kept);
  EXPECT_FALSE(outcome.found.empty());
}

}  // namespace
}  // namespace gpulog::exec
