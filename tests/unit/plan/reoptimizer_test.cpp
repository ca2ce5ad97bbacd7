#include "plan/reoptimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "plan/reads.hpp"
#include "plan/validate.hpp"
#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

/// Sizes of relations, set by the test.
class told_measures final : public relation_measures {
 public:
  struct sizes {
    std::uint64_t rows = 0;
    double per_first = 1;  ///< rows per value of the first column
    double per_second = 1;
    std::optional<double> found_share =
        1;  ///< share of successful searches by one column; nothing: unknown from samples
    std::optional<double> joined_rows = {};  ///< rows per search; nothing: as for an average value
  };
  told_measures(const program& plan, const std::map<std::string, sizes>& told) {
    for (std::uint32_t number = 0; number < plan.relations.size(); ++number) {
      const auto found = told.find(plan.relations[number].name);
      if (found != told.end()) told_[relation_id(number)] = found->second;
    }
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override {
    const auto found = told_.find(relation);
    return found == told_.end() ? 0 : found->second.rows;
  }
  [[nodiscard]] std::optional<double> rows_per_key(relation_id relation,
                                                   const std::vector<std::uint32_t>& columns) const override {
    const auto found = told_.find(relation);
    if (found == told_.end()) return std::nullopt;
    ++asked_[{relation, columns}];
    if (columns.size() > 1) return 1;
    return columns.front() == 0 ? found->second.per_first : found->second.per_second;
  }
  [[nodiscard]] std::optional<measured_join> join_of(column_place, column_place searched) const override {
    const auto found = told_.find(searched.relation);
    if (found == told_.end() || !found->second.found_share) return std::nullopt;
    const double share = *found->second.found_share;
    const double rows = searched.column == 0 ? found->second.per_first : found->second.per_second;
    return measured_join{share, found->second.joined_rows.value_or(share * rows)};
  }
  /// Returns the maximum number of requests for the rows per value of one set of columns.
  [[nodiscard]] std::size_t most_asked() const {
    std::size_t most = 0;
    for (const auto& [searched, times] : asked_) most = std::max(most, times);
    return most;
  }

 private:
  std::map<relation_id, sizes> told_;
  mutable std::map<std::pair<relation_id, std::vector<std::uint32_t>>, std::size_t> asked_;
};

/// Relations with computed values, whose sizes are unknown before the run.
const std::string computed =
    ".decl raw(x:number, y:number)\n.input raw\n"
    ".decl a(x:number, y:number)\na(x,y*3) :- raw(x,y), y < 5.\n"
    ".decl b(x:number, y:number)\nb(x,y*5) :- raw(y,x).\n"
    ".decl c(x:number, y:number)\nc(x,y*7) :- raw(x,y).\n";

struct prepared {
  analysed_text text;
  std::unique_ptr<reoptimizer> planner;
  const program& plan;

  explicit prepared(const std::string& program_text, options chosen = {})
      : text(analyse_text(program_text)),
        planner(std::make_unique<reoptimizer>(text.program, statistics{}, std::move(chosen))),
        plan(planner->plan()) {}

  /// Returns the stratum of a relation.
  [[nodiscard]] std::size_t stratum_of(const std::string& relation) const {
    for (std::size_t number = 0; number < plan.strata.size(); ++number) {
      if (plan.relations[plan.strata[number].relations.front().value].name == relation) return number;
    }
    ADD_FAILURE() << "no stratum has relation " << relation;
    return 0;
  }
  /// Returns the relations that a version reads, in order.
  [[nodiscard]] std::vector<std::string> order_of(const rule_version& version) const {
    std::vector<std::string> names;
    for_each_read(version,
                  [&](relation_id relation, index_id, bool) { names.push_back(plan.relations[relation.value].name); });
    return names;
  }
  bool reoptimize(const std::string& relation, const std::map<std::string, told_measures::sizes>& told) {
    measures = std::make_unique<told_measures>(plan, told);
    return planner->reoptimize(stratum_of(relation), *measures);
  }
  std::unique_ptr<told_measures> measures;
};

using names = std::vector<std::string>;

TEST(reoptimizer, joins_what_has_few_rows_for_each_key_first) {
  const std::string text =
      computed + ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,z) :- a(x,k), b(k,y), c(k,z).\n";
  prepared first(text);
  ASSERT_TRUE(first.reoptimize("o", {{"a", {100, 1, 1}}, {"b", {100000, 50, 1}}, {"c", {100000, 1, 1}}}));
  EXPECT_EQ(first.order_of(first.plan.strata[first.stratum_of("o")].once.versions[0]), (names{"a", "c", "b"}));
  EXPECT_EQ(validate(first.plan), std::vector<std::string>{});
  prepared second(text);
  ASSERT_TRUE(second.reoptimize("o", {{"a", {100, 1, 1}}, {"b", {100000, 1, 1}}, {"c", {100000, 50, 1}}}));
  EXPECT_EQ(second.order_of(second.plan.strata[second.stratum_of("o")].once.versions[0]), (names{"a", "b", "c"}));
  EXPECT_LE(first.planner->reordered() + second.planner->reordered(), 2U);
  EXPECT_GE(first.planner->reordered() + second.planner->reordered(), 1U);
}

