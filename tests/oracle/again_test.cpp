// Engines that are evaluated again after facts were inserted and erased, against the naive evaluator from scratch:
// random programs, random batches.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/changes_comparison.hpp"
#include "oracle/engine_comparison.hpp"
#include "oracle/facts_from_scratch.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

/// Evaluates at first and after each of some batches, sometimes in a second engine. Some batches erase rows, mostly
/// from relations without rules.
/// @param compared and changed; empty: all relations
void expect_same_again(const std::string& text, std::uint64_t seed, const mode& how,
                       word_size words = word_size::bits32, const std::set<std::string>& compared = {}) {
  SCOPED_TRACE(std::string(how.name) + "\n" + text);
  facts_from_scratch facts(text, words);
  ASSERT_TRUE(facts.accepted());
  std::mt19937_64 random(seed);
  const bool continues = random() % 4 != 0;
  run_options options;
  options.changes = random() % 2 == 0;
  const auto make = [&] { return engine_of(text, how, words, continues, options); };
  engine running = make();
  std::map<std::string, row_texts> before;
  const auto relations = static_cast<std::uint32_t>(facts.analysed().relations.size());
  const bool only_insertions = random() % 2 == 0;
  for (int batch = 0; batch < 4; ++batch) {
    if (batch > 0) {
      if (random() % 3 == 0) running = restored(std::move(running), make());
      for (std::uint64_t change = 1 + random() % 5; change > 0; --change) {
        const auto base = static_cast<std::uint32_t>(random() % 3);
        std::uint32_t number = random() % 4 != 0 ? base : static_cast<std::uint32_t>(random() % relations);
        if (!compared.empty() && !compared.contains(facts.analysed().relations[number].name)) number = base;
        relation changed = running.relation(facts.analysed().relations[number].name);
        std::set<fact>& rows = facts.of(number);
        if (!only_insertions && random() % 3 == 0 && !rows.empty()) {
          const fact row = *std::next(rows.begin(), static_cast<std::ptrdiff_t>(random() % rows.size()));
          changed.erase(row);
          rows.erase(row);
        } else {
          const fact row = facts.random_row(number, random);
          changed.insert(row);
          rows.insert(row);
        }
      }
    }
    running.evaluate();
    const std::string where = "batch " + std::to_string(batch);
    expect_results(running, facts, where, compared);
    if (options.changes) expect_changes(running, before, where, compared);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_random_programs(std::uint64_t count, const oracle::random_program_options& options,
                            const std::vector<mode>& ways) {
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same_again(oracle::make_random_program(seed, options).text, seed, ways[seed % ways.size()],
                      options.wide_numbers ? word_size::bits64 : word_size::bits32);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Relations of strata that went on in the last evaluation.
std::set<std::string> continued_relations(const engine& running) {
  std::set<std::string> found;
  for (const stratum_statistics& stratum : running.figures().strata) {
    if (stratum.continued) found.insert(stratum.relations.begin(), stratum.relations.end());
  }
  return found;
}

/// Many edges, then a further edge.
engine engine_after_an_edge(const std::string& rules, bool continues) {
  const std::string text = ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl s(x:number)\n" + rules;
  engine running = engine_of(text, modes.front(), word_size::bits32, continues);
  relation edges_of_run = running.relation("e");
  for (std::int32_t node = 0; node < 40; ++node) edges_of_run.insert({node, node + 1});
  running.evaluate();
  EXPECT_TRUE(continued_relations(running).empty());
  edges_of_run.insert({std::int32_t{41}, std::int32_t{42}});
  running.evaluate();
  return running;
}

const char* const closure = "r(x,y) :- e(x,y).\nr(x,z) :- r(x,y), e(y,z).\n";

TEST(again, what_only_grows_goes_on) {
  engine running = engine_after_an_edge(closure + std::string("s(x) :- r(x,42).\n"), true);
  const std::set<std::string> all = {"e", "r", "s"};
  EXPECT_EQ(continued_relations(running), all);
  EXPECT_EQ(running.relation("s").size(), 1U);
  running.relation("e").insert({std::int32_t{40}, std::int32_t{41}});
  running.evaluate();
  EXPECT_EQ(continued_relations(running), all);
  EXPECT_EQ(running.relation("s").size(), 42U);
  EXPECT_EQ(running.relation("r").size(), 42U * 43U / 2);
}

TEST(again, what_may_shrink_begins_anew) {
  engine running = engine_after_an_edge(closure + std::string("s(x) :- e(x,_), !r(x,42).\n"), true);
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"e", "r"}));
  EXPECT_EQ(running.relation("s").size(), 40U);
  running.relation("e").insert({std::int32_t{40}, std::int32_t{41}});
  running.evaluate();
  EXPECT_EQ(running.relation("s").size(), 0U);
  running.relation("e").erase({std::int32_t{40}, std::int32_t{41}});
  running.evaluate();
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"e", "r"}));
  EXPECT_EQ(running.relation("s").size(), 40U);
}

