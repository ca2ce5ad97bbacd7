#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "backend/gpu/device.hpp"
#include "kernels/products/product_task.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

struct product_cut_offs {
  /// Of a row, times the part of the device that waits for it, from which on rows are made in rounds.
  double waited_row_seconds = 0;
  std::uint64_t kept_words = 0;  ///< of a result, at most: columns of larger ones are made at once
};

/// Runs a recursion of products on a device (docs/internals/row-products.md), and replaces the target's rows, which are
/// those to start from, by its result: rows of bits (product_words.hpp), or columns.
/// @param bound of its values, which are numbers of rows themselves then; 0: they get numbers
/// @return nothing, and nothing is done, when rows have no place in a block's memory, or in the device's
/// @throws backend::memory_exceeded, kernels::interrupted, backend::gpu::device_error
std::optional<kernels::product_counts> run_products(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::product_task& task,
    std::uint64_t bound, const kernels::relation_list<storage::gpu::device_relation>& relations,
    const product_cut_offs& cut, const std::atomic<bool>* stop);

}  // namespace gpulog::exec
