#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/search/numbered_task.hpp"
#include "kernels/search/tuple_numbering.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// Lists of successors, concatenated.
struct number_lists {
  backend::array<std::uint32_t> first;  ///< by number, with one extra entry: start of its list
  backend::array<word> all;
};

/// The graph for searches over numbers. Nodes of the first member come first, then the nodes of the next members, then
/// keys of steps that use a part of a node: keys follow the node, and the step's targets follow the key.
struct numbered_graph {
  std::vector<tuple_numbering> nodes;  ///< by member
  std::vector<std::uint32_t> begins;   ///< by member, with one extra entry: its first number
  std::uint64_t numbers = 0;           ///< nodes and keys
  number_lists steps;
  tuple_numbering invariants;
  number_lists starts;  ///< by invariant
  /// All starts in the order of the first tuples, if invariants are ordered by value: neighbours in a file often belong
  /// together, whatever their values. Points into a relation that outlives the graph; nullptr: `starts` has that order.
  const word* ordered_starts = nullptr;

  /// Returns whether invariants and nodes are single-column values that serve directly as numbers.
  [[nodiscard]] bool is_of_values() const { return ordered_starts != nullptr; }
};

/// @return nothing if numbering does not pay, or if numbers exceed 32 bits
/// @throws backend::memory_exceeded
[[nodiscard]] std::optional<numbered_graph> make_numbered_graph(const backend::piece_runner& workers,
                                                                backend::memory_resource& resource,
                                                                const row_equations& task,
                                                                const relation_list<storage::relation>& relations,
                                                                const numbering_cut_offs& cut);

}  // namespace gpulog::kernels
