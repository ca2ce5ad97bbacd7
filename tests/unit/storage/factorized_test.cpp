// The components of a graph, and rows stored as a graph of components.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/memory_resource.hpp"
#include "graph_lists.hpp"
#include "oracle/random_runs.hpp"
#include "storage/factorized/factorized_values.hpp"
#include "storage/factorized/graph_reader.hpp"
#include "storage/factorized/graph_rows.hpp"

namespace gpulog::storage {
namespace {

/// Returns the values that a breadth-first search reaches from each source.
pairs searched(std::uint32_t sources, const lists& starts, const lists& graph) {
  pairs found;
  for (word source = 0; source < sources; ++source) {
    std::vector<word> queue(starts.all.begin() + starts.first[source], starts.all.begin() + starts.first[source + 1]);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      if (!found.emplace(source, queue[head]).second) continue;
      queue.insert(queue.end(), graph.all.begin() + graph.first[queue[head]],
                   graph.all.begin() + graph.first[queue[head] + 1]);
    }
  }
  return found;
}

class factorized_pairs {
 public:
  /// @param known by source: the namesake; empty: no source has a namesake
  factorized_pairs(std::uint32_t sources, const lists& starts, std::uint32_t vertices, const lists& graph,
                   std::uint32_t strip_words, const backend::piece_runner& workers,
                   const std::vector<std::uint32_t>& known = {}) {
    condensation condensed = condense(workers, memory_, graph.view(), vertices, starts.all.data(), starts.all.size());
    std::vector<word> numbers(std::max(sources, vertices));
    for (word i = 0; i < numbers.size(); ++i) numbers[i] = i;
    factorized_graph made = factorize(workers, memory_, condensed, starts.view(), {numbers.data()}, sources,
                                      {known.empty() ? nullptr : known.data(), graph.view()});
    made.strip_words = strip_words;
    factorized_values values = place_values(workers, memory_, std::make_shared<const factorized_graph>(std::move(made)),
                                            condensed.component.data(), {numbers.data()}, vertices);
    values.source_columns = {1};
    values.value_columns = {0};
    values.rows_in_front = backend::array<std::uint64_t>(memory_, values.graph->strips() + 1ULL);
    strip_reader reader(memory_, *values.graph);
    for (std::uint32_t strip = 0; strip < values.graph->strips(); ++strip) {
      reader.make(strip);
      values.rows_in_front[strip + 1ULL] = values.rows_in_front[strip] + reader.count(values);
    }
    rows_.emplace(memory_, std::move(values));
  }