/// Tuples with another derivation stay, also in cycles, and a fact can be erased and inserted at once.
TEST(again, erased_facts_go_on) {
  engine running = engine_after_an_edge(closure + std::string("s(x + 1) :- r(x,x), x < 5.\n"), true);
  const std::set<std::string> all = {"e", "r", "s"};
  relation edges = running.relation("e");
  const auto row = [](std::int32_t x, std::int32_t y) { return std::vector<value>{x, y}; };
  edges.insert(row(3, 0));  // a cycle of 0, 1, 2 and 3
  edges.insert(row(0, 2));
  running.evaluate();
  const std::uint64_t before = running.relation("r").size();
  EXPECT_EQ(running.relation("s").size(), 4U);
  edges.erase(row(1, 2));  // 0 reaches 2 without this edge, but 1 reaches nothing
  running.evaluate();
  EXPECT_EQ(continued_relations(running), all);
  EXPECT_EQ(running.relation("r").size(), before - 41);
  EXPECT_EQ(running.relation("s").size(), 3U);
  EXPECT_FALSE(running.relation("r").contains(row(1, 2)));
  EXPECT_TRUE(running.relation("r").contains(row(2, 1)));
  edges.insert(row(1, 2));
  running.evaluate();
  EXPECT_EQ(running.relation("r").size(), before);
  edges.erase(row(1, 2));
  edges.insert(row(1, 2));  // stays
  edges.insert(row(50, 51));
  edges.erase(row(50, 51));
  edges.erase(row(60, 61));  // never existed
  running.evaluate();
  EXPECT_EQ(running.relation("r").size(), before);
  for (std::int32_t node = 0; node < 40; ++node) edges.erase(row(node, node + 1));
  running.evaluate();
  EXPECT_EQ(continued_relations(running), all);
  EXPECT_EQ(running.relation("r").size(), 4U);  // 3 to 0 to 2, and 41 to 42
  EXPECT_EQ(running.relation("s").size(), 0U);
  edges.insert(row(2, 3));
  running.evaluate();
  EXPECT_EQ(running.relation("r").size(), 10U);
}

/// A relation that is evaluated from its start because it lost facts keeps the facts inserted with that loss, while
/// relations that an earlier deletion has taken over continue.
TEST(again, insertions_beside_deletions_from_the_start) {
  engine running = engine_of(
      ".decl a(x:number)\na(1). a(2).\n.decl b(x:number)\nb(1). b(2).\n.decl c(x:number)\nc(1).\n"
      ".decl r(x:number)\nr(x) :- a(x).\n",
      modes.front(), word_size::bits32, true);
  running.evaluate();
  const auto row = [](std::int32_t x) { return std::vector<value>{x}; };
  running.relation("b").erase(row(2));
  running.evaluate();
  EXPECT_EQ(continued_relations(running), std::set<std::string>{"b"});
  running.relation("a").erase(row(1));
  running.relation("a").insert(row(1));
  running.relation("a").insert(row(3));
  running.relation("b").insert(row(3));
  running.relation("c").insert(row(2));
  running.relation("r").insert(row(5));  // a fact beside rules: deletions from `a` do not continue
  running.evaluate();
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"b", "c"}));
  const auto rows = [&running](const char* name) { return rows_of(running.relation(name)); };
  EXPECT_EQ(rows("a"), (row_texts{{"1"}, {"2"}, {"3"}}));
  EXPECT_EQ(rows("b"), (row_texts{{"1"}, {"3"}}));
  EXPECT_EQ(rows("c"), (row_texts{{"1"}, {"2"}}));
  EXPECT_EQ(rows("r"), (row_texts{{"1"}, {"2"}, {"3"}, {"5"}}));
}