TEST(reoptimizer, joins_first_what_few_values_are_found_in) {
  // Further rules need the indexes of b and c.
  const std::string text = computed +
                           ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,z) :- a(x,k), b(k,y), c(k,z).\n"
                           ".decl p(x:number, y:number)\n.output p\np(x,y) :- o(x,y,_).\n"
                           "p(x,y) :- p(x,k), b(k,y).\np(x,y) :- p(x,k), c(k,y).\n";
  const auto order_with = [&](const told_measures::sizes& c) {
    prepared one(text);
    one.reoptimize("o", {{"a", {2000, 1, 1}}, {"b", {100000, 5, 1}}, {"c", c}});
    EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
    return one.order_of(one.plan.strata[one.stratum_of("o")].once.versions[0]);
  };
  EXPECT_EQ(order_with({100000, 10, 1, 1}), (names{"a", "b", "c"}));
  EXPECT_EQ(order_with({100000, 10, 1, 0.01}), (names{"a", "c", "b"}));
  // Unknown from samples: c has 400 of the 2000 values of a.
  EXPECT_EQ(order_with({4000, 10, 1, std::nullopt}), (names{"a", "c", "b"}));
}

TEST(reoptimizer, joins_last_where_values_of_many_rows_meet) {
  const std::string text = computed +
                           ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,z) :- a(x,k), b(k,y), c(k,z).\n"
                           ".decl p(x:number, y:number)\n.output p\np(x,y) :- o(x,y,_).\n"
                           "p(x,y) :- p(x,k), b(k,y).\np(x,y) :- p(x,k), c(k,y).\n";
  const auto order_with = [&](const told_measures::sizes& b) {
    prepared one(text);
    one.reoptimize("o", {{"a", {2000, 1, 1}}, {"b", b}, {"c", {100000, 10, 1}}});
    EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
    return one.order_of(one.plan.strata[one.stratum_of("o")].once.versions[0]);
  };
  EXPECT_EQ(order_with({100000, 5, 1, 1}), (names{"a", "b", "c"}));
  // The values of a have many rows in b; further values have few rows in b.
  EXPECT_EQ(order_with({100000, 5, 1, 1, 40}), (names{"a", "c", "b"}));
}

TEST(reoptimizer, asks_what_a_search_finds_once) {
  prepared one(computed +
               ".decl o(x:number, y:number)\n.output o\n"
               "o(x,y) :- a(x,k), b(k,y), c(k,z), a(z,y), b(z,x), c(y,_).\n");
  ASSERT_TRUE(one.reoptimize("o", {{"a", {100000, 7, 7}}, {"b", {100000, 50, 1}}, {"c", {100000, 1, 30}}}));
  EXPECT_EQ(one.measures->most_asked(), 1U);
}

TEST(reoptimizer, orders_versions_of_a_recursion_and_adds_the_indexes_that_they_search) {
  prepared one(computed +
               ".decl r(x:number, y:number)\n.output r\nr(x,y) :- a(x,y).\n"
               "r(x,z) :- r(x,k), b(k,y), c(y,z), a(z,k).\n");
  const std::size_t number = one.stratum_of("r");
  // Each value of k occurs in 100 rows of b.
  ASSERT_TRUE(one.reoptimize("r", {{"a", {50000, 1, 1}}, {"b", {5000000, 100, 1}}, {"c", {50000, 1, 1}}}));
  const rule_version& version = one.plan.strata[number].loop[0].versions[0];
  EXPECT_EQ(one.order_of(version), (names{"r", "a", "c", "b"}));
  EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
  EXPECT_EQ(one.planner->reordered(), 1U);
}

