#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

/// Runs programs over a relation of edges, for tests of recursion strategies.
namespace gpulog {

using closure_rows = std::multiset<std::vector<std::uint64_t>>;
using edge_list = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline void insert_edges(engine& running, const edge_list& edges) {
  relation input = running.relation("e");
  for (const auto& [x, y] : edges)
    input.insert({value(static_cast<std::int32_t>(x)), value(static_cast<std::int32_t>(y))});
}

struct closure_outcome {
  std::vector<closure_rows> found;  ///< by relation of the program
  std::vector<std::string> sets;    ///< by relation
  std::set<std::string> strategies;
  std::uint64_t search_numbers = 0;

  [[nodiscard]] bool ran(const std::string& strategy) const { return strategies.contains(strategy); }
};

inline closure_outcome run_closure(const std::string& text, const edge_list& edges, const run_options& options) {
  engine running(program::from_text(text), options);
  insert_edges(running, edges);
  running.evaluate();
  closure_outcome result;
  for (const stratum_statistics& stratum : running.figures().strata) {
    result.strategies.insert(stratum.strategies.begin(), stratum.strategies.end());
    result.search_numbers += stratum.search_numbers;
  }
  for (const relation_statistics& one : running.figures().relations) {
    if (one.name.find('@') != std::string::npos) continue;  // relations added by the planner
    result.sets.push_back(one.set);
    closure_rows& found = result.found.emplace_back();
    for (const tuple& row : running.relation(one.name)) {
      std::vector<std::uint64_t> columns;
      for (std::size_t column = 0; column < row.size(); ++column) columns.push_back(row.word64(column));
      found.insert(std::move(columns));
    }
    EXPECT_EQ(found.size(), running.relation(one.name).size());
  }
  return result;
}

}  // namespace gpulog
