// Strongly connected components beside what each vertex reaches by itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/memory_resource.hpp"
#include "graph_lists.hpp"
#include "storage/factorized/component_search.hpp"

namespace gpulog::storage {
namespace {

/// By vertex: what it leads to, by paths of one and more edges.
std::vector<std::vector<bool>> reached(std::uint32_t vertices, const lists& graph) {
  std::vector<std::vector<bool>> leads_to(vertices, std::vector<bool>(vertices));
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    std::vector<std::uint32_t> queue = {vertex};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (std::uint32_t i = graph.first[queue[head]]; i < graph.first[queue[head] + 1]; ++i) {
        if (leads_to[vertex][graph.all[i]]) continue;
        leads_to[vertex][graph.all[i]] = true;
        queue.push_back(graph.all[i]);
      }
    }
  }
  return leads_to;
}

void expect_components(std::uint32_t vertices, const pairs& of, const std::vector<std::uint32_t>& starts) {
  const lists graph(vertices, of);
  const std::vector<std::vector<bool>> leads_to = reached(vertices, graph);
  backend::host_memory memory;
  backend::cpu::tbb_backend several(3);
  const backend::piece_runner workers =
      starts.size() % 2 == 0 ? backend::piece_runner() : backend::piece_runner(several, 4);
  const numbered_components found =
      find_components(workers, memory, graph.view(), vertices, starts.data(), starts.size());
  std::uint32_t listed = 0;
  for (std::uint32_t c = 0; c < found.components; ++c) {
    EXPECT_LT(found.first[c], found.first[c + 1]);
    for (std::uint32_t i = found.first[c]; i < found.first[c + 1]; ++i, ++listed)
      EXPECT_EQ(found.component[found.vertices[i]], c);
  }
  EXPECT_EQ(listed, vertices - std::count(found.component.begin(), found.component.end(), no_component));
  std::vector<std::uint32_t> lowest(found.components, no_component);
  for (std::uint32_t a = 0; a < vertices; ++a) {
    const bool is_met = std::any_of(starts.begin(), starts.end(),
                                    [&](std::uint32_t start) { return start == a || leads_to[start][a]; });
    ASSERT_EQ(found.component[a] != no_component, is_met) << a;
    if (!is_met) continue;
    ASSERT_LT(found.component[a], found.components);
    for (std::uint32_t b = 0; b < vertices; ++b) {
      if (!leads_to[a][b]) continue;
      const bool is_mutual = a == b || leads_to[b][a];
      EXPECT_EQ(found.component[a] == found.component[b], is_mutual) << a << " " << b;
      if (is_mutual) continue;
      EXPECT_LT(found.component[b], found.component[a]) << a << " " << b;
      lowest[found.component[a]] = std::min(lowest[found.component[a]], found.component[b]);
    }
  }
  for (std::uint32_t c = 0; c < found.components; ++c) EXPECT_EQ(found.lowest[c], lowest[c]) << c;
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
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t vertices = 1 + random() % 40;
    const std::uint32_t count = random() % (2 * vertices + 1);
    pairs of;
    for (std::uint32_t i = 0; i < count; ++i) of.insert({random() % vertices, random() % vertices});
    std::vector<std::uint32_t> starts;
    for (std::uint32_t i = random() % (vertices + 1); i > 0; --i) starts.push_back(random() % vertices);
    SCOPED_TRACE(round);
    expect_components(vertices, of, starts);
  }
}

TEST(component_search, needs_no_stack_of_the_machine_for_long_paths) {
  constexpr std::uint32_t vertices = 300000;
  pairs chain;
  for (std::uint32_t vertex = 0; vertex + 1 < vertices; ++vertex) chain.insert({vertex, vertex + 1});
  const auto components_of = [](const pairs& of) {
    const lists graph(vertices, of);
    const std::uint32_t start = 0;
    backend::host_memory memory;
    return find_components(backend::piece_runner(), memory, graph.view(), vertices, &start, 1).components;
  };
  EXPECT_EQ(components_of(chain), vertices);
  chain.insert({vertices - 1, 0});
  EXPECT_EQ(components_of(chain), 1U);
}

}  // namespace
}  // namespace gpulog::storage
