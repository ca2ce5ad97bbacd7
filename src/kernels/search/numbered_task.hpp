#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/piece_runner.hpp"
#include "kernels/join/pipeline.hpp"

/// A fixpoint that falls apart (kernels/search/decomposed_task.hpp), over numbers. Each tuple of a relation of the
/// stratum is a invariant, the columns that all rules pass through, and a node, the others. What stands in the node
/// columns of any of the relations, whatever its values, its columns and its relation, is numbered from 0 on, and so
/// are the invariants. Then a search goes from numbers to numbers, with a bitmap of few bits, and numbers become values
/// again where a result is written.
namespace gpulog::kernels {

/// A relation of the stratum.
struct numbered_member {
  relation_number relation = 0;
  std::vector<std::uint32_t> invariants;  ///< columns, as many for each member
  std::vector<std::uint32_t> nodes;       ///< columns
};

/// From a node of a member to the nodes that follow it.
struct numbered_step {
  std::uint32_t from = 0;  ///< member
  std::uint32_t to = 0;    ///< member
  /// Whether one node follows, of values of the first one; else it is searched in a relation.
  bool copies = false;
  relation_number relation = 0;
  std::vector<std::uint32_t> from_nodes;  ///< places in the node of `from`: equal to the key
  std::vector<std::uint32_t> key;         ///< columns of the relation, as many
  std::vector<std::uint32_t> columns;     ///< of the relation; copies: places in the node of `from`: the node of `to`
};

/// Columns of a relation in which nodes or keys stand.
struct tuple_source {
  relation_number relation = 0;
  std::vector<std::uint32_t> columns;
  bool is_copied = false;  ///< stands for nodes of another member
  friend bool operator==(const tuple_source&, const tuple_source&) = default;
};

struct numbered_task {
  std::vector<numbered_member> members;
  std::vector<numbered_step> steps;

  /// Where all nodes of a member come from, by member: first tuples, what steps lead to, and those of other members
  /// that are copied.
  [[nodiscard]] std::vector<std::vector<tuple_source>> sources() const;
};

/// When numbering pays.
struct numbering_cut_offs {
  /// Most rows of steps for each first tuple: where fewer tuples begin, a loop may never ask for most of them.
  double step_rows = 64;
  std::uint64_t searches = 1;                                ///< that there are at least
  std::uint64_t range = backend::piece_runner::usual_range;  ///< elements that are worth a worker
};

template <class Relations>
[[nodiscard]] bool may_number(const numbered_task& task, const Relations& relations, const numbering_cut_offs& cut) {
  std::uint64_t first_tuples = 0;
  std::uint64_t step_rows = 0;
  for (const numbered_member& member : task.members) first_tuples += relations[member.relation]->rows();
  for (const numbered_step& step : task.steps) step_rows += step.copies ? 0 : relations[step.relation]->rows();
  return first_tuples != 0 && static_cast<double>(step_rows) <= cut.step_rows * static_cast<double>(first_tuples);
}

/// Whether the node of a member is what a step searches by: then keys need no numbers of their own.
[[nodiscard]] bool asks_whole_node(const numbered_task& task, const numbered_step& step);

/// Numbers of nodes are below this.
constexpr std::uint64_t most_numbers = (1ULL << 32) - 2;

}  // namespace gpulog::kernels
