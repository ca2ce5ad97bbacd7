#include "plan/passes/demand/magic_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../plan_from_text.hpp"
#include "plan/explain.hpp"

namespace gpulog::plan {
namespace {

const options always{.modes = {{"magic-sets", tuning_mode::always}}};

/// r and s read each other.
const std::string mutual_declarations =
    ".decl e(x:number, y:number)\n.input e\n.decl d(x:number, y:number)\n.input d\n.decl u(x:number)\n.input u\n"
    ".decl s(x:number, y:number)\ns(x,y) :- e(x,y).\n";
const std::string plain_r = ".decl r(x:number, y:number)\nr(x,y) :- s(x,z), s(z,y).\n";

std::vector<std::string> names_in(const program& plan, const stratum& one) {
  std::vector<std::string> names;
  for (const relation_id id : one.relations) names.push_back(plan.relations[id.value].name);
  return names;
}

/// Returns the relations of strata with rules, in order of evaluation.
std::vector<std::vector<std::string>> strata_of(const std::string& text, const options& chosen = always,
                                                const statistics& known = {}) {
  const program plan = plan_text(text, chosen, known);
  std::vector<std::vector<std::string>> strata;
  for (const stratum& one : plan.strata) {
    if (!one.once.versions.empty() || one.recursive) strata.push_back(names_in(plan, one));
  }
  return strata;
}

bool is_restricted(const std::string& text, const std::string& relation = "r", const options& chosen = always,
                   const statistics& known = {}) {
  for (const auto& names : strata_of(text, chosen, known)) {
    if (std::find(names.begin(), names.end(), relation) != names.end()) return names.size() == 1;
  }
  return false;
}

std::vector<std::string> texts_of(const program& plan, const std::string& head) {
  std::vector<std::string> texts;
  for (const stratum& one : plan.strata) {
    std::vector<const phase*> phases = {&one.once};
    for (const phase& repeated : one.loop) phases.push_back(&repeated);
    for (const phase* checked : phases) {
      for (const rule_version& version : checked->versions) {
        const bool is_known = std::find(texts.begin(), texts.end(), version.text) != texts.end();
        if (plan.relations[version.head.value].name == head && !is_known) texts.push_back(version.text);
      }
    }
  }
  return texts;
}

TEST(magic_sets, a_relation_that_is_read_at_given_keys_has_all_its_tuples_in_a_stratum_behind) {
  const std::string text = mutual_declarations + plain_r + "s(x,y) :- d(_,x), r(x,y), u(y).\n";
  const std::vector<std::vector<std::string>> expected = {{"d@1"}, {"s", "r@1", "s@1", "s@2"}, {"r"}};
  EXPECT_EQ(strata_of(text), expected);
  const program plan = plan_text(text, always);
  EXPECT_EQ(texts_of(plan, "d@1"), std::vector<std::string>{"d@1(y) :- d(_,y)."});
  EXPECT_EQ(texts_of(plan, "s@1"), std::vector<std::string>{"s@1(x,y) :- s(x,y), d@1(x)."});
  EXPECT_EQ(texts_of(plan, "s@2"), std::vector<std::string>{"s@2(x,y) :- s(x,y), u(y)."});
  EXPECT_EQ(texts_of(plan, "r@1"), std::vector<std::string>{"r@1(x,y) :- s@1(x,z), s@2(z,y)."});
  EXPECT_EQ(texts_of(plan, "r"), std::vector<std::string>{"r(x,y) :- s(x,z), s(z,y)."});
}

TEST(magic_sets, what_several_readers_and_constants_ask_for_is_united) {
  const program plan =
      plan_text(mutual_declarations + plain_r +
                    "s(x,y) :- d(x,z), r(z,y), u(y).\ns(x,y) :- r(x,y), e(x,_).\ns(x,y) :- r(7,x), u(y).\n",
                always);
  // The second rule reads all values of the second column.
  std::vector<std::string> united = texts_of(plan, "r@1");
  std::sort(united.begin(), united.end());
  const std::vector<std::string> expected = {"r@1(7).", "r@1(x) :- d(_,x).", "r@1(x) :- e(x,_)."};
  EXPECT_EQ(united, expected);
}

TEST(magic_sets, atoms_of_complete_relations_are_restricted_before_the_stratum) {
  const std::string text =
      mutual_declarations +
      ".decl r(x:number, y:number)\nr(x,y) :- e(x,z), s(z,y).\ns(x,y) :- d(x,z), r(z,y).\ns(x,y) :- s(y,x).\n";
  const std::vector<std::vector<std::string>> expected = {{"d@1"}, {"e@1"}, {"s", "r@1"}, {"r"}};
  EXPECT_EQ(strata_of(text), expected);
}

TEST(magic_sets, a_relation_that_reads_itself_at_what_it_passes_on_is_recursive_behind) {
  const std::string passing =
      mutual_declarations + ".decl r(x:number, y:number)\nr(x,y) :- s(x,y).\nr(x,y) :- r(x,z), e(z,y).\n";
  const program plan = plan_text(passing + "s(x,y) :- d(x,z), r(z,y).\n", always);
  EXPECT_EQ(names_in(plan, plan.strata.back()), std::vector<std::string>{"r"});
  EXPECT_TRUE(plan.strata.back().recursive);
  // A rule that reads only demanded keys needs only the restricted relation.
  const program given = plan_text(passing + "s(x,y) :- d(x,y), u(y), r(_,y).\n", always);
  EXPECT_EQ(names_in(given, given.strata.back()), std::vector<std::string>{"r"});
  EXPECT_FALSE(given.strata.back().recursive);
}

TEST(magic_sets, only_where_all_readers_give_the_key) {
  const std::string guarded = "s(x,y) :- d(x,z), r(z,y).\n";
  EXPECT_TRUE(is_restricted(mutual_declarations + plain_r + guarded));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "s(x,y) :- r(x,y).\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "s(x,x) :- r(_,x).\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "r(x,y) :- r(y,x).\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded, "r", {}));
  // A computed key.
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "r(x+1,y) :- s(x,y), x < 9.\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + "s(x,y) :- d(x,z), w = z+1, r(w,y).\n"));
}

TEST(magic_sets, not_where_the_order_of_evaluation_matters_or_is_given) {
  const std::string guarded = "s(x,y) :- d(x,z), r(z,y).\n";
  const std::string rule = "r(x,y) :- s(x,z), s(z,y).\n";
  EXPECT_FALSE(is_restricted(mutual_declarations + ".decl r(x:number, y:number) choice-domain x\n" + rule + guarded));
  EXPECT_FALSE(is_restricted(mutual_declarations + ".decl r(x:number, y:number) eqrel\n" + rule + guarded));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + ".limitsize s(n=100)\n"));
  EXPECT_FALSE(
      is_restricted(mutual_declarations + plain_r + guarded + ".functor f(x:number):number\ns(x,@f(y)) :- d(x,y).\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded +
                             ".plan 0:(2,1)\nr(x,x) :- s(x,z), s(z,x).\n.plan 0:(2,1)\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "s(x,y) <= s(x,z) :- y > z.\n"));
  EXPECT_FALSE(is_restricted(".pragma \"supplementary\" \"off\"\n" + mutual_declarations + plain_r + guarded));
  // Rows from facts.
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + "r(1,2).\n"));
  EXPECT_FALSE(is_restricted(mutual_declarations + plain_r + guarded + ".input r\n"));
}

