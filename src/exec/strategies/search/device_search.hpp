#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// Returns the number of values that fit into a bitmap in shared memory.
[[nodiscard]] std::uint64_t bitmap_values(const backend::gpu::device_context& context);

/// Runs a decomposed fixpoint on a device, and replaces the members' rows, the first tuples, by the result: one block
/// per invariant, as many at a time as the device holds.
/// @param values must fit into a bitmap; nothing: numbers are searched
/// @return nothing, without any effect, if there are no first tuples or too many, if numbering would be necessary but
///   does not pay, or if tuples are too wide
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::row_counts> run_search(const backend::gpu::device_context& context,
                                              backend::memory_resource& resource, const row_equations& task,
                                              const std::optional<kernels::value_steps>& values,
                                              const kernels::relation_list<storage::gpu::device_relation>& relations,
                                              const kernels::numbering_cut_offs& cut, const std::atomic<bool>* stop);

}  // namespace gpulog::exec
