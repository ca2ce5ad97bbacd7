#pragma once

#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// When row takeover pays, and how much memory it may use.
struct takeover_cut_offs {
  kernels::numbering_cut_offs numbering;
  std::uint64_t kept_words = 0;       ///< maximum size of stored rows
  std::uint64_t block_row_bytes = 0;  ///< maximum size of a row of bits in shared memory
};

/// Runs a decomposed fixpoint on a device with row takeover (docs/internals/row-takeover.md), and replaces the member's
/// rows, the first tuples, by factorized rows (takeover_rows.hpp).
/// @param bound exclusive bound of the values if values serve directly as numbers, else 0
/// @return nothing, without any effect, if the task has several members or numbers beyond nodes, if numbering does not
///   pay, or if tuples are too wide or too many
/// @throws backend::memory_exceeded, backend::gpu::device_error
std::optional<kernels::row_counts> run_takeover(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                std::uint64_t bound,
                                                const kernels::relation_list<storage::gpu::device_relation>& relations,
                                                const takeover_cut_offs& cut);

}  // namespace gpulog::exec
