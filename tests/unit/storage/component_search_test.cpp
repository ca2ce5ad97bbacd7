// Strongly connected components beside what each vertex reaches by itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/memory_resource.hpp"
#include "graph_lists.hpp"
#include "oracle/random_runs.hpp"
#include "storage/factorized/component_search.hpp"

namespace gpulog::storage {
namespace {

void expect_components(std::uint32_t vertices, const lists& graph, const std::vector<std::vector<bool>>& leads_to,
                       const std::vector<std::uint32_t>& starts, const backend::piece_runner& workers) {
  backend::host_memory memory;
  const numbered_components found =
      find_components(workers, memory, graph.view(), vertices, starts.data(), starts.size());
  std::uint32_t listed = 0;
  for (std::uint32_t c = 0; c < found.components; ++c) {
    EXPECT_LT(found.first[c], found.first[c + 1]);
    for (std::uint32_t i = found.first[c]; i < found.first[c + 1]; ++i, ++listed)
      EXPECT_EQ(found.component[found.vertices[i]], c);
  }
  EXPECT_EQ(listed, vertices - std::count(found.component.begin(), found.component.end(), no_component));
  std::vector<bool> is_met(vertices);
  for (const std::uint32_t start : starts) {
    is_met[start] = true;
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex)
      is_met[vertex] = is_met[vertex] || leads_to[start][vertex];
  }
  std::vector<std::uint32_t> lowest(found.components, no_component);
  for (std::uint32_t a = 0; a < vertices; ++a) {
    ASSERT_EQ(found.component[a] != no_component, is_met[a]) << a;
    if (!is_met[a]) continue;
    ASSERT_LT(found.component[a], found.components);
    for (std::uint32_t b = 0; b < vertices; ++b) {
      if (!leads_to[a][b]) continue;
      const bool is_mutual = a == b || leads_to[b][a];
      ASSERT_EQ(found.component[a] == found.component[b], is_mutual) << a << " " << b;
      if (is_mutual) continue;
      ASSERT_LT(found.component[b], found.component[a]) << a << " " << b;
      lowest[found.component[a]] = std::min(lowest[found.component[a]], found.component[b]);
    }
  }
  for (std::uint32_t c = 0; c < found.components; ++c) EXPECT_EQ(found.lowest[c], lowest[c]) << c;
}

void expect_components(std::uint32_t vertices, const lists& graph, const std::vector<std::uint32_t>& starts) {
  const std::vector<std::vector<bool>> leads_to = reached(vertices, graph);
  expect_components(vertices, graph, leads_to, starts, {});
  for (const unsigned count : {2U, 3U}) {
    backend::cpu::tbb_backend several(count);
    expect_components(vertices, graph, leads_to, starts, backend::piece_runner(several, 4));
  }
}

void expect_components(std::uint32_t vertices, const pairs& of, const std::vector<std::uint32_t>& starts) {
  expect_components(vertices, lists(vertices, of), starts);
}

TEST(component_search, finds_the_components_of_graphs_of_known_shapes) {
  expect_components(3, {}, {});
  expect_components(3, {}, {0, 2, 2});
  expect_components(2, {{0, 0}}, {0, 1});
  expect_components(4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {0});
  expect_components(4, {{0, 1}, {1, 2}, {2, 0}, {3, 0}}, {1});                     // 3 is not met
  expect_components(5, {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}, {4, 4}}, {4, 0});  // two cycles, one behind the other
  pairs star;
  for (std::uint32_t leaf = 1; leaf < 20; ++leaf) star.insert({0, leaf});
  expect_components(20, star, {0});
  for (std::uint32_t leaf = 1; leaf < 20; ++leaf) star.insert({leaf, 0});
  expect_components(20, star, {7});
}

TEST(component_search, finds_the_components_of_random_graphs) {
  std::mt19937 random(71);
  for (std::uint64_t round = 0; round < oracle::fewer_when_sanitized(1200); ++round) {
    const std::uint32_t vertices = 1 + random() % (round % 16 == 0 ? 200 : 40);
    const lists graph = random_lists(random, vertices);
    SCOPED_TRACE(round);
    expect_components(vertices, graph, random_starts(random, vertices, graph));
  }
}

TEST(component_search, finds_cycles_one_behind_the_other) {
  for (const std::uint32_t cycle : {2U, 3U, 7U, 60U, 119U}) {
    pairs up;
    pairs down;
    for (std::uint32_t vertex = 0; vertex + 1 < 120; ++vertex) {
      up.insert({vertex, vertex + 1});
      if (vertex % cycle == cycle - 1) up.insert({vertex, vertex + 1 - cycle});
    }
    for (const auto& [from, to] : up) down.insert({to, from});
    std::vector<std::uint32_t> starts(120);
    std::iota(starts.begin(), starts.end(), 0);
    SCOPED_TRACE(cycle);
    expect_components(120, up, starts);
    expect_components(120, down, starts);
    expect_components(120, up, {0});
    expect_components(120, down, {60, 61});
  }
}

TEST(component_search, needs_no_stack_of_the_machine_for_long_paths) {
  constexpr std::uint32_t vertices = 300000;
  pairs chain;
  for (std::uint32_t vertex = 0; vertex + 1 < vertices; ++vertex) chain.insert({vertex, vertex + 1});
  std::vector<std::uint32_t> all(vertices);
  std::iota(all.begin(), all.end(), 0);
  const auto components_of = [&](const pairs& of, std::uint64_t starts) {
    const lists graph(vertices, of);
    backend::host_memory memory;
    return find_components(backend::piece_runner(), memory, graph.view(), vertices, all.data(), starts).components;
  };
  EXPECT_EQ(components_of(chain, 1), vertices);
  EXPECT_EQ(components_of(chain, vertices), vertices);
  pairs back = chain;
  back.insert({vertices / 2, 0});
  EXPECT_EQ(components_of(back, vertices), vertices / 2);
  chain.insert({vertices - 1, 0});
  EXPECT_EQ(components_of(chain, 1), 1U);
  EXPECT_EQ(components_of(chain, vertices), 1U);
}

}  // namespace
}  // namespace gpulog::storage
