#include "plan/cost/cost_model.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "plan/cost/calibration.hpp"
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
  // typed is a copy of kind: the same number of rows, one row per h.
  EXPECT_DOUBLE_EQ(costs.rows(typed, row_part::all), 40000);
  EXPECT_DOUBLE_EQ(costs.fan_out(typed, row_part::all, {0}), 1);
  // The second column of points has values of allocates (30,000), or of held, which come from points (40,000).
  // Not a key: values with many rows are searched more often.
  EXPECT_DOUBLE_EQ(costs.fan_out(points, row_part::all, {1}), 4 * costs.rows(points, row_part::all) / 40000);
}

TEST(cost_model, a_further_column_counts_by_a_smaller_power) {
  const analysed_text text = analyse_text(analysis);
  const cost_model costs(text.program, known_statistics());
  const relation_id stores = text.program.find_relation("stores").value();
  EXPECT_DOUBLE_EQ(costs.fan_out(stores, row_part::all, {4}), 4 * 20);
  EXPECT_NEAR(costs.fan_out(stores, row_part::all, {3, 2}), 4 * 100000 / (900 * 17.3205), 1e-3);
}

TEST(cost_model, a_join_by_keys_has_as_many_rows_as_one_side) {
  const analysed_text text = analyse_text(
      ".decl from(i:number, v:number)\n.input from\n.decl to(i:number, v:number)\n.input to\n"
      ".decl moves(a:number, b:number)\nmoves(a,b) :- from(i,a), to(i,b).\n"
      ".decl both(v:number)\nboth(v) :- from(_,v).\nboth(v) :- to(_,v).\n");
  statistics known;
  known.relations.resize(2);
  known.relations[0] = {50000, {50000, 20000}};
  known.relations[1] = {60000, {60000, 20000}};
  const cost_model costs(text.program, known);
  EXPECT_DOUBLE_EQ(costs.rows(text.program.find_relation("moves").value(), row_part::all), 50000);
  EXPECT_DOUBLE_EQ(costs.rows(text.program.find_relation("both").value(), row_part::all), 40000);
}

TEST(cost_model, recursion_is_measured_by_what_it_reads) {
  const analysed_text text = analyse_text(
      ".decl facts(a:number, b:number)\n.input facts\n.decl super(a:number, b:number)\n.input super\n"
      ".decl below(a:number, b:number)\nbelow(a,b) :- super(a,b).\nbelow(a,c) :- below(a,b), super(b,c).\n"
      ".decl counted(a:number)\ncounted(0).\ncounted(a+1) :- counted(a), facts(a,_).\n");
  statistics known;
  known.relations.resize(2);
  known.relations[0] = {1000000, {1000000, 1000}};
  known.relations[1] = {3000, {3000, 500}};
  const cost_model costs(text.program, known);
  EXPECT_DOUBLE_EQ(costs.rows(text.program.find_relation("below").value(), row_part::all), 30000);
  EXPECT_DOUBLE_EQ(costs.rows(text.program.find_relation("counted").value(), row_part::all), 10000000);
}

TEST(cost_model, a_small_step_into_a_wide_one_is_not_taken) {
  statistics known;
  known.relations.resize(3);
  known.relations[0] = {200, {200, 200}};
  known.relations[1] = {12000, {3000, 3000}};
  known.relations[2] = {350000, {350000, 3000}};
  const program plan = plan_text(
      ".decl component(a:number, c:number)\n.input component\n.decl super(t:number, s:number)\n.input super\n"
      ".decl typed(v:number, t:number)\n.input typed\n"
      ".decl loads(v:number, a:number)\nloads(v,a) :- loads(v,b), holds(b,a).\nloads(v,v) :- typed(v,_).\n"
      ".decl holds(b:number, a:number)\n"
      "holds(b,v) :- holds(a,b), component(b,c), super(t,c), typed(v,t), loads(v,a).\nholds(a,a) :- component(a,_).\n",
      {}, known);
  const std::string text = explain(plan);
  // The variables of all supertypes have many more rows than the loads from the array.
  const std::size_t version = text.find("for holds(a,b) in delta");
  ASSERT_NE(version, std::string::npos) << text;
  const std::size_t loads = text.find("match loads[a]", version);
  const std::size_t types = text.find("match super[", version);
  ASSERT_NE(loads, std::string::npos) << text;
  EXPECT_LT(loads, types) << text;
}

TEST(cost_model, a_narrow_search_in_a_wide_relation_comes_before_a_wide_one_in_a_narrow_relation) {
  const program plan = plan_text(analysis, {}, known_statistics());
  const std::string text = explain(plan);
  // The version reads the stores into variables of the changed object, not all objects of all subtypes.
  const std::size_t version = text.find("for points(b,base) in delta");
  ASSERT_NE(version, std::string::npos) << text;
  const std::size_t stores = text.find("match stores[base]", version);
  const std::size_t subtypes = text.find("match sub[", version);
  ASSERT_NE(stores, std::string::npos) << text;
  EXPECT_LT(stores, subtypes) << text;
}

