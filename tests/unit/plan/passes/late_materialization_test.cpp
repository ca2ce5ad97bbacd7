#include "plan/passes/bodies/late_materialization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// The operations of the only rule, a letter each: s scan, m match, e existence test, f filter, p pack, i insert.
std::string operations_of(const std::string& rule) {
  const program plan = plan_text(
      ".type pair = [a:number, b:number]\n.decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input "
      "f\n"
      ".decl held(p:pair)\n.input held\n.decl r(p:pair)\n.output r\n" +
      rule);
  const auto planned = std::find_if(plan.strata.begin(), plan.strata.end(),
                                    [](const stratum& one) { return !one.once.versions.empty(); });
  std::string letters;
  if (planned == plan.strata.end()) return letters;
  for (const operation& one : planned->once.versions.back().operations) {
    if (std::holds_alternative<scan>(one)) letters += 's';
    if (std::holds_alternative<match>(one)) letters += 'm';
    if (std::holds_alternative<exists>(one)) letters += 'e';
    if (std::holds_alternative<filter>(one)) letters += 'f';
    if (std::holds_alternative<pack>(one)) letters += 'p';
    if (std::holds_alternative<insert>(one)) letters += 'i';
  }
  return letters;
}

TEST(late_materialization, records_of_the_head_are_made_last) {
  EXPECT_EQ(operations_of("r(p) :- e(x,y), p = [x,y], f(y,_), !f(x,x).\n"), "seepi");
  EXPECT_EQ(operations_of("r(p) :- e(x,y), p = [x,x], f(y,z), f(z,3).\n").find('p'), 3U);
}

TEST(late_materialization, records_that_are_asked_for_are_made_in_front) {
  EXPECT_EQ(operations_of("r([x,y]) :- e(x,y), p = [x,y], held(p), !f(x,y).\n").front(), 's');
  const std::string both = operations_of("r(q) :- e(x,y), p = [x,y], q = [y,x], x < y, !held(p).\n");
  // A comparison, the record that is asked for, the test, the other record.
  EXPECT_EQ(both, "sfpepi");
}

}  // namespace
}  // namespace gpulog::plan
