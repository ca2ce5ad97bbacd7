#include "plan/passes/relations/semi_join_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

const options always_reduced{.modes = {{"semi-join-reduction", tuning_mode::always}}};

const std::string pointer_declarations =
    ".decl e(x:number, y:number)\n.input e\n.decl load(v:number, b:number, m:number)\n.input load\n"
    ".decl pts(a:number, v:number)\npts(a,v) :- e(a,v).\n.decl array(a:number, h:number)\narray(a,h) :- pts(a,h).\n"
    ".decl seen(m:number)\nseen(m) :- array(_,m).\n";

/// A new row of array searches pts by a, before it knows anything of load.
const std::string reader = "pts(h,v) :- seen(m), load(v,b,m), pts(a,b), e(a,_), array(a,h).\n";

/// Rules of relations that were made.
std::set<std::string> made_rules(const std::string& text, const options& chosen, const statistics& known = {}) {
  const program plan = plan_text(text, chosen, known);
  std::set<std::string> texts;
  for (const stratum& one : plan.strata) {
    for (const phase& repeated : one.loop) {
      for (const rule_version& version : repeated.versions) {
        if (plan.relations[version.head.value].supplementary) texts.insert(version.text);
      }
    }
  }
  return texts;
}

using texts = std::set<std::string>;

TEST(semi_join_reduction, rows_with_a_partner_in_a_complete_relation_are_a_relation) {
  EXPECT_EQ(made_rules(pointer_declarations + reader, {}, comparing(1e5, 0.01, 0.05)),
            texts{"pts@1(a,v) :- pts(a,v), load(_,v,_)."});
}

TEST(semi_join_reduction, by_itself_only_where_few_of_many_values_have_a_partner) {
  const auto reduces = [](const statistics& known) {
    return !made_rules(pointer_declarations + reader, {}, known).empty();
  };
  EXPECT_FALSE(reduces({}));
  EXPECT_TRUE(reduces(comparing(1e5, 0.1, 0.1)));
  EXPECT_FALSE(reduces(comparing(1e5, 0.2, 0.1)));
  EXPECT_FALSE(reduces(comparing(1e5, 0.1, 0.2)));
  EXPECT_FALSE(reduces(comparing(100, 0.1, 0.1)));
}

TEST(semi_join_reduction, not_where_no_other_atom_searches_before) {
  const statistics few = comparing(1e5, 0.01, 0.01);
  // Each new row of seen knows load first.
  EXPECT_EQ(made_rules(pointer_declarations + "pts(v,v) :- seen(m), load(v,b,m), pts(_,b).\n", {}, few), texts{});
  // So does each of array.
  EXPECT_EQ(made_rules(pointer_declarations + "pts(h,v) :- load(v,b,a), pts(a,b), array(a,h).\n", {}, few), texts{});
}

TEST(semi_join_reduction, not_where_the_join_of_the_two_is_a_relation) {
  const std::string text = pointer_declarations + "pts(h,v) :- load(v,b,_), pts(a,b), array(a,h).\n";
  EXPECT_EQ(made_rules(text, {}, comparing(1e5, 0.01, 0.01)), texts{"pts@1(v,a) :- load(v,b,_), pts(a,b)."});
}

TEST(semi_join_reduction, the_same_rows_of_several_rules_are_one_relation) {
  const std::string other = "array(h,v) :- seen(m), load(v,b,m), pts(a,b), e(a,_), array(a,h), h < v.\n";
  EXPECT_EQ(made_rules(pointer_declarations + reader + other, {}, comparing(1e5, 0.01, 0.01)),
            texts{"pts@1(a,v) :- pts(a,v), load(_,v,_)."});
}

TEST(semi_join_reduction, repeated_variables_constants_and_unnamed_columns) {
  const std::string wide =
      ".decl w(x:number, y:number, z:number, t:number)\nw(x,y,x,1) :- pts(x,y).\n"
      "pts(x,y) :- w(x,x,3,_), load(x,y,7).\n";
  EXPECT_TRUE(
      made_rules(pointer_declarations + wide, always_reduced).contains("w@1(x,y,z) :- w(x,y,z,_), load(x,_,7)."));
}

TEST(semi_join_reduction, not_where_results_tell_the_order) {
  const std::string order =
      ".decl n(i:unsigned)\nn(recursive_iteration_cnt()) :- array(_,_).\narray(a,a) :- e(a,_), n(_).\n";
  EXPECT_EQ(made_rules(pointer_declarations + reader + order, always_reduced), texts{});
}

/// A rule whose orders are written, over two relations of the recursion: a new row of array knows live only after pts.
std::string ordered(const std::string& orders) {
  return pointer_declarations +
         ".decl live(v:number, b:number)\nlive(v,b) :- load(v,b,_), pts(_,v).\n"
         "pts(h,v) :- live(v,b), pts(a,b), array(a,h).\n" +
         orders;
}

TEST(semi_join_reduction, keeps_written_orders_that_search_the_relation_first) {
  const std::string text = ordered(".plan 0: (1,2,3), 1: (2,1,3), 2: (3,2,1)\n");
  EXPECT_EQ(made_rules(text, {}), texts{"pts@1(a,v) :- pts(a,v), live(_,v)."});
  const program plan = plan_text(text, {});
  const auto made = std::find_if(plan.relations.begin(), plan.relations.end(),
                                 [](const relation& one) { return one.name == "pts@1"; });
  ASSERT_NE(made, plan.relations.end());
  ASSERT_TRUE(made->reduced.has_value());
  EXPECT_EQ(plan.relations[made->reduced->whole.value].name, "pts");
  EXPECT_EQ(made->reduced->tested, std::vector<std::uint32_t>{1});
}

TEST(semi_join_reduction, not_where_no_written_order_searches_the_relation_first) {
  EXPECT_EQ(made_rules(ordered(".plan 1: (2,1,3), 2: (3,1,2)\n"), {}), texts{});
  EXPECT_EQ(made_rules(ordered(".plan 0: (1,2,3), 1: (2,1,3), 2: (3,1,2)\n"), {}),
            texts{"pts@1(a,v) :- pts(a,v), array(a,_)."});
}

TEST(semi_join_reduction, off) {
  options off;
  off.modes.set("semi-join-reduction", tuning_mode::off);
  EXPECT_EQ(made_rules(pointer_declarations + reader, off, comparing(1e5, 0.01, 0.01)), texts{});
}

}  // namespace
}  // namespace gpulog::plan
