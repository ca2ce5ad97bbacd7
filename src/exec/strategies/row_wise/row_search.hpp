#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "backend/gpu/device.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// Evaluates rules row by row on a device and stores the results in the target, which is empty.
/// @return the derived tuples, by rule; nothing, without any effect, if the values do not fit into a bitmap or if
///   row-wise evaluation does not pay
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<std::vector<std::uint64_t>> run_row_wise(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::row_wise_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::row_wise_cut_offs& cut,
    const std::atomic<bool>* stop);

/// Pauses rules whose results did not repeat, because a sample costs up to a millisecond.
class row_refusals {
 public:
  /// Counts one more phase.
  /// @return whether to skip the rules in this phase
  [[nodiscard]] bool rests(const kernels::row_wise_task& task) {
    refusal& refused = of_[place_of(task)];
    if (refused.rests == 0) return false;
    --refused.rests;
    return true;
  }
  void refused(const kernels::row_wise_task& task) {
    refusal& refused = of_[place_of(task)];
    refused.length = std::min(2 * refused.length + 1, most_rests);
    refused.rests = refused.length;
  }
  void forget() { of_.clear(); }

 private:
  static constexpr unsigned most_rests = 63;
  struct refusal {
    unsigned length = 0;
    unsigned rests = 0;
  };
  /// The target, and the input of its first rule.
  using place = std::tuple<relation_id, relation_id, row_part>;
  [[nodiscard]] static place place_of(const kernels::row_wise_task& task) {
    return {task.relation(), task.rules.front().left->relation, task.rules.front().left->rows};
  }

  std::map<place, refusal> of_;
};

/// Evaluates the rules that pay and adds their results to the target.
/// @return by rule: the number of candidates, or nothing if the rule was not evaluated
std::vector<std::optional<std::uint64_t>> add_rows(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::row_wise_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::row_wise_cut_offs& cut,
    row_refusals& refusals, const std::atomic<bool>* stop);

}  // namespace gpulog::exec
