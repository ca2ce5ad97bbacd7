#include "plan/passes/demand/magic_transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"
#include "plan/planner.hpp"

namespace gpulog::plan {
namespace {

using name_set = std::set<std::string>;
using texts = std::set<std::string>;

/// As the command plans programs.
options as_command(tuning_mode mode = tuning_mode::automatic) {
  options chosen;
  chosen.modes.set("unneeded-relations", tuning_mode::always);
  chosen.modes.set("magic-transform", mode);
  return chosen;
}

struct transformed {
  name_set relations;  ///< that were made
  texts rules;         ///< of these, and those that read them
};

transformed transform(const std::string& text, const options& chosen = as_command(), const statistics& known = {}) {
  const analysed_text analysed = analyse_text(text);
  const magic_program result = transform_by_magic_sets(analysed.program, known, chosen);
  transformed found;
  if (!result.program) return found;
  for (std::size_t number = analysed.program.relations.size(); number < result.program->relations.size(); ++number)
    found.relations.insert(result.program->relations[number].name);
  for (const sema::rule& rule : result.program->rules) {
    if (rule.text.find('@') != std::string::npos) found.rules.insert(rule.text);
  }
  return found;
}

const std::string edges = ".decl e(x:number, y:number)\n.input e\n.decl b(x:number)\n.input b\n";
const std::string left_linear = edges + ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,z) :- r(x,y), e(y,z).\n";
const std::string right_linear = edges + ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,z) :- e(x,y), r(y,z).\n";
const std::string asked = ".decl o(y:number)\n.output o\no(y) :- r(1,y).\n";

TEST(magic_transform, asks_a_left_linear_recursion_for_a_constant) {
  const transformed found = transform(left_linear + asked);
  EXPECT_EQ(found.relations, (name_set{"r@1", "r@2"}));
  EXPECT_EQ(found.rules, (texts{"r@1(x,y) :- r@2(x), e(x,y).", "r@1(x,z) :- r@1(x,y), e(y,z).", "o(y) :- r@1(1,y)."}));
}

TEST(magic_transform, asks_the_other_column) {
  const transformed found = transform(right_linear + ".decl o(x:number)\n.output o\no(x) :- r(x,1).\n");
  EXPECT_EQ(found.relations, (name_set{"r@1", "r@2"}));
  EXPECT_TRUE(found.rules.contains("o(x) :- r@1(x,1)."));
}

TEST(magic_transform, a_right_linear_recursion_becomes_left_linear) {
  const transformed found = transform(right_linear + asked);
  EXPECT_EQ(found.relations, (name_set{"r@steps", "r@1", "r@2", "r@steps@1", "r@steps@2"}));
  EXPECT_TRUE(found.rules.contains("o(y) :- r@1(1,y)."));
  // One tuple for each vertex that is reached.
  EXPECT_TRUE(std::any_of(found.rules.begin(), found.rules.end(), [](const std::string& rule) {
    return rule.find("r@steps@1(") == 0 && rule.find(":- r@steps@1(") != std::string::npos;
  }));
}

