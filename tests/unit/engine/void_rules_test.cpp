// Rules that join a relation without tuples: they are not run, and no index is kept for them.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

struct outcome {
  std::uint64_t rows = 0;
  std::uint64_t runs_of_none = 0;  ///< of rules that read `none`
  std::uint64_t indexes_of_r = 0;  ///< refreshes
};

/// A path of 100 edges in e. @param last_atom of the rule that joins r with itself
outcome run(const std::string& last_atom, bool has_none) {
  run_options options;
  options.backend = backend_kind::cpu;
  options.tuning = {{"decomposition", "off"}, {"condensation", "off"}, {"row-products", "off"}, {"supplementary", "off"}};
  engine running(program::from_text(".decl e(x:number, y:number)\n.decl none(x:number, y:number)\n"
                                    ".decl r(x:number, y:number)\n"
                                    "r(x,y) :- e(x,y).\n"
                                    "r(x,z) :- r(x,y), e(y,z).\n"
                                    "r(x,z) :- r(x,y), r(y,z), " +
                                    last_atom + ".\n"),
                 options);
  relation edges = running.relation("e");
  for (std::int32_t i = 0; i < 100; ++i) edges.insert({i, i + 1});
  if (has_none) running.relation("none").insert({1000, 1001});
  running.evaluate();
  outcome found;
  found.rows = running.relation("r").size();
  for (const stratum_statistics& stratum : running.figures().strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.rule.find("none") != std::string::npos) found.runs_of_none += rule.runs;
    }
    for (const index_statistics& index : stratum.indexes) found.indexes_of_r += index.relation == "r" ? index.refreshes : 0;
  }
  return found;
}

TEST(void_rules, are_not_run) {
  for (const char* const atom : {"none(x,z)", "none(_,_)", "none(z,_)"}) {
    SCOPED_TRACE(atom);
    const outcome found = run(atom, false);
    EXPECT_EQ(found.rows, 5050U);
    EXPECT_EQ(found.runs_of_none, 0U);
    EXPECT_EQ(found.indexes_of_r, 0U);
  }
}

TEST(void_rules, need_a_tuple_of_each_relation) {
  EXPECT_GT(run("none(x,z)", true).runs_of_none, 0U);
  const outcome negated = run("!none(x,z)", false);
  EXPECT_EQ(negated.rows, 5050U);
  EXPECT_GT(negated.runs_of_none, 0U);
  EXPECT_GT(negated.indexes_of_r, 0U);
  EXPECT_GT(run("c = count : { none(_,_) }, c = 0", false).runs_of_none, 0U);
}

}  // namespace
}  // namespace gpulog
