#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/search/numbered_task.hpp"
#include "kernels/search/tuple_numbering.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// Numbers that follow a number, side by side.
struct number_lists {
  backend::array<std::uint32_t> first;  ///< by number, and one behind: where its list begins
  backend::array<word> all;
};

/// What a search over numbers reads. Nodes of the first member come first, then those of the next; behind them are keys
/// of steps that ask for a part of a node: they follow it, and are followed by what the step leads to.
struct numbered_graph {
  std::vector<tuple_numbering> nodes;  ///< by member
  std::vector<std::uint32_t> begins;   ///< by member, and one behind: its first number
  std::uint64_t numbers = 0;           ///< of nodes and keys
  number_lists steps;
  tuple_numbering invariants;
  number_lists starts;  ///< by invariant
  /// All starts in the order of the first tuples, where invariants go by value: neighbours in a file often belong
  /// together, whatever their values are. Of a relation that outlives it; nullptr: `starts` has them in that order.
  const word* ordered_starts = nullptr;

  /// Whether invariants and nodes are values of one column each, and values are numbers themselves.
  [[nodiscard]] bool is_of_values() const { return ordered_starts != nullptr; }
};

/// @return nothing when numbering does not pay, or numbers have no 32 bits. @throws backend::memory_exceeded
[[nodiscard]] std::optional<numbered_graph> make_numbered_graph(const backend::piece_runner& workers,
                                                                backend::memory_resource& resource,
                                                                const numbered_task& task,
                                                                const relation_list<storage::relation>& relations,
                                                                const numbering_cut_offs& cut);

}  // namespace gpulog::kernels