  /// Compares all lookups of a reader with the expected pairs, in several orders of the questions.
  void expect_read(std::uint32_t sources, std::uint32_t value_count, const pairs& expected) {
    std::vector<std::pair<word, word>> asked;
    for (word source = 0; source <= sources; ++source) {
      for (word value = 0; value <= value_count; ++value) asked.emplace_back(source, value);
    }
    expect_contained(asked, expected);
    std::sort(asked.begin(), asked.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    expect_contained(asked, expected);
    std::shuffle(asked.begin(), asked.end(), std::mt19937(1));
    expect_contained(asked, expected);
    std::vector<std::uint64_t> by_source(sources + 1ULL);
    std::vector<std::uint64_t> by_value(value_count + 1ULL);
    for (const auto& [source, value] : expected) {
      ++by_source[source];
      ++by_value[value];
    }
    graph_reader reader(*rows_);
    pairs forward;
    pairs backward;
    const factorized_graph& graph = *values().graph;
    for (word source = 0; source <= sources; ++source) {
      const word* const key = &source;
      const std::uint32_t vertex = reader.source_number(&key, 0);
      if (vertex == graph_rows::none) {
        EXPECT_EQ(by_source[source], 0U);
        continue;
      }
      EXPECT_EQ(reader.count_targets(vertex), by_source[source]);
      EXPECT_EQ(rows_->value_counts()[vertex], by_source[source]);
      EXPECT_EQ(reader.has_targets(vertex), by_source[source] != 0);
      reader.targets_of(vertex).for_each_range([&](std::uint64_t first, std::uint64_t behind) {
        for (; first < behind; ++first) EXPECT_TRUE(forward.emplace(source, values().values[0][first]).second);
      });
    }
    for (word value = 0; value <= value_count; ++value) {
      const word* const key = &value;
      const std::uint32_t component = reader.target_number(&key, 0);
      if (component == graph_rows::none) {
        EXPECT_EQ(by_value[value], 0U);
        continue;
      }
      EXPECT_EQ(reader.count_sources(component), by_value[value]);
      reader.sources_of(component).for_each_range([&](std::uint64_t first, std::uint64_t behind) {
        for (; first < behind; ++first) EXPECT_TRUE(backward.emplace(graph.sources[0][first], value).second);
      });
    }
    EXPECT_EQ(forward, expected);
    EXPECT_EQ(backward, expected);
    EXPECT_GT(rows_->bytes(), 0U);
  }

  [[nodiscard]] std::uint64_t size() const { return values().rows(); }
  [[nodiscard]] std::uint32_t components() const { return values().graph->components; }
  [[nodiscard]] std::uint32_t vertices() const { return values().graph->vertices; }
  /// Reads all rows in pieces of `piece` rows.
  [[nodiscard]] pairs rows(std::uint64_t piece) {
    pairs found;
    std::vector<word> froms(piece);
    std::vector<word> tos(piece);
    word* const columns[] = {tos.data(), froms.data()};
    strip_reader reader(memory_, *values().graph);
    for (std::uint32_t strip = 0; strip < values().graph->strips(); ++strip) {
      const std::uint64_t count = values().rows_in_front[strip + 1ULL] - values().rows_in_front[strip];
      reader.make(strip);
      reader.prepare(values());
      for (std::uint64_t first = 0; first < count; first += piece) {
        const std::uint64_t n = std::min(piece, count - first);
        reader.write(values(), first, n, columns);
        for (std::uint64_t i = 0; i < n; ++i) EXPECT_TRUE(found.emplace(froms[i], tos[i]).second);
      }
    }
    return found;
  }

 private:
  [[nodiscard]] const factorized_values& values() const { return rows_->values(); }

  void expect_contained(const std::vector<std::pair<word, word>>& asked, const pairs& expected) {
    graph_reader reader(*rows_);
    constexpr std::size_t tile = 512;
    std::vector<word> values;
    std::vector<word> sources;
    for (std::size_t begin = 0; begin < asked.size(); begin += tile) {
      values.clear();
      sources.clear();
      for (std::size_t i = begin; i < std::min(begin + tile, asked.size()); ++i) {
        sources.push_back(asked[i].first);
        values.push_back(asked[i].second);
      }
      std::vector<std::uint8_t> found(values.size());
      const word* const columns[] = {values.data(), sources.data()};
      reader.contains(columns, static_cast<std::uint32_t>(values.size()), found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i] != 0, expected.contains(asked[begin + i])) << sources[i] << " " << values[i];
    }
  }

