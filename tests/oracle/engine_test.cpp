// The engine against the naive evaluator, on random programs and random graphs. GPULOG_RANDOM_PROGRAMS sets the number
// of programs, GPULOG_RANDOM_SEED the first seed; a failure prints the program.

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "oracle/engine_comparison.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

TEST(engine_against_oracle, random_programs) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(500);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(oracle::make_random_program(seed).text, {});
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (HasFatalFailure()) return;
  }
}

/// Words of 64 bits, with and without values around 2^31, 2^32 and 2^63.
TEST(engine_against_oracle, random_programs_of_wide_words) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(150);
  oracle::random_program_options options;
  options.wide_numbers = true;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.equivalences = seed % 4 == 0 ? 60 : 0;
    const comparison both(oracle::make_random_program(seed, options).text, {}, word_size::bits64);
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (HasFatalFailure()) return;
  }
}

/// Atoms whose variables are only compared: first matches.
TEST(engine_against_oracle, random_programs_with_first_matches) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(300);
  oracle::random_program_options options;
  options.first_matches = 80;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.wide_numbers = seed % 4 == 0;
    options.equivalences = seed % 8 < 2 ? 60 : 0;
    const comparison both(oracle::make_random_program(seed, options).text, {},
                          options.wide_numbers ? word_size::bits64 : word_size::bits32);
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (HasFatalFailure()) return;
  }
}

/// Intersections inside aggregates, and rows that are counted without being read.
TEST(engine_against_oracle, random_programs_with_cyclic_aggregates) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(300);
  oracle::random_program_options options;
  options.cyclic_aggregates = 60;
  options.largest_arity = 3;
  options.layers = 2;
  const bool on_gpu = no_gpu().empty();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.wide_numbers = seed % 4 == 0;
    options.equivalences = seed % 8 < 2 ? 60 : 0;
    const comparison both(oracle::make_random_program(seed, options).text, {},
                          options.wide_numbers ? word_size::bits64 : word_size::bits32);
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (on_gpu && seed % 3 == 0) both.expect_same(gpu_modes[seed % gpu_modes.size()]);
    if (HasFatalFailure()) return;
  }
}

TEST(engine_against_oracle, random_programs_with_equivalences) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(500);
  oracle::random_program_options options;
  options.equivalences = 60;
  options.base_relations = 4;
  options.largest_arity = 3;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(oracle::make_random_program(seed, options).text, {});
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % modes.size()]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (HasFatalFailure()) return;
  }
}

/// Recursions that copy some columns unchanged.
TEST(engine_against_oracle, random_programs_that_fall_apart) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(200);
  oracle::random_program_options options;
  options.passages = 70;
  const bool on_gpu = no_gpu().empty();
  std::uint64_t numbered = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.wide_numbers = seed % 4 == 0;
    const comparison both(oracle::make_random_program(seed, options).text, {},
                          options.wide_numbers ? word_size::bits64 : word_size::bits32);
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same(modes[seed % 3]);
    both.expect_same(modes[(seed + 3) % modes.size()]);
    if (on_gpu) both.expect_same(gpu_modes.front());
    if (HasFatalFailure()) return;
    numbered += both.numbered_strata();
  }
  EXPECT_GE(numbered, count / 20) << "these programs are not what they are to be";
}

TEST(engine_against_oracle, random_programs_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = programs_for_gpu(1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(oracle::make_random_program(seed).text, {});
    ASSERT_TRUE(both.accepted()) << both.report();
    for (const mode& how : gpu_modes) both.expect_same(how);
    if (HasFatalFailure()) return;
  }
}

/// Constants between 2^31 and 2^32. A constant has a larger code than its value if other values have smaller codes.
TEST(engine_against_oracle, constants_whose_codes_are_larger) {
  const comparison both(
      ".decl b(x:number, y:number)\nb(-1099511627776, 4611686018427400252).\nb(-9223372036854775806, 1099511627778).\n"
      "b(1, 1099511627779).\nb(2, 1099511627780).\nb(3, 1099511627781).\nb(4, 1099511627782).\n"
      ".decl r(x:unsigned)\nr(2147483648) :- b(_,_).\n.decl s(x:unsigned, y:number)\ns(2147483650, x) :- b(x,_).\n"
      ".decl o(x:unsigned)\no(x) :- r(x), b(_,_), !r(x).\no(x) :- s(x,y), b(y,_), !s(x,y).\n",
      {}, word_size::bits64);
  ASSERT_TRUE(both.accepted()) << both.report();
  for (const mode& how : modes) both.expect_same(how);
}

