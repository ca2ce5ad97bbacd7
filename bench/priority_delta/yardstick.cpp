// Best values without a Datalog engine, on one thread: Dijkstra's algorithm with a binary heap, and union-find.
//
//   yardstick shortest_paths|components FOLDER     edge.facts: x, y, w per line; source.facts: a node
//
// Prints seconds without reading, the number of nodes with a value, and the sum of the values modulo 2^32.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace {

struct edge {
  std::uint32_t from, to, weight;
};

std::vector<edge> read_edges(const std::string& folder, std::uint32_t& nodes) {
  std::ifstream file(folder + "/edge.facts");
  std::vector<edge> edges;
  for (edge one{}; file >> one.from >> one.to >> one.weight;) {
    edges.push_back(one);
    nodes = std::max({nodes, one.from + 1, one.to + 1});
  }
  return edges;
}

struct result {
  std::uint64_t nodes = 0;
  std::uint32_t sum = 0;
};

result shortest_paths(const std::vector<edge>& edges, std::uint32_t nodes, std::uint32_t source) {
  std::vector<std::uint32_t> first(nodes + 1);
  for (const edge& one : edges) ++first[one.from + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted(edges.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const edge& one : edges) sorted[next[one.from]++] = {one.to, one.weight};
  std::vector<std::uint32_t> distances(nodes, UINT32_MAX);
  using waiting_node = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<waiting_node, std::vector<waiting_node>, std::greater<>> waiting;
  for (waiting.push({distances[source] = 0, source}); !waiting.empty();) {
    const auto [distance, node] = waiting.top();
    waiting.pop();
    if (distance != distances[node]) continue;
    for (std::uint32_t i = first[node]; i < first[node + 1]; ++i) {
      const auto [to, weight] = sorted[i];
      if (distance + weight >= distances[to]) continue;
      distances[to] = distance + weight;
      waiting.push({distances[to], to});
    }
  }
  result found;
  for (const std::uint32_t distance : distances) {
    if (distance == UINT32_MAX) continue;
    ++found.nodes;
    found.sum += distance;
  }
  return found;
}

result components(const std::vector<edge>& edges, std::uint32_t nodes) {
  std::vector<std::uint32_t> parent(nodes, UINT32_MAX);
  for (const edge& one : edges) parent[one.from] = one.from, parent[one.to] = one.to;
  const auto root = [&parent](std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const edge& one : edges) {
    const std::uint32_t left = root(one.from);
    const std::uint32_t right = root(one.to);
    parent[std::max(left, right)] = std::min(left, right);
  }
  result found;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (parent[node] == UINT32_MAX) continue;
    ++found.nodes;
    found.sum += root(node);
  }
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string folder = arguments[2];
  std::uint32_t nodes = 0;
  const std::vector<edge> edges = read_edges(folder, nodes);
  std::uint32_t source = 0;
  std::ifstream(folder + "/source.facts") >> source;
  const auto start = std::chrono::steady_clock::now();
  const result found =
      std::string(arguments[1]) == "components" ? components(edges, nodes) : shortest_paths(edges, nodes, source);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.6f %llu %u\n", seconds, static_cast<unsigned long long>(found.nodes), found.sum);
}
