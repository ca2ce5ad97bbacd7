// Recursions of products, and some that are nearly that, on all machines against the naive evaluator.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine_comparison.hpp"
#include "random_program.hpp"
#include "random_runs.hpp"

namespace gpulog {
namespace {

/// Over e, which has facts.
std::string random_recursion(std::mt19937_64& random) {
  const auto one_of = [&random](const std::vector<std::string>& texts) { return texts[random() % texts.size()]; };
  const auto edge = [&](const std::string& from, const std::string& to) {
    return one_of({"e(" + from + "," + to + ")", "e(" + to + "," + from + ")", "f(" + from + "," + to + ",_)",
                   "f(_," + to + "," + from + ")"});
  };
  const std::string compared = one_of({"", "", ", x != y", ", y != x", ", x < y"});
  std::string text =
      ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl f(x:number, y:number, z:number)\n"
      "f(x,y,z) :- e(x,y), e(y,z).\n";
  for (std::uint64_t rules = random() % 2 + 1; rules != 0; --rules) {
    text += "r(x,y) :- " + one_of({edge("x", "y"), edge("x", "p") + ", " + edge("p", "y"), "e(x,y), f(y,_,_)"}) +
            one_of({compared, compared, ""}) + ".\n";
  }
  for (std::uint64_t rules = random() % 3 + 1; rules != 0; --rules) {
    const std::uint64_t sides = random() % 6;
    const std::string left = sides == 0 ? "" : edge("x", "u") + ", ";
    const std::string right = sides == 1 ? "" : ", " + edge("v", "y");
    const std::string own = sides == 0 ? "r(x,v)" : sides == 1 ? "r(u,y)" : random() % 12 == 0 ? "r(v,u)" : "r(u,v)";
    text += "r(x,y) :- " + left + own + right + (random() % 8 == 0 ? "" : compared) + ".\n";
  }
  // What reads it needs its rows.
  if (random() % 2 == 0) text += ".decl s(x:number)\ns(x) :- r(x,y), !r(y,x).\n";
  return text;
}

TEST(row_products_against_oracle, random_recursions) {
  const bool on_gpu = no_gpu().empty();
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(150);
  const std::map<std::string, std::string, std::less<>> on = {{"rows", "recursions"}};
  std::uint64_t made_so = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = random_recursion(random);
    const comparison both(text, oracle::make_shaped_graph(seed, random, 44));
    ASSERT_TRUE(both.accepted()) << both.report();
    both.expect_same({storage_kind::hash, 1, "cpu -j1", backend_kind::cpu, on});
    both.expect_same({storage_kind::bits, 3, "cpu -j3", backend_kind::cpu, on});
    both.expect_same({storage_kind::hash, 1, "cpu, off", backend_kind::cpu, {{"rows", "off"}}});
    if (on_gpu && seed % 3 == 0) both.expect_same({storage_kind::hash, 1, "gpu", backend_kind::gpu, on});
    if (HasFatalFailure()) return;
    made_so += both.product_strata();
  }
  EXPECT_GE(made_so, count / 2) << "these programs are not what they are to be";
}

}  // namespace
}  // namespace gpulog
