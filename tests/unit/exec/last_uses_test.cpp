// Relations that nothing reads any more.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "plan/planner.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

const std::string steps_of_closure =
    ".decl e(x:number, y:number)\n.decl a(x:number, y:number)\n.decl b(x:number, y:number)\n"
    ".decl c(x:number, y:number)\n.decl d(x:number, y:number)\n"
    "a(x,y) :- e(x,y).\na(x,z) :- a(x,y), e(y,z).\nb(x,y) :- a(y,x).\nc(x,y) :- b(x,y), x < y.\nd(x,y) :- c(x,y), "
    "!e(x,y).\n";

class last_uses_of : public ::testing::TestWithParam<run_mode> {};

TEST_P(last_uses_of, rows_are_those_of_the_last_reader) {
  const analysed_text source(steps_of_closure);
  const plan::program plan = plan::make_plan(source.program);
  const auto id = [&source](const char* name) { return source.program.find_relation(name).value(); };
  const tuples edges = {{3, 1}, {1, 2}, {2, 0}, {4, 4}};
  const tuples expected = {{1, 3}, {2, 3}, {0, 3}, {0, 1}, {0, 2}};
  for (const bool has_results : {false, true}) {
    options chosen;
    if (has_results) {
      chosen.results.assign(source.program.relations.size(), false);
      chosen.results[id("d").value] = chosen.results[id("b").value] = true;
    }
    plan_run run(plan, GetParam(), 0, chosen);
    run.load(id("e"), 2, edges);
    run->evaluate();
    EXPECT_EQ(run.rows_of(id("d")), expected);
    EXPECT_EQ(run.rows_of(id("b")).size(), 7U);
    for (const char* const freed : {"e", "a", "c"}) {
      EXPECT_EQ(run->has_freed(id(freed)), has_results) << freed;
      EXPECT_EQ(run->rows(id(freed)) == 0, has_results) << freed;
    }
    for (const char* const result : {"b", "d"}) EXPECT_FALSE(run->has_freed(id(result))) << result;
  }
}

INSTANTIATE_TEST_SUITE_P(modes, last_uses_of, ::testing::ValuesIn(all_run_modes()),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace gpulog::exec