/// Sizes and numbers of values for tests, with a share of common values.
TEST(magic_sets, by_itself_only_where_few_of_many_values_are_asked_for) {
  const std::string text = mutual_declarations + plain_r + "s(x,y) :- d(x,z), r(z,y), u(y).\n";
  const auto chooses = [&text](const statistics& known) { return is_restricted(text, "r", {}, known); };
  EXPECT_FALSE(chooses({}));
  EXPECT_TRUE(chooses(comparing(1e5, 0.1, 0.1)));
  EXPECT_FALSE(chooses(comparing(1e5, 0.6, 0.1)));
  EXPECT_FALSE(chooses(comparing(1e5, 0.1, 0.6)));
  EXPECT_FALSE(chooses(comparing(100, 0.1, 0.1)));
  // Relations that row-wise evaluation completes.
  const auto with_rule = [&](const std::string& declaration, const std::string& rule) {
    return mutual_declarations + declaration + rule + "s(x,y) :- d(x,z), r(z,y), u(y).\n";
  };
  const std::string binary = ".decl r(x:number, y:number)\n";
  EXPECT_TRUE(
      is_restricted(with_rule(binary, "r(x,y) :- s(x,z), s(z,y), x != y.\n"), "r", {}, comparing(1e5, 0.1, 0.1)));
  EXPECT_FALSE(
      is_restricted(with_rule(binary, "r(x,y) :- s(x,z), s(z,y), x != z.\n"), "r", {}, comparing(1e5, 0.1, 0.1)));
  EXPECT_FALSE(
      is_restricted(with_rule(binary, "r(x,y) :- s(x,z), s(z,y), !e(x,y).\n"), "r", {}, comparing(1e5, 0.1, 0.1)));
  // A relation that reads itself, or copies another relation, is not restricted.
  const statistics few = comparing(1e5, 0.01, 0.01);
  EXPECT_TRUE(chooses(few));
  EXPECT_FALSE(is_restricted(text + "r(x,y) :- r(x,z), d(z,y).\n", "r", {}, few));
  EXPECT_FALSE(
      is_restricted(mutual_declarations + ".decl r(x:number, y:number)\nr(x,y) :- s(y,x).\ns(x,y) :- d(x,z), r(z,y).\n",
                    "r", {}, few));
}

}  // namespace
}  // namespace gpulog::plan
