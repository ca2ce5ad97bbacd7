#include <gtest/gtest.h>

#include <chrono>

#include "evaluated_text.hpp"
#include "oracle/random_program.hpp"

namespace gpulog {
namespace {

using oracle::database;

using lines = std::vector<std::string>;

TEST(naive_evaluator, closes_a_relation_transitively) {
  EXPECT_EQ(result_of(".decl e(x:number, y:number)\ne(1,2). e(2,3). e(3,1).\n.decl t(x:number, y:number)\n"
                      "t(x,y) :- e(x,y).\nt(x,z) :- t(x,y), e(y,z).\n",
                      "t")
                .size(),
            9u);
}

TEST(naive_evaluator, agrees_with_a_breadth_first_search_on_random_graphs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint32_t nodes = 12;
    const auto edges = oracle::make_random_graph(seed, nodes, 20);
    const analysed_text text(
        ".decl e(x:number, y:number)\n.decl t(x:number, y:number)\n"
        "t(x,y) :- e(x,y).\nt(x,z) :- t(x,y), t(y,z).\n");
    ASSERT_TRUE(text.accepted());
    database data(*text.program);
    for (const auto& [from, to] : edges) data[text.relation("e")].insert({from, to});
    oracle::evaluate(*text.program, data);
    std::set<std::vector<wide_word>> expected;
    for (std::uint32_t start = 0; start < nodes; ++start) {
      std::vector<std::uint32_t> frontier = {start};
      while (!frontier.empty()) {
        const std::uint32_t node = frontier.back();
        frontier.pop_back();
        for (const auto& [from, to] : edges) {
          if (from == node && expected.insert({start, to}).second) frontier.push_back(to);
        }
      }
    }
    EXPECT_EQ(data[text.relation("t")], expected) << "seed " << seed;
  }
}

TEST(naive_evaluator, computes_as_the_language_says) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"3 + 2147483647", "-2147483646"},
                                                                  {"2147483647 * 2", "-2"},
                                                                  {"-7 / 3", "-2"},
                                                                  {"-7 % 3", "-1"},
                                                                  {"3 ^ 30", "-2147483648"},
                                                                  {"-2 ^ 2", "-4"},
                                                                  {"2 ^ 3 ^ 2", "512"},
                                                                  {"1 bshl 33", "2"},
                                                                  {"-8 bshr 1", "-4"},
                                                                  {"-8 bshru 1", "2147483644"},
                                                                  {"5 land 3", "1"},
                                                                  {"5 lxor 3", "0"},
                                                                  {"lnot 5", "0"},
                                                                  {"bnot 5", "-6"},
                                                                  {"to_number(\"0x1F\")", "31"},
                                                                  {"to_number(1.0 - 4.75)", "-3"},
                                                                  {"max(1, -5, 3)", "3"},
                                                                  {"strlen(cat(\"ab\", \"c\", \"d\"))", "4"},
                                                                  {"strlen(cat(\"ab\"))", "2"},
                                                                  {"to_number(to_unsigned(-1) / 2)", "2147483647"},
                                                                  {"index_of(\"a.b.c\", \".\", 2)", "3"},
                                                                  {"index_of(\"a.b.c\", \"x\")", "-1"},
                                                                  {"starts_with(\"abc\", \"ab\")", "1"},
                                                                  {"ends_with(\"abc\", \"ab\")", "0"},
                                                                  {"ord(\"b\") - ord(\"b\")", "0"}};
  for (const auto& [expression, value] : cases) {
    EXPECT_EQ(result_of(".decl r(x:number)\nr(" + expression + ").\n", "r"), lines{value}) << expression;
  }
  EXPECT_EQ(result_of(".decl r(x:symbol)\nr(substr(\"abcdef\", 2, 3)).\n", "r"), lines{"cde"});
  EXPECT_EQ(result_of(".decl r(x:symbol)\nr(substr(\"abc\", 5, 1)).\n", "r"), lines{""});
  EXPECT_EQ(result_of(".decl r(x:symbol)\nr(to_string(0.1)).\n", "r"), lines{"0.100000"});
  EXPECT_EQ(result_of(".decl r(x:unsigned)\nr(0u - 1).\n", "r"), lines{"4294967295"});
  const std::string text = ".decl r(x:symbol)\nr(";
  EXPECT_EQ(result_of(text + "split(\"a--b-\", \"-\", i)) :- i > 0.\n", "r"), (lines{"", "b"}));
  EXPECT_EQ(result_of(text + "replace(trim(\" a.b\"), \".\", \"::\")).\n", "r"), lines{"a::b"});
  EXPECT_EQ(result_of(text + "cat(to_lower(\"aB\"), to_upper(\"aB\"))).\n", "r"), lines{"abAB"});
  EXPECT_EQ(result_of(text + "format(\"{{{}}} {}{}\", \"a\", 2u, 0 - 1)).\n", "r"), lines{"{a} 2-1"});
}

