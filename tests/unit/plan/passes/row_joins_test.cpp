#include "plan/passes/recursions/row_equations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// How the stratum of r is evaluated row-wise.
std::optional<row_equations> row_wise(const std::string& rules) {
  const program plan = plan_text(
      ".decl a(x:number, y:number)\n.input a\n.decl b(x:number, y:number)\n.input b\n"
      ".decl c(x:number, y:number, z:number)\n.input c\n.decl r(x:number, y:number)\n" +
      rules);
  for (const stratum& one : plan.strata) {
    if (plan.relations[one.relations.front().value].name == "r" && one.is_row_join()) return one.rows;
  }
  return std::nullopt;
}

const relation_id first_relation(0);
const relation_id second_relation(1);
const relation_id third_relation(2);

TEST(row_joins, a_join_goes_from_the_heads_first_column_to_its_second) {
  const auto found = row_wise("r(x,y) :- a(x,w), b(w,y).\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rules.size(), 1U);
  EXPECT_EQ(found->rules[0].left, (column_pairs{first_relation, 0, 1}));
  EXPECT_EQ(found->rules[0].right, (column_pairs{second_relation, 0, 1}));
  EXPECT_TRUE(found->filters.empty());
}

TEST(row_joins, whatever_the_order_of_the_body) {
  for (const char* order : {"a(w,y), c(w,_,x)", "c(w,_,x), a(w,y)"}) {
    const auto found = row_wise("r(x,y) :- " + std::string(order) + ".\n");
    ASSERT_TRUE(found) << order;
    EXPECT_EQ(found->rules[0].left, (column_pairs{third_relation, 2, 0})) << order;
    EXPECT_EQ(found->rules[0].right, (column_pairs{first_relation, 0, 1})) << order;
  }
}

TEST(row_joins, rules_that_read_one_relation_beside_a_join) {
  const auto found = row_wise("r(x,y) :- a(x,w), b(w,y).\nr(x,y) :- b(y,x).\nr(x,x) :- a(x,_).\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rules.size(), 3U);
  EXPECT_EQ(found->rules[1].left, (column_pairs{second_relation, 1, 0}));
  EXPECT_FALSE(found->rules[1].right);
  EXPECT_EQ(found->rules[2].left, (column_pairs{first_relation, 0, 0}));
}

TEST(row_joins, comparisons_of_the_result_that_all_rules_have) {
  const auto found = row_wise("r(x,y) :- a(x,w), b(w,y), x != y, y < 7.\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->filters.size(), 2U);
  using side = row_filter::side;
  EXPECT_EQ(found->filters[1], (row_filter{comparison_op::not_equal, side::source, side::target, 0, 0}));
  EXPECT_EQ(found->filters[0], (row_filter{comparison_op::less_number, side::target, side::constant, 0, 7}));
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), b(w,y), x != y.\nr(x,y) :- a(x,w), a(w,y).\n"));
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), b(w,y), w != y.\n"));
}

TEST(row_joins, not_where_a_row_is_more_than_ranges_of_values) {
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,y).\n"));                  // joins nothing
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,_), b(_,y).\n"));          // a product
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), b(w,y), a(y,x).\n"));  // a third atom
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), c(w,3,y).\n"));        // searched by two columns
  EXPECT_FALSE(row_wise("r(x,y+1) :- a(x,w), b(w,y).\n"));        // computes
  EXPECT_FALSE(row_wise("r(3,y) :- a(_,w), b(w,y).\n"));          // one row only
  EXPECT_FALSE(row_wise("r(w,y) :- a(_,w), b(w,y).\n"));          // both of one atom
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), b(w,y).\nr(x,y) :- r(x,w), r(w,y), a(x,y).\n"));
  EXPECT_FALSE(row_wise("r(x,y) :- a(x,w), b(w,y).\n.limitsize r(n=5)\n"));
}

/// By delta atom: how the versions of r in a loop are evaluated row-wise.
std::map<int, std::optional<row_equations>> row_wise_versions(const std::string& rules) {
  const program plan = plan_text(
      ".decl a(x:number, y:number)\n.input a\n.decl b(x:number, y:number)\n.input b\n"
      ".decl r(x:number, y:number)\n.printsize r\nr(x,y) :- a(x,y).\n" +
      rules);
  std::map<int, std::optional<row_equations>> found;
  for (const stratum& one : plan.strata) {
    for (const phase& repeated : one.loop) {
      for (const rule_version& version : repeated.versions) found[version.delta_atom] = version.rows;
    }
  }
  return found;
}
const relation_id r(2);

TEST(row_joins, of_a_version_reads_parts) {
  auto found = row_wise_versions("r(x,y) :- r(x,w), r(w,y), x != y.\n");
  ASSERT_EQ(found.size(), 2U);
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_EQ(found[0]->rules[0].left, (column_pairs{r, 0, 1, row_part::delta}));
  EXPECT_EQ(found[0]->rules[0].right, (column_pairs{r, 0, 1, row_part::all}));
  EXPECT_EQ(found[0]->filters.size(), 1U);
  EXPECT_EQ(found[1]->rules[0].left, (column_pairs{r, 0, 1, row_part::old}));
  EXPECT_EQ(found[1]->rules[0].right, (column_pairs{r, 0, 1, row_part::delta}));
}

TEST(row_joins, of_a_version_whose_stratum_does_other_things) {
  auto found = row_wise_versions("r(x,y) :- b(w,x), r(w,y).\nr(x,x+1) :- r(x,_), x < 10.\n");
  bool has_join = false;
  for (const auto& [delta, rows] : found) has_join = has_join || rows.has_value();
  EXPECT_TRUE(has_join);
}

TEST(row_joins, of_no_version_that_only_copies_or_tests) {
  for (const char* rules : {"r(x,y) :- r(y,x).\n", "r(x,y) :- r(x,w), b(w,y), a(y,x).\n"}) {
    for (const auto& [delta, rows] : row_wise_versions(rules)) EXPECT_FALSE(rows) << rules;
  }
}

}  // namespace
}  // namespace gpulog::plan
