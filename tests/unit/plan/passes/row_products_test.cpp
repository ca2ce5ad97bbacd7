#include "plan/passes/recursions/row_equations.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// How the stratum of r grows by products.
std::optional<row_equations> products(const std::string& rules) {
  const program plan = plan_text(
      ".decl a(x:number, y:number)\n.input a\n.decl b(x:number, y:number)\n.input b\n"
      ".decl c(x:number, y:number, z:number)\n.input c\n.decl r(x:number, y:number)\n" +
      rules);
  for (const stratum& one : plan.strata) {
    if (plan.relations[one.relations.front().value].name == "r" && one.has_row_products()) return one.rows;
  }
  return std::nullopt;
}

const relation_id a(0);
const relation_id b(1);
const relation_id c(2);

TEST(row_products, same_generation) {
  const auto found = products("r(x,y) :- a(p,x), a(p,y), x != y.\nr(x,y) :- a(u,x), r(u,v), a(v,y), x != y.\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->filters.size(), 1U);
  ASSERT_EQ(found->rules.size(), 1U);
  EXPECT_EQ(found->rules[0], (row_rule{column_pairs{a, 1, 0}, column_pairs{a, 0, 1}, true, true}));
}

TEST(row_products, whatever_the_order_of_the_body_and_the_columns) {
  for (const char* body : {"c(x,_,u), r(u,v), b(y,v)", "b(y,v), r(u,v), c(x,_,u)", "r(u,v), c(x,_,u), b(y,v)"}) {
    const auto found = products("r(x,y) :- a(x,y).\nr(x,y) :- " + std::string(body) + ".\n");
    ASSERT_TRUE(found) << body;
    EXPECT_TRUE(found->filters.empty()) << body;
    ASSERT_EQ(found->rules.size(), 2U) << body;
    EXPECT_EQ(found->rules[0], (row_rule{column_pairs{c, 0, 2}, column_pairs{b, 1, 0}, true, false})) << body;
    EXPECT_EQ(found->rules[1], (row_rule{column_pairs{a, 0, 1}, std::nullopt, false, true})) << body;
  }
}

TEST(row_products, several_rules_on_one_side_or_both) {
  const auto found = products(
      "r(x,y) :- a(x,y).\nr(x,y) :- a(x,u), r(u,y).\nr(x,y) :- r(x,v), b(v,y).\nr(x,y) :- b(x,u), r(u,v), a(v,y).\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rules.size(), 3U);
  EXPECT_EQ(found->rules[0], (row_rule{column_pairs{a, 0, 1}, std::nullopt, true, true}));
}

TEST(row_products, rules_in_front_of_the_loop_that_are_others) {
  for (const char* first : {"a(x,y), x != y", "a(x,p), b(p,q), a(q,y)", "a(x,y), x < 3", "a(x,y), b(x,y)"}) {
    const auto found = products("r(x,y) :- " + std::string(first) + ".\nr(x,y) :- a(u,x), r(u,v), a(v,y).\n");
    ASSERT_TRUE(found) << first;
    ASSERT_EQ(found->rules.size(), 1U) << first;
    EXPECT_FALSE(found->rules[0].is_first) << first;
  }
}

TEST(row_products, what_is_none) {
  const std::string first = "r(x,y) :- a(x,y).\n";
  // A closure falls apart into searches.
  EXPECT_FALSE(products(first + "r(x,y) :- r(x,z), a(z,y).\n"));
  EXPECT_FALSE(products(first));
  for (const char* body : {
           "r(u,v), a(u,x), a(v,y), x < y",          // other comparisons
           "r(u,v), a(u,x), a(v,y), x != u",         // of other values
           "r(u,v), a(u,x), a(v,y), x != 3",         // with a constant
           "r(v,u), a(u,x), a(v,y)",                 // the other way round
           "r(u,u), a(u,x), a(u,y)",                 // of equal values
           "r(u,v), a(u,x), a(v,y), b(x,_)",         // with a test
           "r(u,v), a(u,x), a(v,y), !b(x,y)",        //
           "r(u,v), c(u,v,x), a(v,y)",               // by both columns
           "r(u,v), a(u,w), a(w,x), b(v,y)",         // two steps on one side
           "r(u,w), r(w,v), a(u,x), a(v,y)",         // with the relation twice
           "r(u,v), a(u,x), y = v + 1",              // with computed values
           "r(u,v), a(u,x), a(v,x), y = x, b(x,_)",  // both sides to one value
       })
    EXPECT_FALSE(products(first + "r(x,y) :- " + std::string(body) + ".\n")) << body;
  // A comparison that one rule has, and another one has not.
  EXPECT_FALSE(products(first + "r(x,y) :- a(u,x), r(u,v), a(v,y), x != y.\nr(x,y) :- b(u,x), r(u,v), b(v,y).\n"));
  // Relations that depend on each other.
  EXPECT_FALSE(products(".decl s(x:number, y:number)\n" + first +
                        "s(x,y) :- a(u,x), r(u,v), a(v,y).\nr(x,y) :- b(u,x), s(u,v), b(v,y).\n"));
  // Relations that lose rows or have a limit.
  EXPECT_FALSE(products(".limitsize r(n=7)\n" + first + "r(x,y) :- a(u,x), r(u,v), a(v,y).\n"));
}

}  // namespace
}  // namespace gpulog::plan