/// Values of 64 bits with and without a table, computed by the host and by the device.
TEST(engine_against_oracle, wide_words_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  const std::string declarations =
      ".decl n(k:number)\nn(0).\nn(k + 1) :- n(k), k < 79.\n.decl a(x:number, y:unsigned, z:float)\n"
      "a((k - 40) * 12345678901, to_unsigned(k) * 98765432109, to_float(k) / 7.0) :- n(k).\n";
  std::size_t tried = 0;
  for (const std::string rules :
       {".decl r(x:number, y:number)\nr(x, y) :- a(x,_,_), a(y,_,_), y - x = 12345678901.\n",
        ".decl r(y:unsigned)\nr(y bxor 281474976710656) :- a(_,y,_), y > 3950617284360.\n",
        ".decl r(z:float)\nr(z / 2.0) :- a(_,_,z), z >= 5.5.\n",
        ".decl r(k:number, n:number, s:number)\nr(k, n, s) :- k = range(-2, 3), n = count : { a(x,_,_), x % 3 = k }, "
        "s = sum x : { a(x,_,_), x % 3 = k }.\n",
        ".decl r(k:number, l:number, m:unsigned)\nr(k, l, m) :- n(k), k < 9, m = max y : { a(_,y,_) }, "
        "l = min x : { a(x,_,_), x > k * 12345678901 }.\n",
        ".decl r(x:number)\nr(x) :- x = range(12345678901, 99999999999, 12345678901).\n",
        ".decl r(x:number)\nr(x) :- a(x,_,_), !a(x + 1,_,_), a(x * 2,_,_).\n",
        ".decl r(x:number)\nr(x) :- a(x,_,_), x / (x - 12345678901 * 7) > 0, x > 12345678901 * 7.\n",
        ".decl t(s:symbol)\nt(cat(to_string(x * 3), \"!\")) :- a(x,_,_), x > 400000000000.\n"
        ".decl r(x:number)\nr(to_number(substr(s, 0, strlen(s) - 1)) + 1) :- t(s).\n"
        ".decl u(x:number)\nu(x * 12345) :- r(x).\n"}) {
    SCOPED_TRACE(rules);
    const comparison both(declarations + rules, {}, word_size::bits64);
    ASSERT_TRUE(both.accepted()) << both.report();
    for (const mode& how : gpu_modes) {
      if (!oracle::is_sanitized || tried++ % (gpu_modes.size() + 1) == 0) both.expect_same(how);
    }
  }
  oracle::random_program_options options;
  options.wide_numbers = true;
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = programs_for_gpu(200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const comparison both(oracle::make_random_program(seed, options).text, {}, word_size::bits64);
    ASSERT_TRUE(both.accepted()) << both.report();
    for (const mode& how : gpu_modes) both.expect_same(how);
    if (HasFatalFailure()) return;
  }
}

