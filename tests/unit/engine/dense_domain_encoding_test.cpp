// Values that are only compared, as numbers: where they are, and that results are those of the values.

#include "engine/rows/dense_domain_encoding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

struct outcome {
  std::multiset<std::string> rows;
  std::vector<std::string> dense_columns;
  std::string set;  ///< of r
};

/// A value too large for a matrix, negative for half of the numbers.
value sparse(std::uint32_t number, unsigned word_size) {
  if (word_size == 64) return static_cast<std::int64_t>(number * 11400714819323198485U);
  return static_cast<std::int32_t>(number * 2654435761U);
}

/// Runs the program with a graph in e: a ring of n nodes with short ways across.
outcome run(const std::string& rules, std::uint32_t n, const std::string& encoding, storage_kind storage,
            unsigned jobs = 1, unsigned word_size = 32, const std::string& rows = "loop") {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"dense-domain-encoding", encoding}, {"rows", rows}};
  options.storage = storage;
  options.jobs = jobs;
  engine running(program::from_text(".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n" + rules,
                                    {.include_directories = {}, .macros = {}, .pragmas = {}, .word_size = word_size}),
                 options);
  relation input = running.relation("e");
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const std::uint32_t step : {1U, 2U, 5U})
      input.insert({sparse(i, word_size), sparse((i + step) % n, word_size)});
  }
  running.evaluate();
  outcome result;
  for (const tuple& row : running.relation("r")) result.rows.insert(row.text(0) + " " + row.text(1));
  result.dense_columns = running.figures().dense_columns;
  for (const relation_statistics& one : running.figures().relations) {
    if (one.name == "r") result.set = one.set;
  }
  return result;
}

const std::string same_generation =
    "r(x,y) :- e(p,x), e(p,y), x != y.\n"
    "r(x,y) :- e(a,x), r(a,b), e(b,y), x != y.\n";

TEST(dense_domain_encoding, makes_room_for_a_matrix_release_only) {
  for (const unsigned word_size : {32U, 64U}) {
    const outcome expected = run(same_generation, 400, "off", storage_kind::automatic, 1, word_size);
    EXPECT_TRUE(expected.dense_columns.empty());
    EXPECT_EQ(expected.set, "hash");
    for (const unsigned jobs : {1U, 3U}) {
      const outcome found = run(same_generation, 400, "auto", storage_kind::automatic, jobs, word_size);
      EXPECT_EQ(found.rows, expected.rows);
      EXPECT_EQ(std::count(found.dense_columns.begin(), found.dense_columns.end(), "r.x"), 1);
      EXPECT_EQ(found.set, "bits");
    }
  }
}

TEST(dense_domain_encoding, not_of_few_rows_and_not_for_other_sets_release_only) {
  EXPECT_TRUE(run(same_generation, 30, "auto", storage_kind::automatic).dense_columns.empty());
  EXPECT_TRUE(run(same_generation, 400, "auto", storage_kind::hash).dense_columns.empty());
  EXPECT_TRUE(run(same_generation, 400, "off", storage_kind::bits).dense_columns.empty());
}

/// Constants of the text that no fact has, order, and a relation without encoding beside it.
TEST(dense_domain_encoding, constants_and_order) {
  const std::string rules =
      "r(x,y) :- e(p,x), e(p,y), x < y, y > -100000, p != 0.\n"
      "r(7,y) :- r(_,y), y <= 123456.\n"
      "r(x,y) :- e(a,x), r(a,b), e(b,y), x < y.\n"
      "r(x,-5) :- e(x,_), !e(-5,x).\n"
      ".decl more(x:number, n:number)\nmore(x, n) :- r(x,_), n = count : { r(x,_) }.\n";
  for (const unsigned word_size : {32U, 64U}) {
    const outcome expected = run(rules, 60, "off", storage_kind::hash, 1, word_size);
    EXPECT_GT(expected.rows.size(), 1000U);
    for (const storage_kind storage :
         {storage_kind::automatic, storage_kind::hash, storage_kind::bits, storage_kind::words, storage_kind::hisa}) {
      const outcome found = run(rules, 60, "on", storage, 1, word_size);
      EXPECT_EQ(found.rows, expected.rows);
      EXPECT_GE(found.dense_columns.size(), 4U);
    }
  }
}

