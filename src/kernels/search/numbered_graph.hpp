#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/search/graph_builder.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/search/tuple_numbering.hpp"
#include "storage/factorized/adjacency.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

struct numbered_graph : task_graph<tuple_numbering> {
  storage::adjacency steps;
  storage::adjacency starts;  ///< by invariant
  /// All starts in the order of the first tuples, if invariants are ordered by value: neighbours in a file often belong
  /// together, whatever their values. Points into a relation that outlives the graph; nullptr: `starts` has that order.
  const word* ordered_starts = nullptr;

  /// Returns whether invariants and nodes are single-column values that serve directly as numbers.
  [[nodiscard]] bool is_of_values() const { return ordered_starts != nullptr; }
};

/// The operations of graph_builder.hpp on a host. All functions throw backend::memory_exceeded.
struct host_numbers {
  using graph = numbered_graph;
  using dictionary = tuple_numbering;
  using lists = storage::adjacency;

  const backend::piece_runner* workers;
  backend::memory_resource* resource;

  [[nodiscard]] std::optional<tuple_numbering> number(std::size_t arity,
                                                      const std::vector<numbered_tuples>& tuples) const;
  void find(const tuple_numbering& in, const numbered_tuples& tuples) const;
  [[nodiscard]] static std::vector<const word*> columns(const tuple_numbering& of) { return of.columns(); }
  static void number_keys(std::uint32_t first, number_pairs& pairs);
  void list(numbered_graph& made, std::vector<number_pairs> steps, const number_pairs& starts) const;
  [[nodiscard]] storage::adjacency lists_of(const std::uint32_t* keys, const word* values, std::uint64_t pairs,
                                            std::uint64_t numbers) const {
    return storage::make_adjacency(*workers, *resource, keys, values, pairs, numbers);
  }
};

/// @return nothing if numbering does not pay, or if numbers exceed 32 bits
/// @throws backend::memory_exceeded
[[nodiscard]] std::optional<numbered_graph> make_numbered_graph(const backend::piece_runner& workers,
                                                                backend::memory_resource& resource,
                                                                const row_equations& task,
                                                                const relation_list<storage::relation>& relations,
                                                                const numbering_cut_offs& cut);

}  // namespace gpulog::kernels
