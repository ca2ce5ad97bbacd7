// Closures, products and joins that are made row by row, and random rules that read them, on a CPU against the naive
// evaluator: as they are kept, and with columns.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine_comparison.hpp"
#include "random_program.hpp"
#include "random_runs.hpp"

namespace gpulog {
namespace {

enum class made_as : std::uint8_t { closure, product, join };

/// Over e, which has facts; r is a closure, a recursion that grows at both sides, or no recursion.
std::string random_readers(std::mt19937_64& random, made_as kind) {
  const auto one_of = [&random](const std::vector<std::string>& texts) { return texts[random() % texts.size()]; };
  const std::string declared = ".decl e(x:number, y:number)\n.decl n(x:number)\nn(x) :- e(x,_).\nn(y) :- e(_,y).\n";
  std::string text = declared;
  std::string (*closed)(const std::string&, const std::string&) = nullptr;
  const bool is_product = kind == made_as::product;
  const bool is_wide = kind == made_as::closure && random() % 4 == 0;
  if (is_wide) {
    // Two columns that are passed through.
    text += ".decl r(p:number, y:number, q:number)\nr(x % 3,y,x) :- e(x,y).\nr(p,y,q) :- r(p,z,q), e(z,y).\n";
    closed = [](const std::string& x, const std::string& y) {
      const std::string first = x == "_" ? "_" : x + " % 3";
      return "r(" + first + "," + y + "," + x + ")";
    };
  } else {
    const std::string first =
        is_product ? one_of({"r(x,y) :- e(p,x), e(p,y).\n", "r(x,y) :- e(x,p), e(p,y).\n", "r(x,y) :- e(x,y).\n"})
                   : one_of({"r(x,y) :- e(x,y).\n", "r(x,y) :- e(y,x).\n", "r(x,x) :- e(x,_).\n",
                             "r(x,y) :- e(x,y), x != 3.\n"});
    const std::string join = one_of({"r(x,y) :- e(x,z), e(z,y).\n", "r(x,y) :- e(z,x), e(z,y), x != y.\n",
                                     "r(x,y) :- e(x,z), e(z,y).\nr(x,y) :- e(y,x).\nr(x,y) :- e(y,z), e(x,z).\n",
                                     "r(y,x) :- e(x,z), e(y,z), x < y.\n"});
    const std::string loop =
        is_product
            ? one_of({"r(x,y) :- e(a,x), r(a,b), e(b,y).\n", "r(x,y) :- e(x,a), r(a,b), e(b,y).\n"})
            : one_of({"r(x,y) :- r(x,z), e(z,y).\n", "r(x,y) :- e(x,z), r(z,y).\n", "r(x,y) :- r(x,z), r(z,y).\n"});
    text += ".decl r(x:number, y:number)\n" + (kind == made_as::join ? join : first + loop);
    closed = [](const std::string& x, const std::string& y) { return "r(" + x + "," + y + ")"; };
  }
  for (std::uint64_t reader = random() % 3 + 1; reader != 0; --reader) {
    const std::string name = "o" + std::to_string(reader);
    text += ".decl " + name + "(x:number, y:number)\n" + name + "(x,y) :- ";
    // A computed value in an aggregate changes what is counted.
    const std::string of_x = is_wide ? "r(_,w,x)" : "r(x,w)";
    const std::string folded =
        "c = count : { " + one_of({of_x, closed("_", "x"), of_x + ", n(w)", is_wide ? "r(_,x,x)" : "r(x,x)"}) + " }";
    const std::vector<std::string> bodies = {"n(x), n(y), " + one_of({"", "!"}) + closed("x", "y"),
                                             "n(y), n(x), " + one_of({"", "!"}) + closed("x", "y"),
                                             "e(x,y), " + one_of({"", "!"}) + closed("y", "x"),
                                             "e(x,z), " + one_of({"", "!"}) + closed("z", "y") + ", n(y)",
                                             closed("x", "y"),
                                             closed("x", "y") + ", e(y,_), x != y",
                                             closed("x", "y") + ", " + closed("y", "x"),
                                             closed("x", "z") + ", " + closed("z", "y"),
                                             "e(x,x), " + closed("x", "y"),
                                             "e(y,y), " + closed("x", "y"),
                                             "e(x,z), " + closed("z", "y") + ", !" + closed("y", "z"),
                                             "n(x), " + one_of({"", "!"}) + closed("x", "_") + ", e(x,y)",
                                             "n(x), " + one_of({"", "!"}) + closed("_", "x") + ", e(x,y)",
                                             closed("_", "x") + ", n(y), x < y",
                                             closed("x", "_") + ", y = x + 1",
                                             "n(x), " + folded + ", y = c",
                                             closed("x", "y") + ", " + folded + ", c > 2",
                                             "y = max w : { " + closed("_", "w") + " }, n(x)",
                                             "n(x), y = sum w : { " + of_x + " }",
                                             "x = 5, " + closed("x", "y"),
                                             "y = 5, " + closed("x", "y"),
                                             "n(x), " + closed("x", "z") + ", e(z,y), y > x",
                                             "e(x,y), " + closed("x", "y") + ", " + closed("y", "_")};
    text += one_of(bodies) + ".\n";
  }
  // A recursion that reads it.
  if (random() % 4 == 0) text += ".decl s(x:number)\ns(3).\ns(y) :- s(x), " + closed("x", "y") + ", e(y,x).\n";
  return text;
}

TEST(closure_readers_against_oracle, random_readers) {
  const bool on_gpu = no_gpu().empty();
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = random_readers(random, made_as::closure);
    const comparison both(text, oracle::make_shaped_graph(seed, random, 34));
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same({storage_kind::hash, 1, "cpu -j1, condensed", backend_kind::cpu, {{"rows", "recursions"}}});
    both.expect_same({storage_kind::bits, 3, "cpu -j3, condensed", backend_kind::cpu, {{"rows", "recursions"}}});
    both.expect_same({storage_kind::hash, 1, "cpu -j1, searched", backend_kind::cpu, {{"rows", "search"}}});
    both.expect_same({storage_kind::hash, 1, "cpu -j1, condensed, row-wise", backend_kind::cpu, {{"rows", "on"}}});
    if (on_gpu && seed % 8 == 0)
      both.expect_same({storage_kind::hash, 1, "gpu", backend_kind::gpu, {{"rows", "recursions"}}});
    if (HasFatalFailure()) return;
  }
}

TEST(product_readers_against_oracle, random_readers) {
  const bool on_gpu = no_gpu().empty();
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(200);
  const std::map<std::string, std::string, std::less<>> on = {{"rows", "recursions"}};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = random_readers(random, made_as::product);
    const comparison both(text, oracle::make_shaped_graph(seed, random, 34));
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same({storage_kind::hash, 1, "cpu -j1", backend_kind::cpu, on});
    both.expect_same({storage_kind::bits, 3, "cpu -j3", backend_kind::cpu, on});
    both.expect_same({storage_kind::hash, 1, "cpu -j1, off", backend_kind::cpu, {{"rows", "off"}}});
    both.expect_same({storage_kind::hash, 1, "cpu -j1, row-wise", backend_kind::cpu, {{"rows", "on"}}});
    if (on_gpu && seed % 8 == 0) both.expect_same({storage_kind::hash, 1, "gpu", backend_kind::gpu, on});
    if (HasFatalFailure()) return;
  }
}

/// Words are kept where all readers can read them; some of these rules give them columns.
TEST(row_wise_readers_against_oracle, random_readers) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(200);
  const std::map<std::string, std::string, std::less<>> on = {{"rows", "on"}};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = random_readers(random, made_as::join);
    const comparison both(text, oracle::make_shaped_graph(seed, random, 34));
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same({storage_kind::hash, 1, "cpu -j1", backend_kind::cpu, on});
    both.expect_same({storage_kind::bits, 3, "cpu -j3", backend_kind::cpu, on});
    both.expect_same({storage_kind::words, 2, "cpu -j2", backend_kind::cpu, on});
    both.expect_same({storage_kind::hash, 1, "cpu -j1, off", backend_kind::cpu, {{"rows", "off"}}});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gpulog
