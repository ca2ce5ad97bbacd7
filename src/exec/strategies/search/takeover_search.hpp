#pragma once

#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// When searches with rows pay, and how much of them is kept.
struct takeover_cut_offs {
  kernels::numbering_cut_offs numbering;
  std::uint64_t kept_words = 0;       ///< of rows, at most
  std::uint64_t block_row_bytes = 0;  ///< of a row of bits in a block's memory, at most
};

/// Runs a fixpoint that falls apart on a device (docs/internals/row-takeover.md), and replaces the member's rows, which
/// are those to start from, by its result: factorized rows (takeover_rows.hpp).
/// @param bound of its values, which are numbers themselves then; 0: they get numbers
/// @return nothing, and nothing is done, when it has several members or needs other numbers than those of nodes; or
/// when numbering does not pay, or tuples are too wide or too many
/// @throws backend::memory_exceeded, backend::gpu::device_error
std::optional<kernels::decomposed_counts> run_takeover(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::numbered_task& task,
    std::uint64_t bound, const kernels::relation_list<storage::gpu::device_relation>& relations,
    const takeover_cut_offs& cut);

}  // namespace gpulog::exec
