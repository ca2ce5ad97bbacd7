#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "exec/strategies/search/device_numbering.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::exec {

/// @param numbering null: values serve directly as numbers
/// @param columns of the relation
[[nodiscard]] inline storage::gpu::numbered_columns numbered_columns_of(const device_numbering* numbering,
                                                                        std::uint64_t numbers,
                                                                        const std::vector<std::uint32_t>& columns) {
  storage::gpu::numbered_columns made;
  made.size = numbers;
  made.arity = static_cast<std::uint32_t>(columns.size());
  if (numbering != nullptr) {
    made.slots = numbering->found().slots;
    made.size = numbering->found().size;
  }
  for (std::uint32_t c = 0; c < made.arity; ++c) {
    made.columns[c] = columns[c];
    if (numbering != nullptr) made.values[c] = numbering->found().tuples.at[c];
  }
  return made;
}

/// The views through which kernels look up factorized rows, in device memory.
class kept_lookup {
 public:
  [[nodiscard]] bool is_made() const { return views_.size() != 0; }
  /// @throws backend::memory_exceeded
  void make(const backend::gpu::device_context& context, backend::memory_resource& resource,
            const storage::gpu::kept_rows_view& rows);
  [[nodiscard]] const storage::gpu::kept_rows_view& on_host() const { return rows_; }
  /// Returns the view for a kind of lookup, after make().
  /// @throws backend::memory_exceeded
  [[nodiscard]] const storage::gpu::kept_rows_view* view(const backend::gpu::device_context& context,
                                                         storage::gpu::kept_question asked);
  [[nodiscard]] std::uint64_t bytes() const { return views_.bytes() + used_nodes_.bytes(); }

 private:
  void put(const backend::gpu::device_context& context, storage::gpu::kept_question asked);
  void find_used_nodes(const backend::gpu::device_context& context);

  storage::gpu::kept_rows_view rows_;
  backend::array<storage::gpu::kept_rows_view> views_;  // by question
  backend::array<std::uint32_t> used_nodes_;            // computed on first use
};

}  // namespace gpulog::exec
