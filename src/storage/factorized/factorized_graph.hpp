#pragma once

#include <cstdint>
#include <vector>

#include "storage/factorized/condensation.hpp"
#include "support/ids.hpp"

/// Factorized rows: pairs (source, value) kept as a graph without cycles in place of columns. A source stands at a
/// vertex and a value at a component; a pair is a path of one and more edges between them.
namespace gpulog::storage {

/// Vertices and the sources that stand there. Vertices below `components` are the components of a condensation. The
/// others are led to by no edge: they stand for sources that lead to what no component leads to.
struct factorized_graph {
  std::uint32_t components = 0;
  std::uint32_t vertices = 0;
  backend::array<std::uint8_t> is_cyclic;    ///< by component
  backend::array<std::uint32_t> first;       ///< by vertex, and one more at the end: where its successors begin
  backend::array<std::uint32_t> successors;  ///< ascending, below the vertex
  backend::array<std::uint32_t> lowest;      ///< by vertex: the lowest component that a path leads to; UINT32_MAX: none
  backend::array<std::uint32_t> source_first;    ///< by vertex, and one more at the end: where its sources begin
  std::vector<backend::array<word>> sources;     ///< columns, by vertex
  std::uint32_t strip_words = most_strip_words;  ///< of a row, a bit a component, that are made together

  static constexpr std::uint32_t least_strip_words = 8;
  /// Rows of 512 bytes: some thousand of them stay in a processor's own cache.
  static constexpr std::uint32_t most_strip_words = 64;

  [[nodiscard]] std::uint32_t strip_components() const { return strip_words * 64; }
  [[nodiscard]] std::uint32_t strips() const { return (components + strip_components() - 1) / strip_components(); }
  [[nodiscard]] std::uint32_t sources_at(std::uint32_t vertex) const {
    return source_first[vertex + 1ULL] - source_first[vertex];
  }
  [[nodiscard]] std::uint64_t bytes() const;
  /// An upper bound of the words that are read to make all rows once.
  [[nodiscard]] double row_words(const backend::piece_runner& workers) const;
};

/// Each source may have a vertex of the condensed graph as its namesake. Where that one's list is the source's, both
/// lead to the same vertices, and nothing has to be looked up.
struct namesakes {
  const std::uint32_t* vertices = nullptr;  ///< by source; UINT32_MAX: it has none. nullptr: none has one
  list_view graph{};                        ///< that was condensed
};

/// Takes the condensation over, but for the components by vertex. starts: by source, the vertices of the condensed
/// graph that it begins at, and that are values of it too. sources: columns, by source. @throws
/// backend::memory_exceeded
[[nodiscard]] factorized_graph factorize(const backend::piece_runner& workers, backend::memory_resource& resource,
                                         condensation& condensed, const list_view& starts,
                                         const std::vector<const word*>& sources, std::uint64_t source_count,
                                         const namesakes& known = {});

}  // namespace gpulog::storage
