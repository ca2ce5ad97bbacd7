#include "plan/passes/relations/dense_domains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// What the columns of r take their values from, as "name.column", with the largest constant behind; nothing where
/// that is not known.
std::optional<std::vector<std::string>> domain_of_r(const std::string& text) {
  const program plan = plan_text(text);
  for (const stratum& one : plan.strata) {
    for (const relation_domain& domain : one.domains) {
      if (plan.relations[domain.relation.value].name != "r") continue;
      std::vector<std::string> column_names;
      for (const column_domain& column : domain.columns) {
        std::string sources;
        for (const column_place& source : column.sources) {
          const relation& from = plan.relations[source.relation.value];
          if (!from.supplementary) sources += from.name + "." + std::to_string(source.column) + " ";
        }
        column_names.push_back(sources + std::to_string(column.largest_constant));
      }
      return column_names;
    }
  }
  return std::nullopt;
}

const std::string dense_inputs =
    ".decl e(x:number, y:number)\n.input e\n.decl w(x:number, y:number, z:number)\n.input w\n"
    ".decl r(x:number, y:number)\n";
using column_names = std::vector<std::string>;

TEST(domains, values_flow_through_rules) {
  EXPECT_EQ(domain_of_r(dense_inputs + "r(x,y) :- e(x,y).\nr(x,y) :- r(x,z), e(z,y).\n"),
            (column_names{"e.0 r.0 0", "e.1 r.1 0"}));
  EXPECT_EQ(domain_of_r(dense_inputs + "r(y,z) :- w(_,y,z), !e(y,z).\nr(y,x) :- r(x,y).\n"),
            (column_names{"w.1 w.2 r.0 r.1 0", "w.1 w.2 r.0 r.1 0"}));
}

TEST(domains, constants_count) {
  EXPECT_EQ(domain_of_r(dense_inputs + "r(7,y) :- e(_,y).\nr(x,x) :- e(x,12).\nr(3,y) :- r(_,y), y < 1000.\n"),
            (column_names{"e.0 r.0 7", "e.0 e.1 r.1 0"}));
  // All words are compared as they stand: -1 is the largest one.
  EXPECT_EQ(domain_of_r(dense_inputs + "r(-1,y) :- e(_,y).\n"), (column_names{"r.0 4294967295", "e.1 r.1 0"}));
}

TEST(domains, through_relations_of_the_same_stratum) {
  const std::string other = ".decl s(x:number, y:number, z:number)\n";
  EXPECT_EQ(
      domain_of_r(dense_inputs + other + "r(x,y) :- e(x,y).\ns(x,y,z) :- r(x,y), w(_,_,z).\nr(z,x) :- s(x,_,z).\n"),
      (column_names{"e.0 w.2 r.0 s.2 0", "e.0 e.1 w.2 r.0 r.1 s.0 s.2 0"}));
  EXPECT_FALSE(domain_of_r(dense_inputs + other +
                           "r(x,y) :- e(x,y).\ns(x,y,z) :- r(x,y), z = x + 1, z < 9.\nr(z,x) :- s(x,_,z).\n"));
}

TEST(domains, made_values_have_none) {
  EXPECT_FALSE(domain_of_r(dense_inputs + "r(x,y+1) :- e(x,y).\n"));
  EXPECT_FALSE(domain_of_r(dense_inputs + "r(x,c) :- e(x,_), c = count : e(x,_).\n"));
  EXPECT_FALSE(domain_of_r(dense_inputs + "r(x,y) :- e(x,_), y = range(0,x).\n"));
  EXPECT_FALSE(domain_of_r(dense_inputs + ".decl q(x:number, y:number) eqrel\nq(x,y) :- e(x,y).\nr(x,y) :- q(x,y).\n"));
}

TEST(domains, relations_that_are_no_plain_sets_have_none) {
  EXPECT_FALSE(domain_of_r(dense_inputs + "r(x,y) :- e(x,y).\nr(x,y) <= r(x,z) :- y < z.\n"));
  EXPECT_FALSE(
      domain_of_r(".decl e(x:number, y:number)\n.input e\n.decl r(x:number, y:number) choice-domain x\nr(x,y) :- "
                  "e(x,y).\n"));
}

}  // namespace
}  // namespace gpulog::plan
