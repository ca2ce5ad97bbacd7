#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/piece_runner.hpp"
#include "kernels/join/pipeline.hpp"
#include "support/row_equations.hpp"

/// Row equations with steps, over numbers. Targets of all members get numbers from 0 on, and so do sources. A search
/// then maps numbers to numbers, with a small bitmap; numbers become values again when results are written.
namespace gpulog::kernels {

/// Columns of a relation that hold targets or keys.
struct tuple_source {
  relation_id relation;
  std::vector<std::uint32_t> columns;
  bool is_copied = false;  ///< holds targets of a different member
  friend bool operator==(const tuple_source&, const tuple_source&) = default;
};

/// Returns, by member, where its targets come from: first tuples, relations of steps, and copied targets of different
/// members.
[[nodiscard]] std::vector<std::vector<tuple_source>> target_tuples(const row_equations& task);

/// When numbering pays.
struct numbering_cut_offs {
  /// Maximum step rows per first tuple: with fewer first tuples, a loop may never read most rows.
  double step_rows = 64;
  std::uint64_t searches = 1;                                ///< minimum number of searches
  std::uint64_t range = backend::piece_runner::usual_range;  ///< minimum elements per worker
};

template <class Relations>
[[nodiscard]] bool may_number(const row_equations& task, const Relations& relations, const numbering_cut_offs& cut) {
  std::uint64_t first_tuples = 0;
  std::uint64_t step_rows = 0;
  for (const row_member& member : task.members) first_tuples += relations[member.relation.value]->rows();
  for (const row_step& step : task.steps) step_rows += step.copies() ? 0 : relations[step.relation.value]->rows();
  return first_tuples != 0 && static_cast<double>(step_rows) <= cut.step_rows * static_cast<double>(first_tuples);
}

/// Returns whether a step uses the whole target of a member as its key, so that keys need no numbers.
[[nodiscard]] bool asks_whole_node(const row_equations& task, const row_step& step);

/// Exclusive bound of numbers.
constexpr std::uint64_t most_numbers = (1ULL << 32) - 2;

}  // namespace gpulog::kernels