TEST(reoptimizer, leaves_what_the_program_orders_and_what_depends_on_the_order) {
  const std::map<std::string, told_measures::sizes> told = {
      {"a", {100, 1, 1}}, {"b", {100000, 50, 1}}, {"c", {100000, 1, 1}}};
  prepared planned(computed +
                   ".decl o(x:number, y:number)\n.output o\no(x,y) :- a(x,y).\n"
                   "o(x,z) :- o(x,k), b(k,y), c(k,z), a(y,_).\n.plan 0:(1,2,3,4)\n");
  EXPECT_FALSE(planned.reoptimize("o", told));
  prepared counted(computed +
                   ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,autoinc()) :- a(x,k), b(k,y), c(k,_).\n");
  EXPECT_FALSE(counted.reoptimize("o", told));
  prepared choosing(computed +
                    ".decl o(x:number, y:number, z:number) choice-domain x\n.output o\n"
                    "o(x,y,z) :- a(x,k), b(k,y), c(k,z).\n");
  EXPECT_FALSE(choosing.reoptimize("o", told));
}

TEST(reoptimizer, leaves_strata_that_read_little) {
  prepared one(computed + ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,z) :- a(x,k), b(k,y), c(k,z).\n");
  EXPECT_FALSE(one.reoptimize("o", {{"a", {10, 1, 1}}, {"b", {900, 50, 1}}, {"c", {900, 1, 1}}}));
}

TEST(reoptimizer, keeps_the_search_of_the_smallest_relation) {
  prepared one(computed + ".decl o(x:number, y:number, z:number)\n.output o\no(x,y,z) :- b(x,y), c(y,z), b(z,x).\n");
  const std::size_t number = one.stratum_of("o");
  const auto others = [&] {
    std::size_t found = 0;
    for (const operation& operation : one.plan.strata[number].once.versions[0].operations) {
      if (const auto* search = std::get_if<match>(&operation)) found += search->others.size();
    }
    return found;
  };
  ASSERT_EQ(others(), 1U);
  ASSERT_TRUE(one.reoptimize("o", {{"b", {100000, 300, 300}}, {"c", {100000, 300, 300}}}));
  EXPECT_EQ(others(), 1U);
}

TEST(reoptimizer, asks_no_tuple_set_that_is_gone) {
  // No other rule tests tuples of c: c may have no set when the stratum of o begins.
  prepared one(computed + ".decl o(x:number, y:number)\n.output o\no(x,y) :- a(x,k), b(k,y), c(x,y).\n");
  ASSERT_TRUE(one.reoptimize("o", {{"a", {100, 1, 1}}, {"b", {100000, 1, 1}}, {"c", {100000, 5000, 5000}}}));
  const rule_version& version = one.plan.strata[one.stratum_of("o")].once.versions[0];
  EXPECT_EQ(one.order_of(version), (names{"a", "b", "c"}));
  bool had_set = false;
  {
    const prepared before(computed + ".decl o(x:number, y:number)\n.output o\no(x,y) :- a(x,k), b(k,y), c(x,y).\n");
    for_each_read(before.plan.strata[before.stratum_of("o")].once.versions[0],
                  [&](relation_id, index_id, bool asks_set) { had_set = had_set || asks_set; });
  }
  for_each_read(version, [&](relation_id relation, index_id, bool asks_set) {
    if (asks_set) EXPECT_TRUE(had_set || one.plan.relations[relation.value].needs_set);
  });
}

