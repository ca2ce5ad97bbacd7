#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "backend/cuda/device.hpp"
#include "kernels/row_task.hpp"
#include "storage/cuda/device_relation.hpp"

namespace gpulog::exec {

/// Evaluates rules row by row on a device and gives the target, which is empty, their results.
/// @return nothing, and nothing is done, when the values have no place in a bitmap or it would not pay
/// @throws backend::memory_exceeded, kernels::interrupted, backend::cuda::cuda_error
std::optional<kernels::row_counts> run_rows(const backend::cuda::device_context& context,
                                            backend::memory_resource& resource, const kernels::row_task& task,
                                            const kernels::relation_list<storage::cuda::device_relation>& relations,
                                            const kernels::row_cut_offs& cut, const std::atomic<bool>* stop);

/// The same in addition to what the target has: rules that pay.
/// @return by rule: its candidates; nothing: it was left
std::vector<std::optional<std::uint64_t>> add_rows(
    const backend::cuda::device_context& context, backend::memory_resource& resource, const kernels::row_task& task,
    const kernels::relation_list<storage::cuda::device_relation>& relations, const kernels::row_cut_offs& cut,
    const std::atomic<bool>* stop);

}  // namespace gpulog::exec