TEST(cost_model, where_little_is_known_of_columns_bounds_hold) {
  // The first column is computed; the second has 4 registers, the third 50 blocks.
  const analysed_text text = analyse_text(
      ".decl adjust(ea:number, reg:number, b:number)\n.input adjust\n"
      ".decl adjusted(ea:number, reg:number, b:number)\nadjusted(ea * 2,reg,b) :- adjust(ea,reg,b).\n");
  statistics known;
  known.relations.resize(1);
  known.relations[0] = {10000, {10000, 4, 50}};
  const cost_model costs(text.program, known);
  const relation_id adjusted = text.program.find_relation("adjusted").value();
  ASSERT_DOUBLE_EQ(costs.rows(adjusted, row_part::all), 10000);
  // An address has at most one row per register and block; an address and a block at most one row per register.
  EXPECT_DOUBLE_EQ(costs.fan_out(adjusted, row_part::all, {0}), 200);
  EXPECT_DOUBLE_EQ(costs.fan_out(adjusted, row_part::all, {0, 2}), 4);
  // The bound by the block alone also holds.
  EXPECT_LE(costs.fan_out(adjusted, row_part::all, {0, 2}), costs.fan_out(adjusted, row_part::all, {2}));
}

TEST(cost_model, indexes_cost_what_sorting_their_rows_takes) {
  const analysed_text text = analyse_text(analysis);
  cost_model costs(text.program, known_statistics());
  const relation_id kind = text.program.find_relation("kind").value();
  const relation_id sub = text.program.find_relation("sub").value();
  EXPECT_DOUBLE_EQ(costs.index_cost(kind, {1}), 0);  // before indexes are known
  index there;
  there.relation = sub;
  there.order = {1, 0};
  there.key_lengths = {1};
  costs.charge_indexes({there}, {sub});
  const double row = calibration::host_index_row_seconds / calibration::host_binding_seconds;
  EXPECT_DOUBLE_EQ(costs.index_cost(kind, {1}), 40000 * row);
  EXPECT_DOUBLE_EQ(costs.index_cost(kind, {0, 1}), 0);  // in its tuple set
  EXPECT_DOUBLE_EQ(costs.index_cost(sub, {1}), 0);
  EXPECT_DOUBLE_EQ(costs.index_cost(sub, {0, 1}), calibration::all_columns_factor * 20000 * row);  // it has no set
  costs.expect_index(kind, {1});
  EXPECT_DOUBLE_EQ(costs.index_cost(kind, {1}), 0);
}

TEST(cost_model, a_test_comes_before_an_atom_that_multiplies) {
  const program plan = plan_text(
      ".decl at(b:number, ea:number, reg:number)\n.input at\n.decl adjust(reg:number, ea:number)\n.input adjust\n"
      ".decl follows(b:number, ea:number)\n.input follows\n.decl o(b:number, x:number)\n.output o\n"
      "o(b,n) :- at(b,e,r), adjust(r,n), follows(b,e).\n");
  std::vector<std::string> read;
  for (const operation& one : plan.strata.back().once.versions[0].operations) {
    if (const auto* all = std::get_if<scan>(&one)) read.push_back(plan.relations[all->relation.value].name);
    if (const auto* search = std::get_if<match>(&one)) read.push_back(plan.relations[search->relation.value].name);
    if (const auto* test = std::get_if<exists>(&one)) read.push_back(plan.relations[test->relation.value].name);
  }
  EXPECT_EQ(read, (std::vector<std::string>{"at", "follows", "adjust"}));
}

TEST(cost_model, constant_ranges_have_as_many_rows_as_values) {
  const std::string head =
      ".decl p(x:number)\n.input p\n.decl r(x:number)\n.output r\n.decl f(x:float)\n.output f\n"
      ".decl u(x:unsigned)\n.output u\n";
  const auto expected = [&](const std::string& rule) {
    for (const stratum& planned : plan_text(head + rule).strata) {
      if (!planned.once.versions.empty()) return planned.once.versions[0].estimates.back();
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(8, 2000).\n"), 1992);
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(-3, 4, 2).\n"), 4);
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(4, -3).\n"), 7);
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(4, 4).\n"), 0);
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(0, 4, 0).\n"), 1);
  EXPECT_DOUBLE_EQ(expected("r(x) :- x = range(0, 4, -1).\n"), 0);
  EXPECT_DOUBLE_EQ(expected("r(x + y) :- p(x), y = range(0, 5).\n"), 5 * expected("r(x) :- p(x).\n"));
  EXPECT_DOUBLE_EQ(expected("r(x) :- p(y), x = range(0, y).\n"), expected("r(x) :- p(x).\n"));
  EXPECT_DOUBLE_EQ(expected("f(x) :- x = range(0.0, 2.0, 0.25).\n"), 8);
  EXPECT_DOUBLE_EQ(expected("u(x) :- x = range(3000000000, 3000000010).\n"), 10);
}

TEST(cost_model, a_first_match_passes_on_each_binding_once) {
  statistics known;
  known.relations.resize(2);
  known.relations[0] = {100, {100, 10}};
  known.relations[1] = {1000, {10, 100}};
  const program plan = plan_text(
      ".decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n"
      ".decl r(x:number)\n.output r\nr(x) :- e(x,y), f(y,z), z > 3.\n",
      {}, known);
  const rule_version& version = plan.strata.back().once.versions[0];
  ASSERT_EQ(version.first_matches.size(), 1U);
  EXPECT_DOUBLE_EQ(version.estimates[0], 100);
  EXPECT_GT(version.estimates[1], 100);
  EXPECT_DOUBLE_EQ(version.estimates.back(), 100);
}

}  // namespace
}  // namespace gpulog::plan