TEST(engine_against_oracle, random_graphs_release_only) {
  const std::string reach =
      ".decl e(x:number, y:number)\n.decl t(x:number, y:number)\nt(x,y) :- e(x,y).\nt(x,z) :- e(x,y), t(y,z).\n";
  const std::string nonlinear =
      ".decl e(x:number, y:number)\n.decl t(x:number, y:number)\nt(x,y) :- e(x,y).\nt(x,z) :- t(x,y), t(y,z).\n"
      ".decl apart(x:number, y:number)\napart(x,y) :- t(x,_), t(_,y), !t(x,y).\n";
  const std::string same_generation =
      ".decl e(x:number, y:number)\n.decl sg(x:number, y:number)\nsg(x,y) :- e(p,x), e(p,y), x != y.\n"
      "sg(x,y) :- e(a,x), sg(a,b), e(b,y), x != y.\n";
  // Fixpoints that fall apart: on either column, by several rules, with constants, from values too large for a bitmap,
  // and tested for tuples by later rules.
  const std::string apart =
      ".decl e(x:number, y:number)\n.decl f(x:number, y:number)\nf(y,x) :- e(x,y), x < 20.\n"
      ".decl l(x:number, y:number)\nl(x,y) :- e(x,y), x != 3.\nl(x,y) :- l(x,z), e(z,y).\nl(x,y) :- l(x,z), f(z,y).\n"
      ".decl r(x:number, y:number)\nr(x,x) :- e(x,_).\nr(7,x) :- e(_,x).\nr(x,y) :- f(x,z), r(z,y).\n"
      ".decl m(x:number, y:number)\nm(x,y) :- e(x,y).\nm(x,y) :- m(x,z), m(z,y).\nm(x,y) :- m(x,z), f(z,y).\n"
      ".decl w(x:number, y:number)\nw(x * 50000000 - 1000000000, y * 50000000 - 1000000000) :- e(x,y).\n"
      ".decl v(x:number, y:number)\nv(x,y) :- w(x,y).\nv(x,y) :- v(x,z), w(z,y).\n"
      ".decl o(x:number, y:number)\no(x,y) :- l(x,y), r(y,x).\no(x,y) :- m(x,y), !l(x,y).\no(x,y) :- e(x,y), "
      "!r(x,y).\n";
  // With tests between one value and the next.
  const std::string tested =
      ".decl e(x:number, y:number)\n.decl w(x:number, y:number, z:number)\nw(x,z,y) :- e(x,y), e(y,z).\n"
      ".decl l(x:number, y:number)\nl(x,y) :- e(x,y).\nl(x,y) :- l(x,z), e(z,y), y != 3, !e(y,z).\n"
      "l(x,y) :- l(x,z), w(z,_,y), e(y,y).\nl(x,7) :- l(x,z), e(z,1).\n"
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), x < y.\nr(x,y) :- w(x,z,5), r(z,y).\nr(x,y) :- e(z,x), r(z,y), "
      "x > 2, z != x.\nr(x,y) :- e(x,_), r(4,y).\n"
      ".decl m(x:number, y:number)\nm(x,y) :- e(x,y), x != 5.\nm(x,y) :- m(x,z), m(z,y).\n"
      "m(x,y) :- m(x,z), e(z,v), y = v * 2 + z, y < 60.\n";
  const bool on_gpu = no_gpu().empty();
  std::uint64_t number_of_case = 0;
  for (std::uint64_t seed = 1; seed <= oracle::fewer_when_sanitized(30); ++seed) {
    // Sizes around those of warps, tiles and words of bits.
    const std::uint32_t nodes = std::vector<std::uint32_t>{1, 2, 31, 32, 33, 40}[seed % 6];
    const auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes,
                                                 static_cast<std::uint32_t>(seed % 5 * nodes / 2 + 1));
    for (const std::string& text : {reach, nonlinear, same_generation, apart, tested}) {
      if (!oracle::is_in_sample(number_of_case++, 3)) continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      const comparison both(text, graph);
      ASSERT_TRUE(both.accepted()) << both.report();
      for (std::size_t number = seed % 2; number < modes.size(); number += 2) both.expect_same(modes[number]);
      for (std::size_t number = seed % 3; on_gpu && number < gpu_modes.size(); number += 3)
        both.expect_same(gpu_modes[number]);
      if (HasFatalFailure()) return;
    }
  }
}

