#include "plan/encodable_domains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// The columns of each class, "relation.column" side by side, relations of the planner left out; an ordered class
/// begins with "<", constants stand behind.
std::vector<std::string> classes_of(const std::string& text) {
  program plan = plan_text(text);
  std::vector<std::string> result;
  for (const encodable_domain& its : find_encodable_domains(plan)) {
    std::string names = its.is_ordered ? "<" : "";
    for (const column_place& place : its.columns) {
      const relation& named = plan.relations[place.relation.value];
      if (!named.supplementary) names += named.name + "." + std::to_string(place.column) + " ";
    }
    std::vector<wide_word> constants;
    for (const wide_word* constant : its.constants) constants.push_back(*constant);
    std::sort(constants.begin(), constants.end());
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (const wide_word constant : constants) names += std::to_string(static_cast<std::int32_t>(constant)) + " ";
    result.push_back(names);
  }
  std::sort(result.begin(), result.end());
  return result;
}

const std::string inputs =
    ".decl e(x:number, y:number)\n.input e\n.decl f(s:symbol, n:number)\n.input f\n"
    ".decl r(x:number, y:number)\n.output r\n";
using names = std::vector<std::string>;

TEST(encodable_domains, values_that_meet_in_rules) {
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y).\n"), (names{"e.0 r.0 ", "e.1 r.1 ", "f.0 ", "f.1 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"),
            (names{"e.0 e.1 r.0 r.1 ", "f.0 ", "f.1 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y), !f(_,x).\n"), (names{"e.0 f.1 r.0 ", "e.1 r.1 ", "f.0 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,z) :- e(x,y), f(_,z), y != z.\n"), (names{"e.0 r.0 ", "e.1 f.1 r.1 ", "f.0 "}));
}

TEST(encodable_domains, constants_of_rules_and_facts) {
  EXPECT_EQ(classes_of(inputs + "r(7,y) :- e(-3,y), y != 12.\ne(5,6).\n"),
            (names{"e.0 5 -3 ", "e.1 r.1 6 12 ", "f.0 ", "f.1 ", "r.0 7 "}));
}

TEST(encodable_domains, order_has_to_stay) {
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y), x < y.\n"), (names{"<e.0 e.1 r.0 r.1 ", "f.0 ", "f.1 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y), x >= 10.\n"), (names{"<e.0 r.0 10 ", "e.1 r.1 ", "f.0 ", "f.1 "}));
}

TEST(encodable_domains, not_of_values_that_are_computed_with) {
  // f.0 is in all of them: nothing is asked of it.
  EXPECT_EQ(classes_of(inputs + "r(x,y+1) :- e(x,y).\n"), (names{"e.0 r.0 ", "f.0 ", "f.1 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,n) :- e(x,_), n = count : { e(x,_) }.\n"),
            (names{"e.0 r.0 ", "e.1 ", "f.0 ", "f.1 "}));
  EXPECT_EQ(classes_of(inputs + "r(x,n) :- e(x,_), n = max y : { e(x,y) }.\n"), (names{"e.0 r.0 ", "f.0 ", "f.1 "}));
}

TEST(encodable_domains, texts_whose_order_counts_are_computed_with) {
  EXPECT_EQ(classes_of(inputs + ".decl g(s:symbol)\n.output g\ng(s) :- f(s,_), s < \"k\".\n"),
            (names{"e.0 ", "e.1 ", "f.1 ", "r.0 ", "r.1 "}));
  EXPECT_EQ(classes_of(inputs + ".decl g(s:symbol)\n.output g\ng(s) :- f(s,_), s != \"k\".\n").size(), 6U);
}

TEST(encodable_domains, not_of_relations_that_choose_among_tuples) {
  EXPECT_EQ(classes_of(inputs + ".decl q(x:number, y:number) eqrel\n.output q\nq(x,y) :- e(x,y).\n"),
            (names{"f.0 ", "f.1 ", "r.0 ", "r.1 "}));
  EXPECT_EQ(classes_of(inputs + ".decl q(x:number, y:number) choice-domain x\n.output q\nq(x,y) :- e(x,y).\n"),
            (names{"f.0 ", "f.1 ", "r.0 ", "r.1 "}));
}

TEST(encodable_domains, an_aggregate_ends_what_is_bound_inside) {
  EXPECT_EQ(classes_of(inputs + "r(x,y) :- e(x,y), 2 < count : { f(_,x) }.\n"),
            (names{"e.0 f.1 r.0 ", "e.1 r.1 ", "f.0 "}));
}

}  // namespace
}  // namespace gpulog::plan