TEST(reoptimizer, asks_the_tuple_sets_of_sides_that_may_run_the_stratum) {
  // The last atom of an order is a test. The host runs no stratum, so the host has no sets of the relations.
  const std::string text = computed +
                           ".decl r(x:number, y:number)\n.output r\nr(x,y) :- a(x,y).\n"
                           "r(x,z) :- r(x,k), b(k,y), c(y,z), a(z,k).\n";
  const std::map<std::string, told_measures::sizes> told = {
      {"a", {50000, 5000, 5000}}, {"b", {50000, 1, 1}}, {"c", {50000, 1, 1}}};
  const auto asked_sets = [&](bool has_host) {
    prepared one(text);
    const std::vector<bool> all(one.plan.strata.size(), true);
    const std::vector<bool> none(one.plan.strata.size(), false);
    if (has_host) one.planner->set_sides({all, none});
    EXPECT_TRUE(one.reoptimize("r", told));
    std::size_t asked = 0;
    for_each_read(one.plan.strata[one.stratum_of("r")].loop[0].versions[0],
                  [&](relation_id, index_id, bool asks_set) { asked += asks_set ? 1 : 0; });
    return asked;
  };
  EXPECT_EQ(asked_sets(false), 1U);
  EXPECT_EQ(asked_sets(true), 1U);
}

TEST(reoptimizer, counts_what_the_indexes_of_an_order_cost) {
  const std::string text =
      computed + ".decl o(x:number, y:number, z:number)\n.output o\no(x,k,y) :- a(x,k), b(k,y), c(k,y).\n";
  const std::map<std::string, told_measures::sizes> told = {
      {"a", {2000, 1, 1}}, {"b", {100000, 1, 1}}, {"c", {100000, 2, 1}}};
  // An index of b costs more than a scan of b with tests of its tuples in c.
  prepared alone(text);
  ASSERT_TRUE(alone.reoptimize("o", told));
  EXPECT_EQ(alone.order_of(alone.plan.strata[alone.stratum_of("o")].once.versions[0]), (names{"b", "c", "a"}));
  // Indexes that further rules need cost nothing.
  prepared shared(text +
                  ".decl p(x:number, y:number)\n.output p\np(x,y) :- o(x,y,_).\n"
                  "p(x,y) :- p(x,k), b(k,y).\np(x,y) :- p(x,k), c(k,y).\n");
  ASSERT_TRUE(shared.reoptimize("o", told));
  EXPECT_EQ(shared.order_of(shared.plan.strata[shared.stratum_of("o")].once.versions[0]), (names{"a", "b", "c"}));
}

TEST(reoptimizer, changes_an_order_in_a_loop_only_for_a_clear_gain) {
  prepared one(computed +
               ".decl r(x:number, y:number)\n.output r\nr(x,y) :- a(x,y).\n"
               "r(x,y) :- r(x,k), b(k,y), c(k,z), a(z,y).\n");
  const std::size_t number = one.stratum_of("r");
  ASSERT_TRUE(one.reoptimize("r", {{"a", {50000, 1, 1}}, {"b", {1000000, 20, 1}}, {"c", {500000, 10, 1}}}));
  const names before = one.order_of(one.plan.strata[number].loop[0].versions[0]);
  const auto plan_again = [&](std::uint64_t rows, double b, double c) {
    one.measures = std::make_unique<told_measures>(
        one.plan, std::map<std::string, told_measures::sizes>{
                      {"a", {50000, 1, 1}}, {"b", {1000000, b, 1}}, {"c", {500000, c, 1}}, {"r", {rows, 5, 5}}});
    return one.planner->reoptimize_loop(number, *one.measures);
  };
  EXPECT_FALSE(plan_again(50000, 20, 10));  // nothing is new
  EXPECT_FALSE(plan_again(500000, 10, 10.5));
  EXPECT_FALSE(plan_again(600000, 1, 500));  // r has not grown
  EXPECT_EQ(one.order_of(one.plan.strata[number].loop[0].versions[0]), before);
  EXPECT_TRUE(plan_again(5000000, 1, 500));
  EXPECT_NE(one.order_of(one.plan.strata[number].loop[0].versions[0]), before);
  EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
  EXPECT_FALSE(plan_again(50000000, 1, 500));
}