/// Fixpoints that fall apart, over numbers: of distant values, of several columns and relations, searched by some of
/// their columns, copied to a second relation, and tested for tuples by later rules.
TEST(engine_against_oracle, numbered_fixpoints_over_random_graphs) {
  const std::string numbered =
      ".decl e(x:number, y:number)\n.decl w(x:number, y:number, z:number)\nw(x,y,z) :- e(x,y), e(y,z), x != z.\n"
      ".decl l(x:number, y:number)\nl(x,y) :- e(x,y).\nl(x,y) :- l(x,z), e(z,y).\n"
      ".decl m(x:number, y:number)\nm(x,y) :- e(x,y).\nm(x,y) :- m(x,z), m(z,y).\n"
      ".decl q(p:number, y:number)\n.decl r(y:number, p:number)\nq(x,y) :- e(x,y), x < y.\nr(y,p) :- q(p,z), e(z,y), "
      "!w(z,y,z).\n"
      "q(p,y) :- r(z,p), e(y,z).\nq(p,y) :- r(y,p).\n"
      ".decl t(p:number, y:number, k:number)\nt(x,y,z) :- w(x,y,z).\nt(p,y,k) :- t(p,z,k), e(z,y).\n"
      ".decl n(a:number, b:number, p:number)\nn(y,z,x) :- w(x,y,z).\nn(b,c,p) :- n(a,b,p), w(a,b,c), a < c.\n"
      "n(a,b,p) :- n(_,z,p), w(z,a,b), b != 0.\nn(b,a,p) :- n(a,b,p).\n"
      ".decl o(x:number, y:number)\no(x,y) :- l(x,y), !q(x,y).\no(x,y) :- n(x,y,_), !r(x,y), !m(x,y).\n";
  for (std::uint64_t seed = 1; seed <= oracle::fewer_when_sanitized(12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::uint32_t nodes = std::vector<std::uint32_t>{1, 9, 33, 40}[seed % 4];
    const auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes,
                                                 static_cast<std::uint32_t>(seed % 3 + 1) * nodes / 2 + 1);
    for (const word_size words : {word_size::bits32, word_size::bits64}) {
      auto far_apart = graph;
      for (auto& [from, to] : far_apart) {
        // The comparison with the naive evaluator inserts no negative numbers of 64 bits.
        const std::uint32_t mask = words == word_size::bits64 ? UINT32_MAX / 2 : UINT32_MAX;
        from = from * 2654435761U & mask;
        to = to * 2654435761U & mask;
      }
      const comparison both(numbered, far_apart, words);
      ASSERT_TRUE(both.accepted()) << both.report();
      for (const mode& how : modes) both.expect_same(how);
      if (no_gpu().empty()) both.expect_same(gpu_modes.front());
      if (HasFatalFailure()) return;
    }
  }
}

/// Cycles of atoms, in which each binding searches the relation with the fewest rows. The graphs are dense enough for
/// the planner to choose this search, and a few nodes have most edges.
TEST(engine_against_oracle, cycles_over_random_graphs) {
  const std::string cycles =
      ".decl e(x:number, y:number)\n.decl n(x:number, y:number, z:number)\nn(x,y,z) :- e(x,y), e(x,z), y < z.\n"
      ".decl triangle(x:number, y:number, z:number)\ntriangle(x,y,z) :- e(x,y), e(y,z), e(z,x).\n"
      ".decl clique(w:number, x:number, y:number, z:number)\n"
      "clique(w,x,y,z) :- e(w,x), e(w,y), e(x,y), e(w,z), e(x,z), e(y,z), w < x.\n"
      ".decl square(w:number, x:number, y:number, z:number)\nsquare(w,x,y,z) :- e(w,x), e(x,y), e(y,z), e(z,w).\n"
      ".decl wide(x:number, y:number, z:number)\nwide(x,y,z) :- e(x,y), n(x,y,z), e(z,y), n(y,_,z).\n"
      ".decl path(x:number, y:number)\npath(x,y) :- e(x,y).\npath(x,z) :- path(x,y), e(y,z), e(z,x), e(z,y).\n"
      ".decl same(x:number, y:number)\nsame(x,y) :- e(x,y), e(y,z), e(z,z), e(z,x), e(3,z).\n";
  for (std::uint64_t seed = 1; seed <= oracle::fewer_when_sanitized(10); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::uint32_t nodes = 20 + static_cast<std::uint32_t>(seed) * 2;
    auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes, 5 * nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (node % 3 != 0) graph.emplace_back(node % 2, node);
      if (node % 5 != 0) graph.emplace_back(node, 3 - node % 2);
    }
    const comparison both(cycles, graph);
    ASSERT_TRUE(both.accepted()) << both.report();
    for (const mode& how : modes) both.expect_same(how);
    if (no_gpu().empty()) {
      for (const mode& how : gpu_modes) both.expect_same(how);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(engine_against_oracle, closures_over_equivalences) {
  const std::string closures =
      ".decl e(x:number, y:number)\n.decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y), x < 9.\n"
      ".decl l(x:number, y:number)\nl(x,y) :- e(x,y).\nl(x,y) :- l(x,z), q(z,y).\n"
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,y) :- q(x,z), r(z,y), x != 3.\n";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const comparison both(closures, oracle::make_random_graph(oracle::seed_of_turn(seed), 24, 20));
    ASSERT_TRUE(both.accepted()) << both.report();
    for (const mode& how : modes) both.expect_same(how);
    if (HasFatalFailure()) return;
  }
}