TEST(magic_transform, leaves_recursions_that_are_not_right_linear) {
  const auto has_steps = [](const std::string& text) { return transform(text).relations.contains("r@steps"); };
  EXPECT_TRUE(has_steps(right_linear + asked));
  EXPECT_TRUE(has_steps(edges +
                        ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), !b(y).\nr(x,y) :- b(x), y = 3.\n"
                        "r(x,z) :- e(x,y), r(y,z), !b(y).\nr(x,z) :- e(y,x), r(y,z), x < y.\n" +
                        asked));
  // The answer is tested, or stands in a step; the own relation twice; a step whose end is free; a value that is made.
  for (const std::string rule :
       {"r(x,z) :- e(x,y), r(y,z), z != x.", "r(x,z) :- e(x,z), r(y,z), e(x,y).", "r(x,z) :- r(x,y), r(y,z).",
        "r(x,z) :- b(x), r(y,z).", "r(x+1,z) :- e(x,y), r(y,z), x < 5.", "r(x,z) :- e(x,y), r(y,z). r(9,9)."}) {
    EXPECT_FALSE(has_steps(edges + ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\n" + rule + "\n" + asked)) << rule;
  }
  // Asked for more than constants, or wanted in full.
  EXPECT_FALSE(has_steps(right_linear + asked + ".decl p(x:number)\n.output p\np(y) :- b(x), r(x,y).\n"));
  EXPECT_FALSE(has_steps(right_linear + asked + ".output r\n"));
}

TEST(magic_transform, stands_aside_where_all_is_wanted) {
  EXPECT_TRUE(transform(left_linear + ".output r\n" + asked).relations.empty());
  EXPECT_TRUE(transform(left_linear + ".printsize r\n" + asked).relations.empty());
  EXPECT_TRUE(transform(left_linear + asked + ".decl p(x:number)\n.output p\np(x) :- r(x,x).\n").relations.empty());
  options complete = as_command();
  complete.modes.set("unneeded-relations", tuning_mode::off);
  EXPECT_TRUE(transform(left_linear + asked, complete).relations.empty());
}

TEST(magic_transform, by_default_asks_recursions_for_constants_only) {
  const std::string by_values = left_linear + ".decl o(y:number)\n.output o\no(y) :- b(x), r(x,y).\n";
  const std::string flat = edges + ".decl r(x:number, y:number)\nr(x,z) :- e(x,y), e(y,z).\n" + asked;
  EXPECT_TRUE(transform(by_values).relations.empty());
  EXPECT_TRUE(transform(flat).relations.empty());
  const options always = as_command(tuning_mode::always);
  EXPECT_FALSE(transform(by_values, always).relations.empty());
  EXPECT_FALSE(transform(flat, always).relations.empty());
  EXPECT_FALSE(transform(".pragma \"magic-transform\" \"r\"\n" + by_values).relations.empty());
}

TEST(magic_transform, asks_negated_atoms_and_aggregates) {
  const transformed negated =
      transform(left_linear + ".decl o(y:number)\n.output o\no(y) :- b(y), !r(1,y).\n", as_command());
  EXPECT_TRUE(negated.rules.contains("o(y) :- b(y), !r@1(1,y)."));
  const transformed counted =
      transform(left_linear + ".decl o(n:number)\n.output o\no(n) :- n = count : { r(1,_) }.\n");
  EXPECT_EQ(counted.relations, (name_set{"r@1", "r@2"}));
}

/// What is asked for would depend on what is not there: the goal in such a cycle is withdrawn.
TEST(magic_transform, stands_aside_where_a_negation_would_come_into_a_cycle) {
  const std::string stratified =
      edges +
      ".decl s(x:number, y:number)\ns(x,y) :- e(x,y).\ns(x,z) :- s(x,y), e(y,z).\n"
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), !s(y,x).\nr(x,z) :- r(x,y), e(y,z), !s(z,y).\n" +
      asked;
  for (const tuning_mode mode : {tuning_mode::automatic, tuning_mode::always})
    EXPECT_TRUE(transform(stratified, as_command(mode)).relations.empty());
  const std::string aggregated =
      edges +
      ".decl s(x:number, y:number)\ns(x,y) :- e(x,y).\ns(x,z) :- s(x,y), e(y,z).\n"
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,y).\nr(x,n) :- r(x,y), n = count : { s(y,_) }, n < 9.\n" +
      asked;
  EXPECT_FALSE(transform(aggregated, as_command(tuning_mode::always)).relations.contains("s@1"));
}

TEST(magic_transform, stands_aside_where_results_depend_on_order_or_kind) {
  const std::string rules = "r(x,y) :- e(x,y).\nr(x,z) :- r(x,y), e(y,z).\n";
  for (const std::string& declared : {
           ".decl r(x:number, y:number) choice-domain x\n" + rules,
           ".decl r(x:number, y:number)\n.limitsize r(n=5)\n" + rules,
           ".decl r(x:number, y:number) eqrel\n" + rules,
           ".decl r(x:number, y:number)\n" + rules + "r(x,y) <= r(x,z) :- y < z.\n",
           ".decl r(x:number, y:number)\n" + rules + ".plan 0: (2,1)\n",
           ".decl r(x:number, y:number) no_magic\n" + rules,
           ".decl r(x:number, y:number)\n" + rules + "r(x,autoinc()) :- b(x).\n",
       }) {
    EXPECT_TRUE(transform(edges + declared + asked).relations.empty()) << declared;
  }
  // A column of floats is never bound.
  EXPECT_TRUE(transform(".decl e(x:float, y:float)\n.input e\n.decl r(x:float, y:float)\n" + rules +
                        ".decl o(y:float)\n.output o\no(y) :- r(1.0,y).\n")
                  .relations.empty());
}

TEST(magic_transform, facts_and_loaded_rows_answer_too) {
  const transformed facts = transform(left_linear + "r(1,7).\n" + asked);
  EXPECT_TRUE(facts.rules.contains("r@1(x,y) :- r@2(x), r(x,y)."));
  const transformed loaded = transform(left_linear + ".input r\n" + asked);
  EXPECT_TRUE(loaded.rules.contains("r@1(x,y) :- r@2(x), r(x,y)."));
  EXPECT_TRUE(transform(right_linear + ".input r\n" + asked).relations.contains("r@1"));
  EXPECT_FALSE(transform(right_linear + ".input r\n" + asked).relations.contains("r@steps"));
}

}  // namespace
}  // namespace gpulog::plan
