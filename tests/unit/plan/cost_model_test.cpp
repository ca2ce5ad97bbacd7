#include "plan/cost_model.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plan/explain.hpp"
#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

const std::string analysis =
    ".decl allocates(h:number, v:number)\n.input allocates\n"
    ".decl stores(from:number, base:number, f:number, line:number, inside:number)\n.input stores\n"
    ".decl kind(h:number, t:number)\n.input kind\n.decl sub(s:number, t:number)\n.input sub\n"
    ".decl typed(h:number, t:number)\ntyped(h,t) :- kind(h,t).\n"
    ".decl points(h:number, v:number)\npoints(h,v) :- allocates(h,v).\n"
    "points(h,v) :- held(h,v).\n.decl held(h:number, b:number)\n"
    "held(h,b) :- stores(from,base,_,_,_), points(b,base), points(h,from), typed(h,s), typed(b,t), sub(s,t).\n";

statistics known_statistics() {
  statistics known;
  known.relations.resize(4);
  known.relations[0] = {40000, {40000, 30000}};
  known.relations[1] = {100000, {6000, 4000, 900, 300, 5000}};
  known.relations[2] = {40000, {40000, 1000}};
  known.relations[3] = {20000, {1200, 1200}};
  return known;
}

TEST(cost_model, derived_columns_hold_no_more_values_than_what_they_come_from) {
  const analysed_text text = analyse_text(analysis);
  const cost_model costs(text.program, known_statistics());
  const relation_id points = text.program.find_relation("points").value();
  const relation_id typed = text.program.find_relation("typed").value();
  // typed is a copy of kind: as many rows, and one for each h.
  EXPECT_DOUBLE_EQ(costs.rows(typed, part::all), 40000);
  EXPECT_DOUBLE_EQ(costs.fan_out(typed, part::all, {0}), 1);
  // The second column of points is one of allocates (30,000 values) or of held, where it is an h of points (40,000).
  EXPECT_DOUBLE_EQ(costs.fan_out(points, part::all, {1}), costs.rows(points, part::all) / 40000);
}

TEST(cost_model, a_further_column_counts_by_a_smaller_power) {
  const analysed_text text = analyse_text(analysis);
  const cost_model costs(text.program, known_statistics());
  const relation_id stores = text.program.find_relation("stores").value();
  EXPECT_DOUBLE_EQ(costs.fan_out(stores, part::all, {4}), 20);
  EXPECT_NEAR(costs.fan_out(stores, part::all, {3, 2}), 100000 / (900 * 17.3205), 1e-3);
}

TEST(cost_model, a_narrow_search_in_a_wide_relation_comes_before_a_wide_one_in_a_narrow_relation) {
  const program plan = plan_text(analysis, {}, known_statistics());
  const std::string text = explain(plan);
  // What is stored into the changed object's variables, not all objects of all subtypes.
  const std::size_t version = text.find("for points(b,base) in delta");
  ASSERT_NE(version, std::string::npos) << text;
  const std::size_t stores = text.find("match stores[base]", version);
  const std::size_t subtypes = text.find("match sub[", version);
  ASSERT_NE(stores, std::string::npos) << text;
  EXPECT_LT(stores, subtypes) << text;
}

}  // namespace
}  // namespace gpulog::plan
