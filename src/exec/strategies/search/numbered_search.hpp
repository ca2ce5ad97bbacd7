#pragma once

#include <atomic>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// Runs a fixpoint that falls apart on a device, over numbers (kernels/search/numbered_task.hpp), and replaces the
/// members' rows, which are those to start from, by its result: one block an invariant, as many at a time as the device
/// holds.
/// @return nothing, and nothing is done, when numbering does not pay, or tuples are too wide or too many
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::decomposed_counts> run_numbered(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::numbered_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::numbering_cut_offs& cut,
    const std::atomic<bool>* stop);

}  // namespace gpulog::exec
