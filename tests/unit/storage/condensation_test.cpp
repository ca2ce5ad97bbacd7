// Condensations beside what each vertex reaches by itself.

#include "storage/factorized/condensation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/memory_resource.hpp"
#include "graph_lists.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog::storage {
namespace {

/// Whether it tells of each component what its vertices reach and lead to. Components are right by themselves.
void expect_condensed(std::uint32_t vertices, const lists& graph, const std::vector<std::uint32_t>& starts,
                      const backend::piece_runner& workers) {
  backend::host_memory memory;
  const condensation found = condense(workers, memory, graph.view(), vertices, starts.data(), starts.size());
  const std::vector<std::vector<bool>> leads_to = reached(vertices, graph);
  std::vector<std::uint32_t> lowest(found.components, no_component);
  std::vector<bool> is_cyclic(found.components);
  std::vector<pairs> successors(found.components);
  for (std::uint32_t a = 0; a < vertices; ++a) {
    const std::uint32_t own = found.component[a];
    if (own == no_component) continue;
    for (std::uint32_t b = 0; b < vertices; ++b) {
      if (!leads_to[a][b]) continue;
      if (found.component[b] == own) is_cyclic[own] = true;
      if (found.component[b] != own) lowest[own] = std::min(lowest[own], found.component[b]);
    }
    for (std::uint32_t i = graph.first[a]; i < graph.first[a + 1]; ++i) {
      if (found.component[graph.all[i]] != own) successors[own].emplace(own, found.component[graph.all[i]]);
    }
  }
  for (std::uint32_t c = 0; c < found.components; ++c) {
    EXPECT_EQ(found.lowest[c], lowest[c]) << c;
    EXPECT_EQ(found.is_cyclic[c] != 0, is_cyclic[c]) << c;
    pairs listed;
    for (std::uint32_t i = found.first[c]; i < found.first[c + 1]; ++i) {
      if (i > found.first[c]) EXPECT_LT(found.successors[i - 1], found.successors[i]);
      listed.emplace(c, found.successors[i]);
    }
    EXPECT_EQ(listed, successors[c]);
  }
}

TEST(condensation, of_random_graphs) {
  std::mt19937 random(72);
  for (std::uint64_t round = 0; round < oracle::fewer_when_sanitized(600); ++round) {
    const std::uint32_t vertices = 1 + random() % (round % 16 == 0 ? 200 : 40);
    const lists graph = random_lists(random, vertices);
    const std::vector<std::uint32_t> starts = random_starts(random, vertices, graph);
    SCOPED_TRACE(round);
    expect_condensed(vertices, graph, starts, {});
    backend::cpu::tbb_backend several(3);
    expect_condensed(vertices, graph, starts, backend::piece_runner(several, 4));
  }
}

}  // namespace
}  // namespace gpulog::storage