TEST(reoptimizer, plans_the_same_for_the_same_sizes) {
  const std::string text = computed +
                           ".decl r(x:number, y:number)\n.output r\nr(x,y) :- a(x,y).\n"
                           "r(x,z) :- r(x,k), b(k,y), c(y,z), a(z,k).\n";
  const std::map<std::string, told_measures::sizes> told = {
      {"a", {50000, 1, 1}}, {"b", {50000, 50, 7}}, {"c", {50000, 50, 7}}};
  prepared first(text);
  prepared second(text);
  ASSERT_TRUE(first.reoptimize("r", told));
  ASSERT_TRUE(second.reoptimize("r", told));
  const std::size_t number = first.stratum_of("r");
  for (std::size_t version = 0; version < first.plan.strata[number].loop[0].versions.size(); ++version) {
    EXPECT_EQ(first.order_of(first.plan.strata[number].loop[0].versions[version]),
              second.order_of(second.plan.strata[number].loop[0].versions[version]));
  }
}

/// A test of b does not repeat rows of o; a scan of b that comes first derives a row of o once per row of b.
TEST(reoptimizer, gives_relations_their_set_back_whose_rows_can_repeat_now) {
  const std::string before = ".decl p(x:number, y:number, z:number)\n.output p\np(x,y,z) :- b(y,z), a(x,y).\n";
  const std::string behind = ".decl q(x:number, z:number)\n.output q\nq(x,z) :- b(y,z), a(x,y), x != z.\n";
  const std::map<std::string, told_measures::sizes> told = {
      {"a", {100000, 1, 5}}, {"b", {10, 5, 1}}, {"p", {50, 1, 1}}};
  prepared alone(computed + before + ".decl o(x:number, y:number)\n.output o\no(x,y) :- a(x,y), b(y,_), p(_,_,_).\n" +
                 behind);
  const auto is_set_needed = [&] {
    return std::any_of(alone.plan.relations.begin(), alone.plan.relations.end(),
                       [](const relation& each) { return each.name == "o" && each.needs_set; });
  };
  EXPECT_FALSE(is_set_needed());
  ASSERT_TRUE(alone.reoptimize("o", told));
  EXPECT_EQ(alone.order_of(alone.plan.strata[alone.stratum_of("o")].once.versions[0]), (names{"b", "p", "a"}));
  EXPECT_TRUE(is_set_needed());

  prepared recursive(computed + before +
                     ".decl r(x:number, y:number)\n.output r\nr(x,y) :- a(x,y), b(y,_), p(_,_,_).\n"
                     "r(x,y) :- r(x,z), b(z,y), x < y.\n" +
                     behind);
  const auto begins_distinct = [&] {
    return std::any_of(recursive.plan.relations.begin(), recursive.plan.relations.end(),
                       [](const relation& each) { return each.name == "r" && each.begins_distinct; });
  };
  EXPECT_TRUE(begins_distinct());
  ASSERT_TRUE(recursive.reoptimize("r", told));
  EXPECT_EQ(recursive.order_of(recursive.plan.strata[recursive.stratum_of("r")].once.versions[0]),
            (names{"b", "p", "a"}));
  EXPECT_FALSE(begins_distinct());
}

/// Returns the running versions of a loop as "phase: relations in reading order".
names running_versions(const prepared& one, std::size_t stratum) {
  names versions;
  for (std::size_t phase = 0; phase < one.plan.strata[stratum].loop.size(); ++phase) {
    for (const rule_version& version : one.plan.strata[stratum].loop[phase].versions) {
      if (version.is_retired) continue;
      std::string text = std::to_string(phase) + ": " + one.plan.relations[version.head.value].name + " :-";
      for (const std::string& read : one.order_of(version)) text += " " + read;
      versions.push_back(text);
    }
  }
  return versions;
}

const std::string same_generation =
    ".decl e(x:number, y:number)\n.input e\n.decl f(x:number, y:number)\n.input f\n"
    ".decl sg(x:number, y:number)\n.output sg\nsg(x,y) :- e(x,y).\n";

