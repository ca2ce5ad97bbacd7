#include <gtest/gtest-spi.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "gpulog/engine.hpp"
#include "oracle/engine_comparison.hpp"
#include "oracle/proof_check.hpp"
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

/// Heights of all tuples by their texts, a few of each relation, whose proofs are sound.
std::map<std::string, std::uint64_t> heights_of(const std::string& text, const mode& how) {
  SCOPED_TRACE(how.name);
  engine run(program::from_text(text, {.warnings = false}), options_of(how));
  run.evaluate();
  proof_check check(text, run);
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
      check.expect_sound(*found);
      heights[name] = found->height;
    }
  }
  return heights;
}

const std::vector<mode> proven_modes = {
    {storage_kind::hash, 4, "hash -j4"},   {storage_kind::hisa, 1, "hisa -j1"}, {storage_kind::hisa, 4, "hisa -j4"},
    {storage_kind::bits, 1, "bits -j1"},   {storage_kind::bits, 4, "bits -j4"}, {storage_kind::words, 1, "words -j1"},
    {storage_kind::words, 4, "words -j4"},
};

TEST(proofs_of_random_programs, are_sound_and_the_same_in_all_ways) {
  const std::uint64_t first = oracle::first_seed(7000);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(20); ++seed) {
    SCOPED_TRACE("GPULOG_RANDOM_SEED=" + std::to_string(seed));
    const oracle::random_program made = oracle::make_random_program(seed, {.equivalences = 20});
    const auto expected = heights_of(made.text, modes.front());
    EXPECT_EQ(heights_of(made.text, proven_modes[seed % proven_modes.size()]), expected) << made.text;
    EXPECT_EQ(heights_of(made.text, proven_modes[(seed + 3) % proven_modes.size()]), expected) << made.text;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(proofs_of_random_programs, are_the_same_on_a_device) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  const std::uint64_t first = oracle::first_seed(7500);
  for (std::uint64_t seed = first; seed < first + programs_for_gpu(200); ++seed) {
    SCOPED_TRACE("GPULOG_RANDOM_SEED=" + std::to_string(seed));
    const oracle::random_program made = oracle::make_random_program(seed, {.equivalences = 20});
    const auto expected = heights_of(made.text, modes.front());
    EXPECT_EQ(heights_of(made.text, gpu_modes[seed % gpu_modes.size()]), expected) << made.text;
    if (testing::Test::HasFailure()) return;
  }
}

struct proven_program {
  const char* name;
  std::string text;
  std::map<std::string, std::uint64_t> heights;  ///< some of them
};

const std::string graph = ".decl e(x:number, y:number)\ne(1,2). e(2,3). e(3,4). e(4,2). e(5,6). e(6,5).\n";