/// The step between the seeds of random graphs.
constexpr std::uint64_t step = oracle::is_sanitized ? 3 : 1;

TEST(engine_against_oracle, aggregates_over_equivalences_release_only) {
  const std::string declarations =
      ".decl e(x:number, y:number)\n.decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y).\n"
      ".decl n(x:number)\nn(x) :- e(x,_).\nn(y+1) :- e(_,y).\n";
  const std::vector<std::string> rules = {
      "a(x,c) :- q(x,_), c = min y : q(x,y).",
      "a(x,c) :- n(x), c = max y : q(y,x).",
      "a(x,c) :- n(x), c = sum y : q(x,y).",
      "a(x,c) :- e(x,y), c = sum y-z : q(y,z).",
      "a(x,c) :- n(x), c = count : q(x,_).",
      "a(x,c) :- n(x), c = count : { q(x,y), y > x }.",
      "a(x,c) :- n(x), c = max y : { q(x,y), y < 9 }.",
      "a(x,c) :- n(x), c = sum z : { q(x,y), e(y,z) }.",
      "a(x,c) :- n(x), c = count : { q(x,y), q(_,y) }.",
      "a(x,c) :- e(x,y), c = count : q(x,y).",
      "a(c,d) :- c = count : q(_,_), d = count : q(x,x).",
      "a(c,d) :- c = sum x : q(x,_), d = max y : q(_,y).",
      "a(x,c) :- c = min y : q(x,y).",
      "a(x,y) :- n(x), y = min z : { q(x,z), 1 < count : q(z,_) }.",
      "a(x,c) :- n(x), c = sum k : { e(x,y), k = min z : q(y,z) }.",
  };
  for (std::uint64_t seed = 1; seed <= 8; seed += step) {
    const std::uint32_t nodes = seed <= 5 ? static_cast<std::uint32_t>(4 + 5 * seed) : 60;
    const auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes, seed % 4 == 0 ? nodes : nodes / 2);
    for (const std::string& rule : rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + rule);
      const comparison both(declarations + ".decl a(x:number, y:number)\n" + rule + "\n", graph);
      ASSERT_TRUE(both.accepted()) << both.report();
      for (const mode& how : modes) both.expect_same(how);
      if (HasFatalFailure()) return;
    }
  }
}

const std::vector<std::string> aggregate_rules = {
    "a(x,c) :- n(x), c = count : e(x,_).",
    ".decl t(x:number, y:number, z:number)\nt(x,y,z) :- e(x,y), e(y,z), x < 20.\n"
    "a(0,c) :- c = count : { t(z % 5,_,z) }.\na(1,c) :- c = count : { t(w,_,z), w = z % 5 }.\n"
    "a(2,c) :- c = count : { t(z,_,z) }.\na(3,c) :- c = count : { t(_,z - 1,z) }.",
    "a(x,c) :- n(x), c = count : e(_,x).",
    "a(c,c) :- c = count : e(_,_).",
    "a(x,c) :- e(x,y), c = sum z : e(y,z).",
    "a(x,c) :- n(x), c = min y : e(x,y).",
    "a(x,c) :- n(x), c = max y-z : { e(x,y), e(y,z) }.",
    "a(x,c) :- n(x), c = count : { e(x,y), e(_,y) }.",
    "a(x,c) :- n(x), c = count : { e(x,_), e(_,y), y > x }.",
    "a(x,c) :- n(x), c = sum y : { e(x,y), e(_,_) }.",
    "a(x,c) :- n(x), c = count : { n(y), y < x, !e(x,y) }.",
    "a(x,c) :- c = max y : e(x,y).",
    "a(x,c) :- c = min y*2 : e(x,y).",
    "a(x,max y : { e(x,y), y != x }) :- n(x).",
    "a(x,c) :- n(x), c = sum y : { e(x,y), 1 < count : { e(y,z), z != x } }.",
    "a(x,c) :- n(x), c = max k : { e(x,y), k = count : e(y,_) }.",
    "a(x,x) :- n(x), count : e(x,_) = count : e(_,x).",
    "a(x,y) :- e(x,y), y = max z : e(x,z).",
    "a(x,y) :- e(x,y).\na(x,z) :- a(x,y), e(y,z), 3 > count : e(y,_).",
    "a(x,y) :- n(x), y = range(0,x).",
    "a(x,y) :- e(x,y), y = range(0,x,3).",
    "a(x,c) :- n(x), c = sum i : { i = range(x,0), i % 2 = 0 }.",
    "a(x,c) :- n(x), c = count : { e(x,y), i = range(0,y), e(i,x) }.",
};