TEST(reoptimizer, continues_with_the_rule_as_written_where_a_step_is_abandoned) {
  prepared one(same_generation + "sg(x,y) :- e(a,x), sg(a,b), f(b,y).\n");
  const std::size_t stratum = one.stratum_of("sg");
  EXPECT_EQ(running_versions(one, stratum), (names{"0: sg@1 :- sg e", "1: sg :- sg@1 f"}));
  ASSERT_EQ(one.plan.strata[stratum].supplementary.size(), 1);
  const relation_id step = one.plan.strata[stratum].supplementary.front();
  const told_measures measures(one.plan, {{"e", {1000, 5, 5}}, {"f", {1000, 1, 1}}, {"sg", {1000, 1, 1}}});
  EXPECT_GT(one.planner->work_without(stratum, step, measures), 1000);
  EXPECT_EQ(one.planner->abandon(stratum, step, measures), std::vector<relation_id>{step});
  EXPECT_EQ(running_versions(one, stratum), names{"1: sg :- sg f e"});
  EXPECT_EQ(one.plan.strata[stratum].supplementary, std::vector<relation_id>{});
  EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
}

TEST(reoptimizer, abandons_steps_of_steps_and_merged_beginnings_together) {
  prepared one(same_generation + "sg(x,y) :- sg(z,x), e(z,w), sg(w,y).\nsg(x,y) :- sg(z,x), sg(z,y).\n");
  const std::size_t stratum = one.stratum_of("sg");
  EXPECT_EQ(running_versions(one, stratum),
            (names{"0: sg@1 :- sg e", "0: sg@1 :- sg", "1: sg :- sg@1 sg", "1: sg :- sg sg@1"}));
  const relation_id step = one.plan.strata[stratum].supplementary.front();
  const told_measures measures(one.plan, {{"e", {1000, 5, 5}}, {"sg", {1000, 1, 1}}});
  EXPECT_EQ(one.planner->abandon(stratum, step, measures), std::vector<relation_id>{step});
  EXPECT_EQ(running_versions(one, stratum),
            (names{"1: sg :- sg sg", "1: sg :- sg sg", "1: sg :- sg e sg", "1: sg :- sg e sg"}));
  // Joins of two relations run row by row.
  const auto& versions = one.plan.strata[stratum].loop.back().versions;
  EXPECT_EQ(std::count_if(versions.begin(), versions.end(),
                          [](const rule_version& version) { return !version.is_retired && version.rows; }),
            2);
}

