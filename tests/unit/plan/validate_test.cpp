#include "plan/validate.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

program small_plan() {
  return plan_text(
      ".decl e(x:number, y:number)\n.input e\n.decl r(x:number, y:number)\n"
      "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n");
}

rule_version& loop_version(program& plan) { return plan.strata.back().loop[0].versions[0]; }

TEST(validate, a_plan_is_valid) { EXPECT_EQ(validate(small_plan()), std::vector<std::string>()); }

TEST(validate, what_no_output_needs_is_in_no_stratum) {
  const analysed_text analysed = analyse_text(
      ".decl e(x:number)\ne(1).\n.decl kept(x:number)\nkept(x) :- e(x).\n.output kept\n"
      ".decl left(x:number)\nleft(x) :- e(x).\n",
      "program.dl");
  options chosen;
  chosen.modes.set("unneeded-relations", tuning_mode::always);
  program plan = make_plan(analysed.program, {}, chosen);
  EXPECT_EQ(validate(plan), std::vector<std::string>());
  for (const relation& one : plan.relations) EXPECT_EQ(one.is_left_out, one.name == "left") << one.name;
  plan.relations[0].is_left_out = true;
  EXPECT_EQ(validate(plan), std::vector<std::string>{"e is in 1 strata"});
}

TEST(validate, finds_what_is_wrong) {
  const std::string rule = "r(x,y) :- r(x,z), e(z,y).: ";
  const std::vector<std::pair<std::vector<std::string>, std::function<void(program&)>>> mistakes = {
      {{rule + "does not end in an insert"}, [](program& plan) { loop_version(plan).operations.pop_back(); }},
      {{rule + "operator 2 reads slot 9 before it is bound"},
       [](program& plan) {
         std::get<insert>(loop_version(plan).operations.back()).values[1] = operand::slot(slot_id(9));
       }},
      {{rule + "a search has no index"},
       [](program& plan) { std::get<match>(loop_version(plan).operations[1]).index = {}; }},
      {{rule + "index 0 is not searched by 2 columns"},
       [](program& plan) {
         auto& keys = std::get<match>(loop_version(plan).operations[1]).keys;
         keys.push_back(keys.front());
       }},
      {{rule + "column 1 is not in the payload"}, [](program& plan) { plan.indexes[0].payload.clear(); }},
      {{rule + "operator 2 reads slot 2 before it is bound", rule + "slot 1 is reused inside a loop that reads it"},
       [](program& plan) {
         auto& search = std::get<match>(loop_version(plan).operations[1]);
         search.bindings[0].slot = slot_id(search.keys[0].value);
       }},
      {{rule + "an insert does not give all columns"},
       [](program& plan) { std::get<insert>(loop_version(plan).operations.back()).values.pop_back(); }},
      {{"e is in 0 strata"}, [](program& plan) { plan.strata.erase(plan.strata.begin()); }},
      {{"index 0: is no order of all columns"}, [](program& plan) { plan.indexes[0].order.pop_back(); }},
  };
  for (const auto& [problems, break_plan] : mistakes) {
    program plan = small_plan();
    break_plan(plan);
    EXPECT_EQ(validate(plan), problems);
  }
}

}  // namespace
}  // namespace gpulog::plan
