#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "exec/strategies/search/device_numbering.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::exec {

/// @param numbering null: values are their own numbers @param columns of the relation
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

/// What kernels ask kept rows for tuples with, in device memory.
class kept_lookup {
 public:
  /// Null: not made yet.
  [[nodiscard]] const storage::gpu::kept_rows_view* view() const { return view_.data(); }
  /// @throws backend::memory_exceeded
  const storage::gpu::kept_rows_view* make(const backend::gpu::device_context& context,
                                           backend::memory_resource& resource,
                                           const storage::gpu::kept_rows_view& rows) {
    backend::array<storage::gpu::kept_rows_view> made(resource, 1, backend::fresh_memory::anything);
    backend::gpu::copy_async(made.data(), &rows, sizeof rows, backend::gpu::direction::host_to_device,
                             context.stream());
    context.synchronize();
    view_ = std::move(made);
    return view_.data();
  }

 private:
  backend::array<storage::gpu::kept_rows_view> view_;
};

}  // namespace gpulog::exec