/// What the random programs do not have, or seldom.
const std::vector<proven_program> proven_programs = {
    {"negation",
     graph + ".decl p(x:number, y:number)\np(x,y) :- e(x,y).\np(x,z) :- p(x,y), e(y,z).\n"
             ".decl n(x:number, y:number)\nn(x,y) :- e(x,_), e(_,y), !p(x,y).\n",
     {{"p(1, 4)", 3}, {"n(5, 2)", 1}}},
    {"aggregates",
     graph + ".decl d(x:number, n:number)\nd(x,n) :- e(x,_), n = count : e(_,x).\n"
             ".decl s(n:number, m:number)\ns(n,m) :- n = sum x : e(x,_), m = max x : { d(_,x), x < 9 }.\n"
             ".decl q(x:number)\nq(x) :- d(x,n), 2 * n > min k : { d(_,k) }.\n",
     {{"s(21, 2)", 1}, {"q(2)", 2}}},
    {"equivalence",
     graph + ".decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y).\n.decl u(x:number)\nu(x) :- q(1,x), !e(1,x).\n",
     {{"q(1, 2)", 1}, {"q(2, 1)", 2}, {"q(1, 3)", 2}, {"u(3)", 3}}},
    {"subsumption",
     ".decl e(x:number, y:number, w:number)\ne(1,2,5). e(2,3,1). e(1,3,9). e(3,1,2).\n"
     ".decl d(y:number, w:number)\nd(1,0).\nd(y,v+w) :- d(x,v), e(x,y,w).\nd(y,a) <= d(y,b) :- b < a.\n"
     ".decl far(y:number)\nfar(y) :- d(y,w), w > 4, !d(y,5).\n",
     {{"d(3, 6)", 2}, {"far(3)", 3}}},
    {"choice",
     graph + ".decl c(x:number, y:number) choice-domain x\nc(x,y) :- e(x,y).\n"
             ".decl t(x:number, y:number) choice-domain y\nt(0,1).\nt(x,y) :- t(_,x), e(x,y).\n"
             ".decl f(x:number)\nf(x) :- e(x,y), !t(x,y).\n",
     {{"c(1, 2)", 1}, {"t(2, 3)", 2}, {"f(4)", 1}}},
    {"records",
     ".type L = [h:number, t:L]\n.decl a(x:number)\na(1). a(2).\n.decl l(x:L, n:number)\nl(nil,0).\n"
     "l([x,t],n+1) :- a(x), l(t,n), n < 3.\n.decl h(x:number, t:L)\nh(x,t) :- l([x,[y,t]],_), x != y.\n"
     ".decl g(l:L)\ng(l) :- l(l,n), l != nil, l = [2,_], n = 2.\n",
     {{"l([1, [2, nil]], 2)", 2}, {"h(2, nil)", 3}, {"g([2, [2, nil]])", 3}}},
    {"branches",
     ".type T = Leaf {} | Node {l:T, r:T} | Tag {s:symbol}\n.decl t(x:T, n:number)\nt($Leaf(), 0). t($Tag(\"a\"), 0).\n"
     "t($Node(x,y), 1) :- t(x,0), t(y,0).\n.decl u(s:symbol, y:T)\nu(s,y) :- t($Node($Tag(s),y),_).\n",
     {{"t($Node($Leaf, $Leaf), 1)", 2}, {"u(\"a\", $Leaf)", 3}}},
    {"texts and ranges",
     ".decl w(s:symbol)\nw(\"a\"). w(\"b c\").\n.decl r(x:number)\nr(x) :- x = range(1, 6), x != 3.\n"
     ".decl s(t:symbol, n:number)\ns(cat(t, \"!\"), strlen(t) * x) :- w(t), r(x), x % 2 = 0.\n",
     {{"r(2)", 1}, {"s(\"b c!\", 6)", 2}}},
    {"mutual and nonlinear recursion",
     graph + ".decl o(x:number, y:number)\n.decl v(x:number, y:number)\no(x,y) :- e(x,y).\no(x,z) :- v(x,y), e(y,z).\n"
             "v(x,z) :- o(x,y), e(y,z).\n.decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,z) :- r(x,y), r(y,z).\n",
     {{"o(1, 4)", 3}, {"v(1, 3)", 2}, {"r(1, 4)", 3}}},
};

TEST(proofs, are_sound_in_all_ways) {
  for (const proven_program& one : proven_programs) {
    SCOPED_TRACE(one.name);
    const auto expected = heights_of(one.text, modes.front());
    for (const auto& [tuple, height] : one.heights) {
      const auto found = expected.find(tuple);
      ASSERT_NE(found, expected.end()) << tuple;
      EXPECT_EQ(found->second, height) << tuple;
    }
    for (const mode& how : proven_modes) EXPECT_EQ(heights_of(one.text, how), expected) << how.name;
    if (!no_gpu().empty()) continue;
    for (const mode& how : gpu_modes) EXPECT_EQ(heights_of(one.text, how), expected) << how.name;
  }
}

/// Each tuple has as many instances as there are nodes between its ends.
TEST(proofs, of_wide_recursions_are_found) {
  constexpr int nodes = oracle::is_sanitized ? 150 : 300;
  std::string ring = ".decl e(x:number, y:number)\n";
  for (int node = 0; node < nodes; ++node) {
    ring += "e(" + std::to_string(node) + "," + std::to_string((node + 1) % nodes) + ").\n";
  }
  const std::string closure = ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), x != y.\nr(x,z) :- r(x,y), r(y,z).\n";
  const std::string mutual =
      ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\nr(x,y) :- e(x,y).\ns(x,x) :- e(x,_).\n"
      "r(x,z) :- r(x,y), s(y,u), r(u,z).\ns(x,z) :- r(x,z), s(z,z).\n";
  for (const std::string& rules : {closure, mutual}) {
    engine run(program::from_text(ring + rules, {.warnings = false}), options_of(modes.front()));
    run.evaluate();
    const auto found = run.why("r(0, " + std::to_string(nodes - 1) + ")", nodes + 1);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->what, proof::kind::derived) << found->note;
    proof_check check(ring + rules, run);
    check.expect_sound(*found);
    EXPECT_GE(check.nodes(), nodes - 1);
  }
}

/// What makes a false proof must be seen.
TEST(proofs, that_are_false_are_noticed) {
  const std::string& text = proven_programs.front().text;
  engine run(program::from_text(text, {.warnings = false}), options_of(modes.front()));
  run.evaluate();
  proof shown = run.why("p(1, 4)").value();
  shown.premises.back().text = "e(2, 3)";
  EXPECT_NONFATAL_FAILURE(proof_check(text, run).expect_sound(shown), "p(x,z)");
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
