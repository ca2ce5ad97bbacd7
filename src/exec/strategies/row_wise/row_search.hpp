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

/// Evaluates rules row by row on a device and gives the target, which is empty, their results.
/// @return nothing, and nothing is done, when the values have no place in a bitmap or it would not pay
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::row_counts> run_row_wise(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const kernels::row_wise_task& task,
                                                const kernels::relation_list<storage::gpu::device_relation>& relations,
                                                const kernels::row_wise_cut_offs& cut, const std::atomic<bool>* stop);

/// How long rules whose results did not repeat are not asked again: a sample costs up to a millisecond.
class row_refusals {
 public:
  /// One more phase has come. @return whether its rules are left
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
  /// The target, and what its first rule reads.
  using place = std::tuple<kernels::relation_number, kernels::relation_number, kernels::row_part>;
  [[nodiscard]] static place place_of(const kernels::row_wise_task& task) {
    return {task.target, task.rules.front().from.relation, task.rules.front().from.rows};
  }

  std::map<place, refusal> of_;
};

/// The same in addition to what the target has: rules that pay.
/// @return by rule: its candidates; nothing: it was left
std::vector<std::optional<std::uint64_t>> add_rows(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::row_wise_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::row_wise_cut_offs& cut,
    row_refusals& refusals, const std::atomic<bool>* stop);

}  // namespace gpulog::exec
