// Rules that look up rows in matrices, and rules that need columns.

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
  bool is_kept = false;  ///< the closure has no columns after the run
};

const std::string closure = "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";
const std::string join = "r(x,y) :- e(x,z), e(z,y).\nr(x,y) :- e(p,x), e(p,y).\n";
const std::string product = "r(x,y) :- e(p,x), e(p,y).\nr(x,y) :- e(a,x), r(a,b), e(b,y).\n";

/// Returns the results of a rule that reads r, the result of the recursion over e.
read_outcome read(const std::string& rule, unsigned threads, double steps_of_row, std::uint64_t memory_limit = 0,
                  const std::string& recursion = closure) {
  const analysed_text source(".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl o(x:number, y:number)\n" +
                             recursion + rule);
  const plan::program plan = plan::make_plan(source.program);
  run_mode mode;
  mode.threads = threads;
  options chosen;
  chosen.rows = recursion == join ? row_mode::always : row_mode::recursions;
  chosen.cut.matrix_work_of_row = steps_of_row;
  plan_run run(plan, mode, memory_limit, chosen);
  tuples edges;
  for (const auto& [x, y] : oracle::make_random_graph(7, 300, 400)) edges.insert({x, y});
  run.load(source.program.find_relation("e").value(), 2, edges);
  run->evaluate();
  read_outcome outcome;
  outcome.is_kept = run->stream_rows(source.program.find_relation("r").value()) != nullptr;
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

TEST(matrix_reads, of_what_a_search_finds_need_no_columns) {
  for (const std::string& rule : searching) {
    const read_outcome kept = read(rule, 1, 1e9);
    EXPECT_TRUE(kept.is_kept) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9).found, kept.found) << rule;
  }
}

/// Searches end at once if no step is allowed.
TEST(matrix_reads, go_on_over_columns_where_searches_take_long) {
  for (const std::string& rule : searching) {
    const read_outcome kept = read(rule, 1, 1e9);
    for (const unsigned threads : {1U, 3U}) {
      const read_outcome left = read(rule, threads, 0);
      EXPECT_EQ(left.found, kept.found) << rule;
    }
  }
  EXPECT_FALSE(read(searching.front(), 1, 0).is_kept);
}

const std::vector<std::string> scanning = {"o(y,x) :- r(x,y), x % 3 = y % 3.\n", "o(y,y) :- r(_,y).\n",
                                           "o(x,x) :- r(x,_).\n", "o(x,y) :- r(x,y), !e(x,y).\n",
                                           "o(x,y) :- r(x,y), r(y,x).\n"};

TEST(matrix_reads, of_all_rows_take_pieces) {
  for (const std::string& rule : scanning) {
    const read_outcome kept = read(rule, 1, 1e9);
    EXPECT_TRUE(kept.is_kept) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9).found, kept.found) << rule;
    EXPECT_EQ(read(rule, 3, 0).found, kept.found) << rule;
  }
}

TEST(matrix_reads, of_words_need_no_columns) {
  std::vector<std::string> rules = searching;
  rules.insert(rules.end(), scanning.begin(), scanning.end());
  for (const std::string& rule : rules) {
    const read_outcome kept = read(rule, 1, 1e9, 0, product);
    EXPECT_TRUE(kept.is_kept) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9, 0, product).found, kept.found) << rule;
    if (oracle::is_sanitized) continue;
    for (const unsigned threads : {1U, 3U}) EXPECT_EQ(read(rule, threads, 0, 0, product).found, kept.found) << rule;
  }
  EXPECT_FALSE(read("o(x,y) :- e(z,y), r(x,z).\n", 1, 0, 0, product).is_kept);
}

/// A relation from row-wise evaluation stays words if all later rules can read words.
TEST(matrix_reads, of_words_of_joins_need_no_columns) {
  std::vector<std::string> rules = searching;
  rules.insert(rules.end(), scanning.begin(), scanning.end());
  rules.emplace_back("o(1,n) :- n = count : { r(_,_) }.\n");
  const auto searches_by_value = [](const std::string& rule) {
    const auto has = [&rule](const char* atom) { return rule.find(atom) != std::string::npos; };
    return has("e(z,y), r(x,z)") || has("r(_,y) }") || has("!r(_,x)");
  };
  for (const std::string& rule : rules) {
    const read_outcome kept = read(rule, 1, 1e9, 0, join);
    EXPECT_EQ(kept.is_kept, !searches_by_value(rule)) << rule;
    EXPECT_FALSE(kept.found.empty()) << rule;
    EXPECT_EQ(read(rule, 3, 1e9, 0, join).found, kept.found) << rule;
    EXPECT_EQ(read(rule, 3, 0, 0, join).found, kept.found) << rule;
  }
  for (const char* rule : {"o(x,y) :- r(x,z), r(z,y).\n", "o(x,y) :- e(x,y).\no(x,y) :- o(x,z), r(z,y).\n",
                           "o(x,y) :- e(z,y), r(x,z).\n"}) {
    EXPECT_FALSE(read(rule, 1, 1e9, 0, join).is_kept) << rule;
  }
}

TEST(matrix_reads, of_recursions_get_columns) {
  const read_outcome outcome = read("o(x,y) :- e(x,y).\no(x,y) :- o(x,z), r(z,y), !r(y,x).\n", 1, 1e9);
  EXPECT_FALSE(outcome.is_kept);
  EXPECT_FALSE(outcome.found.empty());
}

}  // namespace
}  // namespace gpulog::exec
