// Reductions of relations in rules with written orders: kept where readers find fewer rows, abandoned elsewhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

using row_of_o = std::pair<std::int32_t, std::int32_t>;

/// The points-to analysis `o` of variables and `p` of objects. New rows of p search o before l.
const std::string analysis =
    ".decl base(a:number, v:number)\n.decl load(v:number, t:number)\n"
    ".decl o(a:number, v:number)\n.decl l(v:number, t:number)\n.decl p(h:number, a:number)\n"
    "o(a,v) :- base(a,v).\nl(v,t) :- load(v,t), o(_,v).\n"
    "p(10000,1) :- o(_,_).\np(h+1,a) :- p(h,a), h < 10099, o(a,_).\n"
    "o(h,t) :- l(v,t), o(a,v), p(h,a).\n.plan 0: (1,2,3), 1: (2,1,3), 2: (3,2,1)\n";

struct reduced_run {
  std::vector<row_of_o> tuples;     ///< of o, sorted
  std::uint64_t runs = 0;           ///< of rules of o@1
  std::uint64_t reduced = 0;        ///< rows that these rules derived
  std::uint64_t bindings_of_p = 0;  ///< of the version of the rule with new rows of p
};

/// @param objects o(1, v) holds for this many variables v
/// @param loads so many of these variables are loaded
reduced_run run_reduced(std::int32_t objects, std::int32_t loads, const char* reduction) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"semi-join-reduction", reduction}, {"dense-domain-encoding", "on"}};
  engine running(program::from_text(analysis), options);
  for (std::int32_t v = 0; v < objects; ++v) running.relation("base").insert({1, 20000 + v});
  for (std::int32_t v = 0; v < loads; ++v) running.relation("load").insert({20000 + v, 1});
  running.evaluate();
  reduced_run found;
  for (const auto& row : running.relation("o")) found.tuples.emplace_back(row.number(0), row.number(1));
  std::sort(found.tuples.begin(), found.tuples.end());
  for (const stratum_statistics& stratum : running.figures().strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.rule.starts_with("o@1(")) {
        found.runs += rule.runs;
        found.reduced += rule.tuples;
      }
      if (rule.rule.starts_with("o(h,t)") && rule.delta_atom == 2) found.bindings_of_p += rule.bindings;
    }
  }
  return found;
}

/// 100 rows of p search o(1, _): 1,000 rows each, or the row with a partner in l.
TEST(reductions, find_only_rows_with_a_partner) {
  const reduced_run whole = run_reduced(1000, 1, "off");
  const reduced_run reduced = run_reduced(1000, 1, "auto");
  EXPECT_EQ(whole.tuples.size(), 1100U);
  EXPECT_EQ(reduced.tuples, whole.tuples);
  EXPECT_EQ(whole.runs, 0U);
  EXPECT_EQ(reduced.reduced, 1U);
  EXPECT_GT(whole.bindings_of_p, 90'000U);
  EXPECT_LT(reduced.bindings_of_p, 1000U);
}

/// Every row has a partner. The free bindings end after about 123,000 of 150,000 rows.
TEST(reductions, without_a_gain_are_abandoned_release_only) {
  const reduced_run whole = run_reduced(150'000, 150'000, "off");
  const reduced_run reduced = run_reduced(150'000, 150'000, "auto");
  EXPECT_EQ(reduced.tuples, whole.tuples);
  EXPECT_EQ(whole.runs, 0U);
  EXPECT_GT(reduced.runs, 0U);
  EXPECT_LT(reduced.reduced, 150'000U);
  EXPECT_EQ(reduced.bindings_of_p, whole.bindings_of_p);
}

}  // namespace
}  // namespace gpulog
