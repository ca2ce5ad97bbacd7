// Each pass that can be switched off: a program on which it acts, and one that it leaves as it is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../plan_from_text.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"

namespace gpulog::plan {
namespace {

struct pass_case {
  std::string_view pass;
  std::string acts_on;
  std::string leaves;
};

const std::string pass_inputs =
    ".type pair = [a:number, b:number]\n.decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n"
    ".decl g(x:number, y:number)\n.input g\n.decl p(x:number)\n.input p\n.decl held(p:pair)\n.input held\n";
const std::string unary = ".decl r(x:number)\n.output r\n";
const std::string binary = ".decl r(x:number, y:number)\n.output r\n";
const std::string closure = binary + "r(x,y) :- e(x,y).\n";

const pass_case cases[] = {
    {"unneeded-relations", unary + ".decl other(x:number)\nother(x) :- p(x).\nr(x) :- p(x).\n",
     unary + "r(x) :- p(x), e(x,_), f(x,_), g(x,_), held([x,_]).\n"},
    {"magic-transform",
     unary + ".decl t(x:number, y:number)\nt(x,y) :- e(x,y).\nt(x,y) :- t(x,z), e(z,y).\nr(y) :- t(1,y).\n",
     closure + "r(x,y) :- r(x,z), e(z,y).\n"},
    {"bounded-ranges", unary + "r(x) :- p(x), x = range(0, 10).\n", unary + "r(x) :- x = range(0, 10).\n"},
    {"repeated-literals", unary + "r(x) :- e(x,y), e(x,y), f(y,x).\n", unary + "r(x) :- e(x,y), e(y,x).\n"},
    {"aggregated-fields", binary + "r(x,n) :- p(x), n = count : { held([x,_]) }.\n",
     binary + "r(x,n) :- p(x), n = count : { e(x,_) }.\n"},
    {"shared-bodies",
     binary + ".decl s(x:number, y:number)\n.output s\n.decl t(x:number, y:number)\n"
              ".output t\ns(x,y), t(y,x), r(x,y) :- e(x,z), e(z,y), x != y, !e(y,x).\n",
     binary + "r(x,y) :- e(x,z), e(z,y), x != y, !e(y,x).\n"},
    {"repeated-rules", unary + "r(x) :- e(x,y), f(y,_).\nr(a) :- f(b,_), e(a,b).\n",
     unary + "r(x) :- e(x,_).\nr(x) :- e(_,x).\n"},
    {"computed-keys", binary + "r(x,0) :- p(x).\nr(x,k+1) :- p(x), r(x/2,k), k < 10.\n",
     closure + "r(x,y) :- r(x,z), e(z,y).\n"},
    {"invariant-columns", closure + "r(x,y) :- r(x,z), e(z,y), y != 3, !f(z,y).\n",
     closure + "r(x,y) :- r(x,z), e(z,y).\n"},
    {"magic-sets",
     ".decl r(x:number, y:number)\n.decl s(x:number, y:number)\n.output s\n.output r\nr(x,y) :- s(x,z), e(z,y).\n"
     "s(x,y) :- g(x,y).\ns(x,y) :- f(x,z), r(z,w), f(y,w).\n",
     closure + "r(x,y) :- r(y,x).\n"},
    {"semi-join-reduction", closure + "r(x,y) :- r(x,z), e(z,y).\n", closure + "r(x,y) :- r(y,x).\n"},
    {"supplementary", closure + "r(x,y) :- e(a,x), r(a,b), f(b,y).\n", closure + "r(x,y) :- r(x,z), e(z,y).\n"},
    {"late-materialization", ".decl r(p:pair)\n.output r\nr(p) :- p = [x,y], e(x,y), f(y,_), !f(x,x).\n",
     unary + "r(x) :- e(x,y), f(y,_).\n"},
    {"smallest-relation-first", unary + "r(x) :- e(x,y), f(y,z), g(x,z).\n", unary + "r(x) :- e(x,y), f(y,_).\n"},
    {"first-matches", unary + "r(x) :- e(x,y), e(x,z), y != z.\n", binary + "r(x,z) :- e(x,y), f(y,z).\n"},
    {"dense-domains", closure + "r(x,y) :- r(x,z), e(z,y).\n", binary + "r(x,y) :- e(x,z), y = z + 1, y < 10.\n"},
    {"needless-sets", binary + "r(x,y) :- e(x,y).\n", unary + "r(x) :- e(x,_).\n"},
};

/// What a plan says of itself, and which relations it knows the values of.
std::string plan_of(const std::string& rules, std::string_view pass, bool runs) {
  options chosen;
  if (pass != "semi-join-reduction") chosen.modes.set("magic-sets", tuning_mode::always);
  // The magic-set transformation leaves relations unchanged that are needed in full.
  if (pass == "magic-transform") chosen.modes.set("unneeded-relations", tuning_mode::always);
  chosen.modes.set(pass, runs ? tuning_mode::always : tuning_mode::off);
  const program plan = plan_text(pass_inputs + rules, chosen);
  EXPECT_EQ(plan.pass_times.contains(std::string(pass)), runs) << pass;
  std::string text = explain(plan);
  for (const stratum& one : plan.strata) text += "domains: " + std::to_string(one.domains.size()) + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the lines that only `before` has, each after "- ", and the lines that only `after` has, each after "+ ".
std::string changed_lines(const std::string& before, const std::string& after) {
  std::string changes;
  const auto add_lines = [&](const std::string& all, const std::string& other, const char* mark) {
    const std::vector<std::string> known = lines_of(other);
    for (const std::string& line : lines_of(all)) {
      if (std::find(known.begin(), known.end(), line) == known.end()) changes += mark + line + "\n";
    }
  };
  add_lines(before, after, "- ");
  add_lines(after, before, "+ ");
  return changes;
}

/// tests/plans/passes.changes has what each pass changes. GPULOG_UPDATE_PLANS=1 writes the file.
TEST(pass_list, every_optional_pass_acts_and_stands_aside) {
  std::ostringstream changes;
  for (const optional_pass& one : optional_passes()) {
    SCOPED_TRACE(one.name);
    const auto* const found = std::find_if(std::begin(cases), std::end(cases),
                                           [&](const pass_case& known) { return known.pass == one.name; });
    ASSERT_NE(found, std::end(cases)) << "a pass without a case in this file";
    changes << "== " << one.name << "\n"
            << changed_lines(plan_of(found->acts_on, one.name, false), plan_of(found->acts_on, one.name, true));
    EXPECT_EQ(plan_of(found->leaves, one.name, true), plan_of(found->leaves, one.name, false));
    EXPECT_FALSE(one.description.empty());
  }
  const std::string expected = GPULOG_TEST_DATA "/plans/passes.changes";
  if (std::getenv("GPULOG_UPDATE_PLANS") != nullptr) std::ofstream(expected) << changes.str();
  std::ostringstream stored;
  stored << std::ifstream(expected).rdbuf();
  EXPECT_EQ(changes.str(), stored.str());
}

TEST(pass_list, names_are_different) {
  std::set<std::string_view> names;
  for (const optional_pass& one : optional_passes()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
}

}  // namespace
}  // namespace gpulog::plan