TEST(engine_against_oracle, aggregates_over_random_graphs_release_only) {
  const std::string declarations = ".decl e(x:number, y:number)\n.decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n";
  const bool on_gpu = no_gpu().empty();
  std::uint64_t number_of_case = 0;
  for (std::uint64_t seed = 1; seed <= 6; seed += step) {
    // The last graphs are larger than a tile.
    const std::uint32_t nodes = seed <= 4 ? static_cast<std::uint32_t>(5 * seed) : 60;
    const auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes, seed <= 4 ? 3 * nodes : 900);
    for (const std::string& rule : aggregate_rules) {
      if (!oracle::is_in_sample(number_of_case++, 3)) continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + rule);
      const comparison both(declarations + ".decl a(x:number, y:number)\n" + rule + "\n", graph);
      ASSERT_TRUE(both.accepted()) << both.report();
      for (const mode& how : modes) both.expect_same(how);
      for (const mode& how : gpu_modes) {
        if (on_gpu) both.expect_same(how);
      }
      if (HasFatalFailure()) return;
    }
  }
}

/// Aggregates over values of more than 32 bits, which the aggregate and later literals compute with.
TEST(engine_against_oracle, aggregates_of_wide_words_release_only) {
  const std::string declarations =
      ".decl e(x:number, y:number)\n.decl g(x:number, y:number)\n"
      "g(x * 4294967311 - 7000000000, y * 4294967311 - 7000000000) :- e(x,y).\n"
      ".decl n(x:number)\nn(x) :- g(x,_).\nn(y) :- g(_,y).\n.decl a(x:number, y:number)\n";
  std::vector<std::string> rules = {
      "a(x,y) :- n(x), y = range(x,x+3).",
      "a(x,c) :- n(x), c = sum i : { i = range(x+5,x), i % 2 = 0 }.",
      "a(w,c) :- n(x), w = x * x, c = count : { g(x,y), !g(y,w) }.",
      "a(w,c) :- n(x), w = x * 3 - 1, c = max w - y : { g(x,y), y < w }.",
      "a(w,v) :- n(x), w = x + 4294967311, g(_,w), v = w * w.",
      "a(w,c) :- n(x), w = x + 4294967311, c = sum w : { g(y,w), y != x }.",
      "a(x,c) :- n(x), w = x * 4294967296, c = min w + k : { g(x,y), k = count : g(y,_) }.",
      "a(x,y) :- n(x), x % 3 = 0, y = x.\na(y,z) :- a(x,y), z = (x bxor y) % 4294967296, z != y.",
  };
  for (const std::string& rule : aggregate_rules) {
    if (rule.find("range(") == std::string::npos)
      rules.push_back(std::regex_replace(rule, std::regex("\\be\\("), "g("));
  }
  for (std::uint64_t seed = 1; seed <= 4; seed += step) {
    const std::uint32_t nodes = seed <= 3 ? static_cast<std::uint32_t>(5 * seed) : 40;
    const auto graph = oracle::make_random_graph(oracle::seed_of_turn(seed), nodes, seed <= 3 ? 3 * nodes : 600);
    for (const std::string& rule : rules) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + rule);
      const comparison both(declarations + rule + "\n", graph, word_size::bits64);
      ASSERT_TRUE(both.accepted()) << both.report();
      for (const mode& how : modes) both.expect_same(how);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gpulog
