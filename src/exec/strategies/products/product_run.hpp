#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "storage/relation/device_relation.hpp"
#include "support/row_equations.hpp"

namespace gpulog::exec {

struct product_cut_offs {
  /// Threshold for computing rows in rounds: the time of a row times the share of the device that waits for it.
  double waited_row_seconds = 0;
  std::uint64_t kept_words = 0;  ///< maximum size of a result kept as words; larger results become columns at once
};

/// Runs a product recursion on a device (docs/internals/row-products.md), and replaces the target's rows, the first
/// tuples, by the result: rows of bits (product_words.hpp), or columns.
/// @param bound exclusive bound of the values if values serve directly as row numbers, else 0
/// @return nothing, without any effect, if rows do not fit into shared memory or into device memory
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::row_counts> run_products(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                std::uint64_t bound,
                                                const kernels::relation_list<storage::gpu::device_relation>& relations,
                                                const product_cut_offs& cut, const std::atomic<bool>* stop);

}  // namespace gpulog::exec