/// Facts beside rules, aggregates, equivalences and records in heads: their strata are evaluated from their start.
TEST(again, what_cannot_search_derivations_begins_anew) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases = {
      {"r(7,7).\nr(x,y) :- e(x,y).\ns(x) :- r(x,42).\n", 41},
      {"r(x,n) :- e(x,_), n = count : { e(x,_) }.\ns(x) :- r(x,1).\n", 40},
      {".decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y).\nr(x,y) :- q(x,y).\ns(x) :- r(x,42).\n",
       4 * 4 + 37 * 37 + 2 * 2},
      {".type pair = [x:number, y:number]\n.decl p(p:pair)\np([x,y]) :- e(x,y).\nr(x,y) :- p([x,y]).\n"
       "s(x) :- r(x,42).\n",
       40}};
  for (const auto& [rules, rows] : cases) {
    SCOPED_TRACE(rules);
    engine running = engine_after_an_edge(rules, true);
    running.relation("e").erase({std::int32_t{3}, std::int32_t{4}});
    running.evaluate();
    EXPECT_FALSE(continued_relations(running).contains("r"));
    EXPECT_EQ(running.relation("r").size(), rows);
  }
}

/// A deletion that reaches more than half of the tuples is abandoned, however long an evaluation from scratch takes:
/// the strata are evaluated from their start.
TEST(again, large_deletions_begin_anew) {
  engine running = engine_of(".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n" + std::string(closure),
                             modes.front(), word_size::bits32, true);
  constexpr std::int32_t nodes = 3000;
  relation edges = running.relation("e");
  for (std::int32_t node = 0; node < nodes; ++node) edges.insert({node, node + 1});
  running.evaluate();
  edges.erase({nodes / 3, nodes / 3 + 1});
  edges.erase({nodes / 3 * 2, nodes / 3 * 2 + 1});
  running.evaluate();
  EXPECT_TRUE(continued_relations(running).empty());
  const auto chain = [](std::uint64_t length) { return length * (length + 1) / 2; };
  EXPECT_EQ(running.relation("r").size(), chain(nodes / 3) + 2 * chain(nodes / 3 - 1));
  edges.erase({std::int32_t{0}, std::int32_t{1}});
  running.evaluate();
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"e", "r"}));
  EXPECT_EQ(running.relation("r").size(), chain(nodes / 3 - 1) * 3);
}

/// Equivalence classes of inserted pairs, and rules that read the classes.
TEST(again, equivalences_go_on) {
  const std::string rules =
      ".decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y).\nr(x,y) :- e(x,y).\ns(x) :- q(x,42).\n";
  engine running = engine_after_an_edge(rules, true);
  EXPECT_TRUE(continued_relations(running).contains("q"));
  EXPECT_EQ(running.relation("q").size(), 41U * 41U + 4U);
  EXPECT_TRUE(running.relation("q").contains({std::int32_t{42}, std::int32_t{41}}));
  EXPECT_EQ(running.relation("s").size(), 2U);
  running.relation("e").insert({std::int32_t{41}, std::int32_t{7}});
  running.evaluate();
  EXPECT_TRUE(continued_relations(running).contains("q"));
  EXPECT_EQ(running.relation("q").size(), 43U * 43U);
  EXPECT_TRUE(running.relation("q").contains({std::int32_t{0}, std::int32_t{42}}));
  EXPECT_EQ(running.relation("s").size(), 43U);
}

/// Least distances, greatest capacities, and counts that a recursion compares with a bound.
const char* const aggregating =
    ".decl e(x:number, y:number, w:number)\n.decl s(x:number)\n.decl n(x:number)\n"
    ".decl d(y:number, w:number)\nd(x, 0) :- s(x).\nd(y, v) :- n(y), v = min c + w : { d(x, c), e(x, y, w) }.\n"
    ".decl c(y:number, w:number)\nc(x, 5) :- s(x).\nc(y, v) :- n(y), v = max min(a, w) : { c(x, a), e(x, y, w) }.\n"
    ".decl j(x:number)\nj(x) :- s(x).\nj(x) :- n(x), 2 <= count : { e(y, x, _), j(y) }.\n"
    ".decl far(y:number)\nfar(y) :- d(y, w), w > 3.\n.decl t(x:number, y:number)\nt(x, y) :- j(x), j(y), e(x, y, _).\n";

