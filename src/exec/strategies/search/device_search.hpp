#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/search_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// How many values have a place in a bitmap in a block's shared memory.
[[nodiscard]] std::uint64_t bitmap_values(const backend::gpu::device_context& context);

/// Runs a fixpoint that falls apart on a device, and replaces the members' rows, which are those to start from, by its
/// result: one block an invariant, as many at a time as the device holds.
/// @param task where it has a task over values, these have a place in a bitmap
/// @return nothing, and nothing is done, when there are no first tuples, or too many; or when values would have to get
/// numbers, and that does not pay, or tuples are too wide
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::decomposed_counts> run_search(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::search_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::numbering_cut_offs& cut,
    const std::atomic<bool>* stop);

}  // namespace gpulog::exec