TEST(naive_evaluator, reports_what_cannot_be_computed) {
  const auto evaluate = [](const std::string& value) {
    return result_of(".decl n(x:number)\nn(0).\n.decl r(x:number)\nr(" + value + ") :- n(x).\n", "r");
  };
  EXPECT_THROW(evaluate("1 / x"), oracle::evaluation_error);
  EXPECT_THROW(evaluate("1 % x"), oracle::evaluation_error);
  EXPECT_THROW(evaluate("-2147483648 / (x - 1)"), oracle::evaluation_error);
  EXPECT_THROW(evaluate("to_number(\"zz\") + x"), oracle::evaluation_error);
}

TEST(naive_evaluator, tests_before_it_divides) {
  EXPECT_EQ(result_of(".decl n(x:number)\nn(0). n(2).\n.decl r(x:number)\nr(y) :- n(x), y = 8 / x, x != 0.\n", "r"),
            lines{"4"});
}

TEST(naive_evaluator, wildcards_under_negation_mean_for_no_value) {
  EXPECT_EQ(
      result_of(".decl e(x:number, y:number)\ne(1,2). e(2,3).\n.decl r(x:number)\nr(x) :- e(_,x), !e(x,_).\n", "r"),
      lines{"3"});
}

TEST(naive_evaluator, writes_the_empty_tuple_and_texts) {
  EXPECT_EQ(result_of(".decl r()\nr() :- true.\n", "r"), lines{"()"});
  EXPECT_EQ(result_of(".decl r(x:symbol, y:float)\nr(\"a\", 0.5).\n", "r"), lines{"a\t0.5"});
}

TEST(random_programs, are_accepted_and_terminate) {
  std::size_t derived = 0;
  std::size_t recursive = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const oracle::random_program made = oracle::make_random_program(seed);
    const analysed_text text(made.text);
    ASSERT_TRUE(text.accepted()) << "seed " << seed << "\n" << made.text << text.report.to_string();
    EXPECT_EQ(text.program->relations.size(), made.relations.size());
    database data(*text.program);
    oracle::evaluate(*text.program, data);
    for (const sema::stratum& stratum : text.program->strata) {
      recursive += stratum.recursive ? 1 : 0;
      for (const rule_id id : stratum.rules) derived += data[(*text.program)[id].head.relation].empty() ? 0 : 1;
    }
  }
  // The generator is worth its name only when most rules derive something.
  EXPECT_GT(derived, 1000u);
  EXPECT_GT(recursive, 100u);
}

TEST(random_programs, are_the_same_for_the_same_seed) {
  EXPECT_EQ(oracle::make_random_program(7).text, oracle::make_random_program(7).text);
  EXPECT_NE(oracle::make_random_program(7).text, oracle::make_random_program(8).text);
}

TEST(random_graphs, have_the_edges_asked_for) {
  const auto edges = oracle::make_random_graph(3, 10, 30);
  EXPECT_EQ(edges.size(), 30u);
  for (const auto& [from, to] : edges) EXPECT_TRUE(from < 10 && to < 10);
  EXPECT_EQ(oracle::make_random_graph(3, 2, 100).size(), 4u);
  EXPECT_TRUE(oracle::make_random_graph(3, 0, 5).empty());
}

}  // namespace
}  // namespace gpulog