  backend::host_memory memory_;
  std::optional<graph_rows> rows_;
};

/// Tries namesakes with the source's number, and random namesakes: only a vertex with the same list may be used.
void expect_with_namesakes(std::uint32_t sources, const lists& starts, std::uint32_t vertices, const lists& graph,
                           std::uint32_t strip_words, const pairs& expected) {
  std::vector<std::uint32_t> same(sources);
  std::iota(same.begin(), same.end(), 0);
  std::vector<std::uint32_t> any = same;
  std::mt19937 random(sources + vertices);
  for (std::uint32_t& vertex : any) {
    if (random() % 4 == 0) vertex = random() % 2 == 0 ? UINT32_MAX : random() % vertices;
  }
  for (const auto& known : {same, any}) {
    backend::cpu::tbb_backend several(3);
    factorized_pairs shared(sources, starts, vertices, graph, strip_words, backend::piece_runner(several, 9), known);
    EXPECT_EQ(shared.rows(1000), expected);
  }
  factorized_pairs made(sources, starts, vertices, graph, strip_words, backend::piece_runner(), any);
  EXPECT_EQ(made.size(), expected.size());
  if (strip_words == factorized_graph::least_strip_words && vertices <= 100)
    made.expect_read(sources, vertices, expected);  // only small graphs: the comparison reads all pairs
}

/// Sources and vertices have separate numbers, and a source starts at any vertices.
void expect_searched(std::uint32_t sources, const pairs& begins, std::uint32_t vertices, const pairs& edges) {
  const lists starts(sources, begins);
  const lists graph(vertices, edges);
  const pairs expected = searched(sources, starts, graph);
  for (const std::uint32_t words : {factorized_graph::least_strip_words, factorized_graph::most_strip_words}) {
    for (const std::uint64_t least : {std::uint64_t{1}, std::uint64_t{9}, backend::piece_runner::usual_range}) {
      backend::cpu::tbb_backend several(3);
      factorized_pairs made(sources, starts, vertices, graph, words, backend::piece_runner(several, least));
      EXPECT_EQ(made.size(), expected.size());
      EXPECT_EQ(made.rows(7), expected);
      EXPECT_EQ(made.rows(1000), expected);
    }
    factorized_pairs made(sources, starts, vertices, graph, words, backend::piece_runner());
    EXPECT_EQ(made.size(), expected.size());
    EXPECT_EQ(made.rows(1000), expected);
    made.expect_read(sources, vertices, expected);
    expect_with_namesakes(sources, starts, vertices, graph, words, expected);
  }
}

void expect_closure(std::uint32_t vertices, const pairs& edges) { expect_searched(vertices, edges, vertices, edges); }

pairs random_pairs(std::mt19937& random, std::uint32_t from, std::uint32_t to, std::uint32_t count) {
  pairs made;
  for (std::uint32_t i = 0; i < count; ++i) made.emplace(random() % from, random() % to);
  return made;
}

TEST(factorized, closures_of_random_graphs) {
  std::mt19937 random(1);
  for (const std::uint32_t vertices :
       {1U, 2U, 31U, 64U, 65U, oracle::is_sanitized ? 66U : 300U, oracle::is_sanitized ? 150U : 600U}) {
    for (const double degree : {0.3, 0.9, 1.1, 3.0}) {
      const auto count = static_cast<std::uint32_t>(vertices * degree) + 1;
      expect_closure(vertices, random_pairs(random, vertices, vertices, count));
    }
  }
}

TEST(factorized, without_cycles_over_several_strips) {
  std::mt19937 random(2);
  for (const std::uint32_t degree : {2U, 1U, 4U}) {
    if (oracle::is_sanitized && degree != 2) continue;
    pairs edges;
    for (const auto& [from, to] : random_pairs(random, 700, 700, 700 * degree))
      if (from != to) edges.emplace(std::min(from, to), std::max(from, to));
    expect_closure(700, edges);
  }
}

/// Workers share a component with many vertices, and many sources start in this component.
TEST(factorized, large_components_with_many_others_behind) {
  constexpr std::uint32_t first = 300;
  constexpr std::uint32_t second = oracle::is_sanitized ? 330 : 700;
  constexpr std::uint32_t vertices = oracle::is_sanitized ? 360 : 1000;
  std::mt19937 random(4);
  pairs edges = {{second - 1, first}, {first - 1, 0}};
  for (std::uint32_t i = 0; i + 1 < second; ++i) {
    if (i + 1 != first) edges.emplace(i, i + 1);
  }
  for (std::uint32_t i = 0; i < 600; i += oracle::is_sanitized ? 3 : 1) {
    edges.emplace(random() % first, first + random() % (vertices - first));
    edges.emplace(first + random() % (second - first), second + random() % (vertices - second));
  }
  if (!oracle::is_sanitized) expect_closure(vertices, edges);
  expect_searched(200, random_pairs(random, 200, vertices, 800), vertices, edges);
}

TEST(factorized, sources_that_begin_anywhere) {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i)
    expect_searched(100, random_pairs(random, 100, 80, 150), 80, random_pairs(random, 80, 80, 70));
}

TEST(factorized, stars_and_loops) {
  constexpr word vertices = oracle::is_sanitized ? 200 : 600;
  pairs out;
  pairs in;
  pairs loops;
  for (word i = 1; i < vertices; ++i) {
    out.emplace(0, i);
    in.emplace(i, 0);
    loops.emplace(i, i);
  }
  expect_closure(vertices, out);
  expect_closure(vertices, in);
  expect_closure(vertices, loops);
  pairs both = out;
  both.insert(in.begin(), in.end());
  expect_closure(vertices, both);
}

pairs chain_of(word vertices) {
  pairs edges;
  for (word i = 0; i + 1 < vertices; ++i) edges.emplace_hint(edges.end(), i, i + 1);
  return edges;
}

TEST(factorized, a_long_chain) {
  constexpr std::uint32_t vertices = 100'000;
  const pairs edges = chain_of(vertices);
  const lists graph(vertices, edges);
  const factorized_pairs made(vertices, graph, vertices, graph, factorized_graph::most_strip_words,
                              backend::piece_runner());
  EXPECT_EQ(made.size(), std::uint64_t{vertices} * (vertices - 1) / 2);
  EXPECT_EQ(made.components(), vertices - 1);  // the first vertex has no predecessor
}

TEST(factorized, one_component) {
  constexpr std::uint32_t vertices = 100'000;
  pairs edges = chain_of(vertices);
  edges.emplace(vertices - 1, 0);
  edges.emplace(7, 5);
  const lists graph(vertices, edges);
  const factorized_pairs made(vertices, graph, vertices, graph, factorized_graph::most_strip_words,
                              backend::piece_runner());
  EXPECT_EQ(made.size(), std::uint64_t{vertices} * vertices);
  EXPECT_EQ(made.vertices(), 1U);
}

}  // namespace
}  // namespace gpulog::storage
