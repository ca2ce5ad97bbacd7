#include "plan/passes/bodies/index_selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "../plan_from_text.hpp"

namespace gpulog::plan {
namespace {

TEST(cover_by_chains, prefixes_share_an_order) {
  const auto chains = cover_by_chains({{0}, {0, 1}, {0, 1, 2}});
  ASSERT_EQ(chains.size(), 1U);
  EXPECT_EQ(chains[0], (std::vector<signature>{{0}, {0, 1}, {0, 1, 2}}));
}

TEST(cover_by_chains, unrelated_searches_need_their_own) {
  EXPECT_EQ(cover_by_chains({{0}, {1}, {2}}).size(), 3U);
  EXPECT_TRUE(cover_by_chains({}).empty());
}

TEST(cover_by_chains, greedy_choice_would_need_more) {
  // {0} must not take {0,1} from {1}: {0} < {0,2} and {1} < {0,1}.
  EXPECT_EQ(cover_by_chains({{0}, {1}, {0, 1}, {0, 2}}).size(), 2U);
}

TEST(cover_by_chains, random_covers_are_chains_and_as_few_as_the_largest_antichain) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::set<signature> chosen;
    const std::size_t wanted = 1 + random() % 8;
    for (std::size_t number = 0; number < wanted; ++number) {
      signature columns;
      for (std::uint32_t column = 0; column < 4; ++column) {
        if (random() % 2 == 0) columns.push_back(column);
      }
      if (!columns.empty()) chosen.insert(columns);
    }
    const std::vector<signature> signatures(chosen.begin(), chosen.end());
    const auto contains = [](const signature& outer, const signature& inner) {
      return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
    };
    const auto chains = cover_by_chains(signatures);
    std::set<signature> covered;
    for (const auto& chain : chains) {
      for (std::size_t number = 0; number < chain.size(); ++number) {
        EXPECT_TRUE(covered.insert(chain[number]).second);
        if (number > 0) EXPECT_TRUE(contains(chain[number], chain[number - 1]));
      }
    }
    EXPECT_EQ(covered, chosen);
    std::size_t largest_antichain = 0;
    for (std::uint32_t subset = 0; subset < (1U << signatures.size()); ++subset) {
      bool is_antichain = true;
      std::size_t size = 0;
      for (std::size_t one = 0; one < signatures.size(); ++one) {
        if ((subset >> one & 1U) == 0) continue;
        ++size;
        for (std::size_t other = 0; other < signatures.size(); ++other) {
          if (other != one && (subset >> other & 1U) != 0 && contains(signatures[one], signatures[other])) {
            is_antichain = false;
          }
        }
      }
      if (is_antichain) largest_antichain = std::max(largest_antichain, size);
    }
    EXPECT_EQ(chains.size(), largest_antichain);
  }
}

TEST(select_indexes, one_order_serves_searches_by_one_and_by_two_columns) {
  const program plan = plan_text(
      ".decl t(a:number, b:number, c:number)\n.input t\n.decl p(x:number, y:number)\np(1,2).\n"
      ".decl q(x:number, y:number)\n"
      "q(x,c) :- p(x,z), t(_,z,c), c != x.\n"
      "q(x,c) :- p(x,y), t(y,x,c).\n");
  ASSERT_EQ(plan.indexes.size(), 1U);
  EXPECT_EQ(plan.indexes[0].order, (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(plan.indexes[0].key_lengths, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(plan.indexes[0].payload, (std::vector<std::uint32_t>{2}));
}

TEST(select_indexes, a_single_search_for_a_constant_scans) {
  const std::string declarations = ".decl t(a:number, b:number)\n.input t\n.decl q(x:number)\n";
  EXPECT_TRUE(plan_text(declarations + "q(x) :- t(1,x).\n").indexes.empty());
  EXPECT_EQ(
      plan_text(declarations + "q(x) :- t(1,x).\nq(x) :- t(2,x).\nq(x) :- t(3,x).\nq(x) :- t(4,x).\n").indexes.size(),
      1U);
  EXPECT_EQ(plan_text(declarations + "q(x) :- t(1,x).\nq(x) :- t(y,_), t(y,x).\n").indexes.size(), 1U);
}

}  // namespace
}  // namespace gpulog::plan