/// Returns the texts of running_versions() in ascending order, with the relations of each text in ascending order.
names sorted_versions(const prepared& one, std::size_t stratum) {
  names versions;
  for (const std::string& text : running_versions(one, stratum)) {
    const std::size_t body = text.find(":-") + 2;
    std::istringstream reads(text.substr(body));
    names relations;
    for (std::string name; reads >> name;) relations.push_back(name);
    std::sort(relations.begin(), relations.end());
    std::string& sorted = versions.emplace_back(text.substr(0, body));
    for (const std::string& name : relations) sorted += " " + name;
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

TEST(reoptimizer, continues_with_the_rule_as_written_where_a_reduction_is_abandoned) {
  prepared one(same_generation +
                   ".decl s(x:number, y:number)\ns(x,y) :- sg(x,y).\n"
                   "sg(x,y) :- f(_,b), sg(a,b), s(a,x), e(y,_).\n",
               {.modes = {{"supplementary", tuning_mode::off}, {"semi-join-reduction", tuning_mode::always}}});
  const std::size_t stratum = one.stratum_of("sg");
  EXPECT_EQ(sorted_versions(one, stratum),
            (names{"0: sg@1 :- f sg", "1: s :- sg", "1: sg :- e f s sg@1", "1: sg :- e f s sg@1"}));
  ASSERT_EQ(one.plan.strata[stratum].supplementary.size(), 1);
  const relation_id reduced = one.plan.strata[stratum].supplementary.front();
  const told_measures measures(one.plan,
                               {{"e", {1000, 5, 5}}, {"f", {1000, 1, 1}}, {"sg", {1000, 1, 1}}, {"s", {1000, 1, 1}}});
  EXPECT_EQ(one.planner->abandon(stratum, reduced, measures), std::vector<relation_id>{reduced});
  EXPECT_EQ(sorted_versions(one, stratum), (names{"1: s :- sg", "1: sg :- e f s sg", "1: sg :- e f s sg"}));
  EXPECT_EQ(one.plan.strata[stratum].supplementary, std::vector<relation_id>{});
  EXPECT_EQ(validate(one.plan), std::vector<std::string>{});
}

/// A relation that a recursion reads at few keys, with a step in its full rule: the step is r@2.
const std::string restricted =
    ".decl e(x:number, y:number)\n.input e\n.decl g(x:number, y:number)\n.input g\n"
    ".decl c(x:number, y:number)\n.input c\n.decl d(x:number, y:number)\n.input d\n"
    ".decl f(x:number, y:number)\nf(x,y) :- e(x,y).\nf(x,y) :- d(x,_), r(x,y), d(y,_).\n"
    ".decl r(x:number, y:number)\nr(x,y) :- f(z,x), g(z,w), c(w,y).\n";

TEST(reoptimizer, abandons_a_step_behind_a_recursion) {
  prepared run(restricted, {.modes = {{"magic-sets", tuning_mode::always}}});
  const std::size_t step = run.stratum_of("r@2");
  const std::size_t last = run.stratum_of("r");
  const auto orders = [&] {
    std::vector<names> read;
    for (const rule_version& version : run.plan.strata[last].once.versions) {
      if (!version.is_retired) read.push_back(run.order_of(version));
    }
    return read;
  };
  const std::map<std::string, told_measures::sizes> hub = {
      {"f@1", {7000, 3000, 1, 1, 3000}}, {"g", {3000, 3000, 1, 0.001, 3000}}, {"c", {1500, 1, 1, 0.001}}};
  run.reoptimize("r@2", hub);
  EXPECT_FALSE(run.plan.strata[step].once.versions.front().is_retired);
  EXPECT_EQ(orders(), (std::vector<names>{{"c", "r@2"}}));
  const relation_id abandoned = run.plan.strata[step].relations.front();
  EXPECT_EQ(run.plan.strata[step].supplementary, std::vector<relation_id>{abandoned});
  EXPECT_NEAR(run.planner->work_without(step, abandoned, *run.measures), 15007, 1);

  EXPECT_EQ(run.planner->abandon(step, abandoned, *run.measures), std::vector<relation_id>{abandoned});
  EXPECT_TRUE(run.plan.strata[step].once.versions.front().is_retired);
  EXPECT_EQ(orders(), (std::vector<names>{{"c", "r@2"}}));
  EXPECT_TRUE(run.planner->follow_abandoned_steps(last, *run.measures));
  EXPECT_EQ(orders(), (std::vector<names>{{"g", "c", "f@1"}}));
  EXPECT_FALSE(run.planner->follow_abandoned_steps(last, *run.measures));
  EXPECT_EQ(validate(run.plan), std::vector<std::string>());
}

TEST(reoptimizer, keeps_a_step_behind_a_recursion_if_several_executors_share_the_plan) {
  prepared run(restricted, {.modes = {{"magic-sets", tuning_mode::always}}});
  run.planner->set_sides({{}, {}});
  const std::size_t step = run.stratum_of("r@2");
  const relation_id kept = run.plan.strata[step].relations.front();
  const told_measures measures(run.plan, {{"f@1", {7000, 1, 1}}, {"g", {3000, 1, 1}}, {"c", {1500, 1, 1}}});
  EXPECT_EQ(run.planner->work_without(step, kept, measures), std::numeric_limits<double>::infinity());
  EXPECT_EQ(run.planner->abandon(step, kept, measures), std::vector<relation_id>{});
  EXPECT_FALSE(run.plan.strata[step].once.versions.front().is_retired);
}

TEST(reoptimizer, keeps_a_step_where_the_device_could_not_run_the_rule_as_written) {
  prepared one(same_generation + "sg(x,y) :- e(a,x), sg(a,b), f(b,y).\n");
  const std::size_t stratum = one.stratum_of("sg");
  const relation_id step = one.plan.strata[stratum].supplementary.front();
  const told_measures measures(one.plan, {{"e", {1000, 5, 5}}, {"f", {1000, 1, 1}}, {"sg", {1000, 1, 1}}});
  EXPECT_EQ(one.planner->abandon(stratum, step, measures, [] { return false; }), std::vector<relation_id>{});
  EXPECT_EQ(running_versions(one, stratum), (names{"0: sg@1 :- sg e", "1: sg :- sg@1 f"}));
  EXPECT_EQ(one.plan.strata[stratum].supplementary, std::vector<relation_id>{step});
}

}  // namespace
}  // namespace gpulog::plan