/// The same count with names for all columns, and a sum.
const char* const counting =
    ".decl e(x:number, y:number, w:number)\n.decl s(x:number)\n.decl n(x:number)\n"
    ".decl j(x:number)\nj(x) :- s(x).\nj(x) :- n(x), 2 <= count : { e(y, x, w), j(y), !n(w) }.\n"
    ".decl k(x:number)\nk(x) :- s(x).\nk(x) :- n(x), 5 < sum w : { e(y, x, w), w > 0, k(y) }.\n"
    ".decl u(x:number)\nu(x) :- s(x).\nu(x) :- n(x), 2 <= count : { e(y, x, w), u(y) }.\n";

TEST(again, recursive_counts) {
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same_again(counting, seed, modes[seed % modes.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(again, recursive_aggregates) {
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same_again(aggregating, seed, modes[seed % modes.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(again, recursive_aggregates_go_on) {
  engine running = engine_of(aggregating, modes.front(), word_size::bits32, true);
  const auto row = [](std::int32_t x, std::int32_t y, std::int32_t w) { return std::vector<value>{x, y, w}; };
  for (std::int32_t node = 0; node < 40; ++node) {
    running.relation("n").insert({node});
    running.relation("e").insert(row(node, node + 1, 3));
  }
  running.relation("s").insert({std::int32_t{0}});
  running.evaluate();
  EXPECT_TRUE(running.relation("d").contains({std::int32_t{39}, std::int32_t{117}}));
  running.relation("e").insert(row(0, 30, 7));
  running.evaluate();
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"e", "d", "c"}));
  EXPECT_EQ(running.relation("d").size(), 40U);
  EXPECT_TRUE(running.relation("d").contains({std::int32_t{39}, std::int32_t{34}}));
  EXPECT_FALSE(running.relation("d").contains({std::int32_t{39}, std::int32_t{117}}));
  EXPECT_EQ(running.relation("far").size(), 38U);
}

/// autoinc() would give different numbers.
TEST(again, counters_begin_anew) {
  engine running = engine_after_an_edge(closure + std::string("s(autoinc()) :- r(x,42).\n"), true);
  EXPECT_EQ(continued_relations(running), (std::set<std::string>{"e", "r"}));
  EXPECT_EQ(running.relation("s").size(), 1U);
}

/// Recursions that were planned again while they ran, and results that are kept as words or factorized, go on.
TEST(again, whatever_the_first_evaluation_was) {
  const std::string text = ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n" + std::string(closure) +
                           ".decl g(x:number, y:number)\ng(x,y) :- e(z,x), e(z,y).\n"
                           "g(x,w) :- e(y,x), g(y,z), e(z,w).\n";
  std::vector<mode> ways = modes;
  if (no_gpu().empty()) ways.insert(ways.end(), gpu_modes.begin(), gpu_modes.end());
  for (std::size_t way = 0; way < ways.size(); way += oracle::is_sanitized ? 3 : 1) {
    const mode& how = ways[way];
    SCOPED_TRACE(how.name);
    facts_from_scratch facts(text, word_size::bits32);
    engine running = engine_of(text, how, word_size::bits32, true);
    constexpr std::uint32_t nodes = oracle::is_sanitized ? 20 : 40;
    constexpr std::size_t batch = nodes / 2;
    const auto graph = oracle::make_random_graph(5, nodes, 5 * batch);
    for (std::size_t number = 0; number < graph.size(); ++number) {
      const fact row = {static_cast<std::int32_t>(graph[number].first),
                        static_cast<std::int32_t>(graph[number].second)};
      running.relation("e").insert(row);
      facts.of(0).insert(row);
      if (number % batch != batch - 1) continue;
      running.evaluate();
      expect_results(running, facts, "after " + std::to_string(number + 1) + " edges");
      const bool is_first = number == batch - 1;
      EXPECT_EQ(continued_relations(running).empty(), is_first || how.backend == backend_kind::gpu);
    }
  }
}

/// Heights of proofs are the lengths of shortest paths, regardless of the order of insertions.
TEST(again, proofs_are_those_of_what_is_there) {
  for (const char* const continuation : {"on", "auto", "off"}) {
    SCOPED_TRACE(continuation);
    run_options options;
    options.proofs = true;
    options.tuning["continuation"] = continuation;
    engine running(
        program::from_text(".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n" + std::string(closure)),
        options);
    const auto height = [&](const std::string& tuple) {
      const auto found = running.why(tuple);
      return found ? found->height : std::uint64_t{0};
    };
    for (std::int32_t node = 0; node < 20; ++node) running.relation("e").insert({node, node + 1});
    running.evaluate();
    EXPECT_EQ(height("r(0, 20)"), 20U);
    EXPECT_EQ(height("r(0, 30)"), 0U);
    running.relation("e").insert({std::int32_t{20}, std::int32_t{30}});
    running.evaluate();
    EXPECT_EQ(height("r(0, 30)"), 21U);
    running.relation("e").insert({std::int32_t{2}, std::int32_t{18}});
    running.evaluate();
    EXPECT_EQ(height("r(0, 30)"), 6U);
    EXPECT_EQ(running.why("r(0, 18)")->premises.size(), 2U);
    running.relation("e").erase({std::int32_t{20}, std::int32_t{30}});
    running.evaluate();
    EXPECT_EQ(height("r(0, 30)"), 0U);
    EXPECT_EQ(height("r(0, 20)"), 5U);
  }
}

/// Ends evaluations at some point, now and then.
struct interruption {
  run_options options() {
    run_options made;
    made.cancelled = &is_wanted;
    made.on_progress = [this](const progress&) {
      if (calls_left > 0 && --calls_left == 0) is_wanted = true;
    };
    return made;
  }

  std::atomic<bool> is_wanted = false;
  std::uint64_t calls_left = 0;
};

/// Replaces the facts of a reset engine, which are the facts of the text.
void insert_all(engine& running, facts_from_scratch& facts, const std::string& text, word_size words) {
  facts_from_scratch of_text(text, words);
  for (std::uint32_t number = 0; number < facts.analysed().relations.size(); ++number) {
    relation filled = running.relation(facts.analysed().relations[number].name);
    for (const fact& row : of_text.of(number)) {
      if (!facts.of(number).contains(row)) filled.erase(row);
    }
    for (const fact& row : facts.of(number)) filled.insert(row);
  }
}

/// As expect_same_again, with evaluations that are cancelled: the engine is reset and filled then.
void expect_same_after_interruptions(const std::string& text, std::uint64_t seed, const mode& how) {
  SCOPED_TRACE(std::string(how.name) + "\n" + text);
  facts_from_scratch facts(text, word_size::bits32);
  ASSERT_TRUE(facts.accepted());
  std::mt19937_64 random(seed);
  interruption interrupted;
  engine running = engine_of(text, how, word_size::bits32, true, interrupted.options());
  for (int batch = 0; batch < 5; ++batch) {
    for (std::uint64_t change = random() % 4; change > 0; --change) {
      const auto number = static_cast<std::uint32_t>(random() % 3);
      const fact row = facts.random_row(number, random);
      running.relation(facts.analysed().relations[number].name).insert(row);
      facts.of(number).insert(row);
    }
    const std::uint64_t when = random() % 4;
    interrupted.is_wanted = when == 1;
    interrupted.calls_left = when == 2 ? 1 + random() % 5 : 0;
    try {
      running.evaluate();
    } catch (const cancelled_error&) {
      EXPECT_THROW(running.evaluate(), input_error);
      EXPECT_THROW(running.relations().front().insert(facts.random_row(0, random)), input_error);
      running.reset();
      interrupted.is_wanted = false;
      interrupted.calls_left = 0;
      insert_all(running, facts, text, word_size::bits32);
      running.evaluate();
    }
    interrupted.is_wanted = false;
    expect_results(running, facts, "batch " + std::to_string(batch));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(again, random_programs_after_interruptions) {
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    oracle::random_program_options options;
    options.equivalences = seed % 3 == 0 ? 60 : 0;
    const bool aggregates = seed % 5 == 0;
    expect_same_after_interruptions(aggregates ? aggregating : oracle::make_random_program(seed, options).text, seed,
                                    modes[seed % modes.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// A rule that fails on some rows: the engine is reset, as after an interruption.
TEST(again, an_evaluation_that_fails_again_and_again) {
  const std::string text = ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl q(x:number)\n" +
                           std::string(closure) + "q(x / y) :- r(x, y).\n";
  for (const mode& how : modes) {
    SCOPED_TRACE(how.name);
    engine running = engine_of(text, how, word_size::bits32, true);
    for (std::int32_t turn = 1; turn < 4; ++turn) {
      relation edges_of_run = running.relation("e");
      for (std::int32_t node = 1; node < 30; ++node) edges_of_run.insert({node, node + turn});
      running.evaluate();
      const auto before = rows_of(running.relation("r"));
      edges_of_run.insert({std::int32_t{29}, std::int32_t{0}});
      EXPECT_THROW(running.evaluate(), evaluation_error);
      EXPECT_THROW(running.evaluate(), input_error);
      running.reset();
      EXPECT_EQ(running.relation("r").size(), 0U);
      for (std::int32_t node = 1; node < 30; ++node) edges_of_run.insert({node, node + turn});
      running.evaluate();
      EXPECT_EQ(rows_of(running.relation("r")), before);
      running.reset();
    }
  }
}

/// Records, branches and lists that rules make and take apart, with recursions through them.
const char* const making_records =
    ".type P = [x:number, y:number]\n.type L = [head:number, tail:L]\n.type T = A {x:number} | B {p:P} | C {}\n"
    ".decl e(x:number, y:number)\n.decl s(x:number)\n.decl n(x:number)\n"
    ".decl p(p:P)\np([x, y]) :- e(x, y).\np([x, z]) :- p([x, y]), p([y, z]).\n"
    ".decl l(l:L, k:number)\nl([x, nil], 1) :- s(x).\nl([y, [x, t]], k + 1) :- l([x, t], k), e(x, y), k < 4.\n"
    ".decl t(t:T)\nt($A(x)) :- s(x).\nt($B([x, y])) :- t($A(x)), p([x, y]).\nt($A(y)) :- t($B([_, y])).\n"
    ".decl o(x:number)\no(x) :- n(x), !t($A(x)).\nt($C()) :- n(_).\n"
    ".decl r(x:number, y:number)\nr(x, y) :- p([x, y]), !t($B([x, y])).\n"
    ".decl m(x:number, k:number)\nm(x, k) :- l([x, _], k), t($A(x)).\n"
    ".decl c(k:number)\nc(k) :- k = count : { l(_, _) }.\n";

TEST(again, records) {
  // The naive evaluator gives records different numbers.
  const std::set<std::string> without_records = {"e", "s", "n", "o", "r", "m", "c"};
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(200); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same_again(making_records, seed, modes[seed % modes.size()], word_size::bits32, without_records);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(again, random_programs) { expect_random_programs(oracle::programs_to_try(750), {}, modes); }

/// A relation loses a fact beside a continuation that holds the relation, and is recomputed.
TEST(again, changes_of_a_recomputed_relation_beside_a_continuation) {
  constexpr std::uint64_t seed = 12671000143;
  expect_same_again(oracle::make_random_program(seed, {}).text, seed, modes[seed % modes.size()]);
}

TEST(again, random_programs_with_equivalences) {
  expect_random_programs(oracle::programs_to_try(200), {.base_relations = 4, .largest_arity = 3, .equivalences = 60},
                         modes);
}

TEST(again, random_programs_that_fall_apart) {
  expect_random_programs(oracle::programs_to_try(200), {.passages = 70}, modes);
}

TEST(again, random_programs_of_wide_words) {
  expect_random_programs(oracle::programs_to_try(150), {.wide_numbers = true}, modes);
}

TEST(again, random_programs_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  expect_random_programs(programs_for_gpu(400), {}, gpu_modes);
}

}  // namespace
}  // namespace gpulog