TEST(dense_domain_encoding, constants_of_versions_evaluated_row_by_row) {
  const std::string rules = "r(x,y) :- e(x,y).\nr(x,z) :- r(x,y), r(y,z), x != 1013904226.\n";
  const outcome expected = run(rules, 60, "off", storage_kind::hash, 1, 32, "off");
  EXPECT_EQ(expected.rows.size(), 59U * 60U + 3U);  // node 2 keeps the targets of its 3 facts
  EXPECT_EQ(run(rules, 60, "on", storage_kind::hash, 1, 32, "on").rows, expected.rows);
}

/// Large enough for the engine to choose the encoding and row-wise evaluation by itself.
TEST(dense_domain_encoding, constants_in_the_usual_modes) {
  for (const char* const variable : {"x", "z"}) {
    SCOPED_TRACE(variable);
    const std::string rules =
        std::string("r(x,y) :- e(x,y).\nr(x,z) :- r(x,y), r(y,z), ") + variable + " != 1013904226.\n";
    EXPECT_EQ(run(rules, 400, "auto", storage_kind::automatic).rows.size(), 399U * 400U + 3U);
  }
}

TEST(dense_domain_encoding, texts) {
  const auto run_texts = [](const std::string& encoding) {
    run_options options;
    options.backend = backend_kind::cpu;
    options.tuning = {{"dense-domain-encoding", encoding}, {"rows", "loop"}};  // rows of bits need no set
    engine running(program::from_text(".decl e(x:symbol, y:symbol)\n.decl r(x:symbol, y:symbol)\n"
                                      ".decl long(x:symbol)\nlong(x) :- e(x,_), x != \"none\".\n"
                                      "r(x,y) :- e(x,y), x != \"v3\".\nr(x,y) :- r(x,z), e(z,y).\n"
                                      "r(\"start\", y) :- e(\"v1\", y).\n"),
                   options);
    relation input = running.relation("e");
    for (int i = 0; i < 50; ++i) input.insert({"v" + std::to_string(i), "v" + std::to_string(i * 7 % 50)});
    running.evaluate();
    std::multiset<std::string> rows;
    for (const tuple& row : running.relation("r")) rows.insert(std::string(row.symbol(0)) + " " + row.text(1));
    EXPECT_EQ(running.figures().dense_columns.empty(), encoding == "off");
    return rows;
  };
  EXPECT_EQ(run_texts("on"), run_texts("off"));
}

/// The first order reads few, and whether t has a row; the second reads the rows of t, of which several give one of r.
TEST(dense_domain_encoding, rows_that_repeat_only_in_a_new_order) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"dense-domain-encoding", "on"}, {"reoptimization", "on"}};
  options.storage = storage_kind::bits;
  engine running(program::from_text(".decl few(x:number)\nfew(0). few(1). few(2). few(4).\n"
                                    ".decl many(x:number, y:number)\n"
                                    "many(1,0). many(1,1). many(1,2). many(1,4). many(2,0). many(2,2). many(0,7).\n"
                                    "many(0,8). many(3,7). many(3,8).\n"
                                    ".decl t(s:symbol, x:number, k:number)\n"
                                    "t(\"a\", max(x,0), k) :- few(x), many(y,k), !many(x,x).\n"
                                    "t(\"b\", x, 1) :- few(x).\nt(\"c\", 1, 1).\n"
                                    ".decl r(x:number, y:number)\nr(x, 7) :- few(x), t(_, x, 1).\n"),
                 options);
  running.evaluate();
  std::multiset<std::string> rows;
  for (const tuple& row : running.relation("r")) rows.insert(row.text(0));
  EXPECT_EQ(rows, (std::multiset<std::string>{"0", "1", "2", "4"}));
}

}  // namespace
}  // namespace gpulog
