#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "gpulog/engine.hpp"
#include "oracle/engine_comparison.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

/// Proofs of random programs: each tuple has one, what it says is so, and heights are least.
namespace gpulog {
namespace {

run_options options_of(const mode& how) {
  run_options options;
  options.backend = how.backend;
  options.storage = how.storage;
  options.jobs = how.jobs;
  options.tuning = how.tuning;
  options.proofs = true;
  return options;
}

/// Facts have height 0, and a derived tuple is one higher than its highest premise, which is there.
void check(engine& run, const proof& shown) {
  ASSERT_NE(shown.what, proof::kind::unknown) << shown.text << ": " << shown.note;
  if (shown.what == proof::kind::condition) return;
  ASSERT_TRUE(run.why(shown.text)) << shown.text;
  if (shown.what != proof::kind::derived) return;
  std::uint64_t highest = 0;
  for (const proof& premise : shown.premises) {
    if (premise.what == proof::kind::condition) continue;
    highest = std::max(highest, premise.height);
    check(run, premise);
  }
  EXPECT_EQ(shown.height, highest + 1) << to_text(shown);
}

std::string text_of(const tuple& row, const relation& of) {
  std::string text = of.name() + "(";
  const auto attributes = of.attributes();
  for (std::size_t column = 0; column < row.size(); ++column) {
    const bool is_symbol = attributes[column].type == "symbol";
    text += (column > 0 ? ", " : "") + (is_symbol ? "\"" + row.text(column) + "\"" : row.text(column));
  }
  return text + ")";
}

/// Heights of all tuples by their texts.
std::map<std::string, std::uint64_t> heights_of(const std::string& text, const mode& how) {
  engine run(program::from_text(text, {.warnings = false}), options_of(how));
  run.evaluate();
  std::map<std::string, std::uint64_t> heights;
  for (const relation& one : run.relations()) {
    std::size_t left = 20;
    std::set<std::string> tuples;
    for (const tuple& row : one) tuples.insert(text_of(row, one));
    for (const std::string& name : tuples) {
      if (left-- == 0) break;
      const auto found = run.why(name, 6);
      EXPECT_TRUE(found) << name;
      if (!found) continue;
      check(run, *found);
      heights[name] = found->height;
    }
  }
  return heights;
}

TEST(proofs_of_random_programs, are_sound_and_the_same_in_all_ways) {
  const std::uint64_t first = oracle::first_seed(7000);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(40); ++seed) {
    SCOPED_TRACE("GPULOG_RANDOM_SEED=" + std::to_string(seed));
    const oracle::random_program made = oracle::make_random_program(seed, {.equivalences = 20});
    const auto expected = heights_of(made.text, modes.front());
    EXPECT_EQ(heights_of(made.text, {storage_kind::hisa, 2, "hisa -j2"}), expected) << made.text;
    EXPECT_EQ(heights_of(made.text, {storage_kind::bits, 2, "bits -j2"}), expected) << made.text;
    if (testing::Test::HasFailure()) return;
  }
}

/// The heights of paths are the numbers of edges of shortest ones.
TEST(proofs, are_of_least_height) {
  const auto graph = oracle::make_random_graph(3, 40, 90);
  std::string text = ".decl e(x:number, y:number)\n.decl p(x:number, y:number)\n";
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lengths;
  for (const auto& [from, to] : graph) {
    text += "e(" + std::to_string(from) + ", " + std::to_string(to) + ").\n";
    lengths[{from, to}] = 1;
  }
  text += "p(x, y) :- e(x, y).\np(x, z) :- p(x, y), e(y, z).\n";
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const auto& [pair, length] : std::map(lengths)) {
      for (const auto& [from, to] : graph) {
        if (from != pair.second) continue;
        const auto [found, inserted] = lengths.try_emplace({pair.first, to}, length + 1);
        is_new = is_new || inserted || length + 1 < found->second;
        found->second = std::min(found->second, length + 1);
      }
    }
  }
  engine run(program::from_text(text), options_of(modes.front()));
  run.evaluate();
  EXPECT_EQ(run.relation("p").size(), lengths.size());
  for (const auto& [pair, length] : lengths) {
    const auto found = run.why("p(" + std::to_string(pair.first) + ", " + std::to_string(pair.second) + ")");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->height, length);
    EXPECT_TRUE(found->is_least);
  }
}

std::optional<proof> why(const std::string& text, const std::string& tuple) {
  engine run(program::from_text(text, {.warnings = false}), options_of(modes.front()));
  run.evaluate();
  return run.why(tuple);
}

TEST(proofs, show_what_else_a_rule_says) {
  const auto found =
      why(".decl a(x:number, s:symbol)\n.decl r(x:number, n:number, s:symbol)\na(1, \"u\"). a(2, \"v\"). a(5, \"w\").\n"
          "r(x + 1, n, cat(s, \"!\")) :- a(x, s), x > 1, !a(x, \"u\"), n = count : { a(_, _) }.\n",
          "r(3, 3, \"v!\")");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_text(*found),
            "a(2, \"v\") 2 > 1 !a(2, \"u\") 3 = count : { a(_,_) }\n"
            "----------------------------------------------(R1)\n"
            "                  r(3, 3, \"v!\")\n");
}

TEST(proofs, of_records_choice_and_subsumption) {
  EXPECT_EQ(why(".type L = [h:number, t:L]\n.decl l(x:L)\nl(nil).\nl([1, x]) :- l(x), x = nil.\n", "l([1, nil])")
                ->premises.front()
                .text,
            "l(nil)");
  EXPECT_EQ(why(".decl a(x:number, y:number)\na(1,2). a(1,3).\n.decl c(x:number, y:number) choice-domain x\n"
                "c(x,y) :- a(x,y).\n",
                "c(1, 2)")
                ->premises.front()
                .text,
            "a(1, 2)");
  const std::string distances =
      ".decl e(x:number, y:number, w:number)\ne(1,2,5). e(2,3,1). e(1,3,9).\n.decl d(y:number, w:number)\nd(1, 0).\n"
      "d(y, v + w) :- d(x, v), e(x, y, w).\nd(y, a) <= d(y, b) :- b < a.\n";
  EXPECT_EQ(why(distances, "d(3, 6)")->height, 2);
  EXPECT_FALSE(why(distances, "d(3, 9)"));
}

TEST(proofs, are_not_shown_where_there_are_none) {
  const auto found = why(
      ".decl a(x:number)\n.decl l(x:number) \na(1). a(2).\n.decl q(x:number)\nq(1).\nq(x) :- q(y), x = y + 1, x < 4.\n"
      "l(x) :- a(x).\n",
      "q(3)");
  EXPECT_EQ(found->height, 2);
  run_options without;
  engine run(program::from_text(".decl a(x:number)\na(1).\n"), without);
  run.evaluate();
  EXPECT_THROW(static_cast<void>(run.why("a(1)")), input_error);
  engine with(program::from_text(".decl a(x:number)\na(1).\n"), options_of(modes.front()));
  EXPECT_THROW(static_cast<void>(with.why("a(1)")), input_error);  // not evaluated
  with.evaluate();
  for (const char* fault : {"", "a", "b(1)", "a(x)", "a(1, 2)"}) {
    EXPECT_THROW(static_cast<void>(with.why(fault)), input_error) << fault;
  }
  with.relation("a").insert({2});
  with.evaluate();
  EXPECT_TRUE(with.why("a(2)"));
}

}  // namespace
}  // namespace gpulog
