#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/piece_runner.hpp"
#include "kernels/join/pipeline.hpp"

/// A decomposed fixpoint (kernels/search/decomposed_task.hpp) over numbers. Each tuple of a relation of the stratum
/// consists of an invariant (the columns that all rules pass through) and a node (the remaining columns). Nodes of all
/// relations get numbers from 0 on, and so do invariants. A search then maps numbers to numbers, with a small bitmap;
/// numbers become values again when results are written.
namespace gpulog::kernels {

/// A relation of the stratum.
struct numbered_member {
  relation_number relation = 0;
  std::vector<std::uint32_t> invariants;  ///< columns, the same number for each member
  std::vector<std::uint32_t> nodes;       ///< columns
};

/// An edge from nodes of one member to nodes of a member.
struct numbered_step {
  std::uint32_t from = 0;  ///< member
  std::uint32_t to = 0;    ///< member
  /// true: one node follows, made of values of the first node; false: the nodes are looked up in a relation.
  bool copies = false;
  relation_number relation = 0;
  std::vector<std::uint32_t> from_nodes;  ///< positions in the node of `from`, equal to the key
  std::vector<std::uint32_t> key;         ///< columns of the relation, as many as from_nodes
  /// Columns of the relation that form the node of `to`; with `copies`, positions in the node of `from`.
  std::vector<std::uint32_t> columns;
};

/// Columns of a relation that hold nodes or keys.
struct tuple_source {
  relation_number relation = 0;
  std::vector<std::uint32_t> columns;
  bool is_copied = false;  ///< holds nodes of a different member
  friend bool operator==(const tuple_source&, const tuple_source&) = default;
};

struct numbered_task {
  std::vector<numbered_member> members;
  std::vector<numbered_step> steps;

  /// Returns, by member, where its nodes come from: first tuples, targets of steps, and copied nodes of different
  /// members.
  [[nodiscard]] std::vector<std::vector<tuple_source>> sources() const;
};

/// When numbering pays.
struct numbering_cut_offs {
  /// Maximum step rows per first tuple: with fewer first tuples, a loop may never read most rows.
  double step_rows = 64;
  std::uint64_t searches = 1;                                ///< minimum number of searches
  std::uint64_t range = backend::piece_runner::usual_range;  ///< minimum elements per worker
};

template <class Relations>
[[nodiscard]] bool may_number(const numbered_task& task, const Relations& relations, const numbering_cut_offs& cut) {
  std::uint64_t first_tuples = 0;
  std::uint64_t step_rows = 0;
  for (const numbered_member& member : task.members) first_tuples += relations[member.relation]->rows();
  for (const numbered_step& step : task.steps) step_rows += step.copies ? 0 : relations[step.relation]->rows();
  return first_tuples != 0 && static_cast<double>(step_rows) <= cut.step_rows * static_cast<double>(first_tuples);
}

/// Returns whether a step uses the whole node of a member as its key, so that keys need no numbers.
[[nodiscard]] bool asks_whole_node(const numbered_task& task, const numbered_step& step);

/// Exclusive bound of node numbers.
constexpr std::uint64_t most_numbers = (1ULL << 32) - 2;

}  // namespace gpulog::kernels
