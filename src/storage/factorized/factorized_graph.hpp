#pragma once

#include <cstdint>
#include <vector>

#include "storage/factorized/condensation.hpp"
#include "support/ids.hpp"

/// Factorized rows: pairs (source, value) represented by an acyclic graph instead of columns. Each source belongs to a
/// vertex and each value to a component; a pair is a path of at least one edge.
namespace gpulog::storage {

/// Vertices and their sources. Vertices below `components` are the components of a condensation. The remaining vertices
/// have no incoming edges: they represent sources with a set of successors that no component has.
struct factorized_graph {
  std::uint32_t components = 0;
  std::uint32_t vertices = 0;
  backend::array<std::uint8_t> is_cyclic;    ///< by component
  backend::array<std::uint32_t> first;       ///< by vertex, with one extra entry: start of its successors
  backend::array<std::uint32_t> successors;  ///< ascending, below the vertex
  backend::array<std::uint32_t> lowest;      ///< by vertex: the lowest component reachable by a path; UINT32_MAX: none
  backend::array<std::uint32_t> source_first;    ///< by vertex, with one extra entry: start of its sources
  std::vector<backend::array<word>> sources;     ///< columns, by vertex
  std::uint32_t strip_words = most_strip_words;  ///< words of a row computed together, one bit per component

  static constexpr std::uint32_t least_strip_words = 8;
  /// Rows of 512 bytes: thousands of rows fit into a processor's private cache.
  static constexpr std::uint32_t most_strip_words = 64;

  [[nodiscard]] std::uint32_t strip_components() const { return strip_words * 64; }
  [[nodiscard]] std::uint32_t strips() const { return (components + strip_components() - 1) / strip_components(); }
  [[nodiscard]] std::uint32_t sources_at(std::uint32_t vertex) const {
    return source_first[vertex + 1ULL] - source_first[vertex];
  }
  [[nodiscard]] std::uint64_t bytes() const;
  /// Returns an upper bound of the number of words read when all rows are computed once.
  [[nodiscard]] double row_words(const backend::piece_runner& workers) const;
};

/// A source may have a namesake: a vertex of the condensed graph. If the vertex and the source have equal lists, they
/// lead to the same vertices, and no lookup is needed.
struct namesakes {
  const std::uint32_t* vertices = nullptr;  ///< by source; UINT32_MAX: no namesake. nullptr: no source has one
  list_view graph{};                        ///< the condensed graph
};

/// Builds the graph from a condensation; keeps only its components by vertex.
/// @param starts by source: the vertices of the condensed graph where the source starts, which are also its values
/// @param sources columns, by source
/// @throws backend::memory_exceeded
[[nodiscard]] factorized_graph factorize(const backend::piece_runner& workers, backend::memory_resource& resource,
                                         condensation& condensed, const list_view& starts,
                                         const std::vector<const word*>& sources, std::uint64_t source_count,
                                         const namesakes& known = {});

}  // namespace gpulog::storage
