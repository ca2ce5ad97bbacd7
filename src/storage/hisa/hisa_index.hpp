#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/hisa/hisa_level.hpp"

namespace gpulog::storage::gpu {

/// The data array of a relation, as read by indexes.
struct hisa_data {
  std::vector<const word*> columns;           ///< in device memory
  const word* const* column_table = nullptr;  ///< the same pointers for kernels
  std::vector<word> used_bits;                ///< by column: all bits set in any value
  std::uint64_t old_rows = 0;
  std::uint64_t rows = 0;
  /// Rows [sorted_begin, sorted_end) are in tuple order.
  std::uint64_t sorted_begin = 0;
  std::uint64_t sorted_end = 0;
};

/// A sorted index array with its key levels (storage::sorted_run with positions).
class hisa_run {
 public:
  hisa_run(memory_resource& resource, const index_layout& layout);
  /// Sorts rows [begin, end).
  /// @param order the layout's order, in device memory
  void build(hisa_workspace& space, const hisa_data& data, const std::uint32_t* order, std::uint64_t begin,
             std::uint64_t end);
  /// Merges a run with different rows into this run.
  void absorb(hisa_workspace& space, const hisa_data& data, const std::uint32_t* order, const hisa_run& delta,
              const buffer_policy& buffers);
  [[nodiscard]] hisa_run_view view(std::size_t level) const { return {levels_[level].view(), positions_.data()}; }
  [[nodiscard]] std::uint64_t rows() const { return positions_.size(); }
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  const index_layout* layout_;
  std::vector<hisa_level> levels_;
  array<std::uint32_t> positions_;
  array<std::uint32_t> spare_positions_;  // eager buffer management: kept for the next merge
};

/// storage::sorted_index in device memory, in the published mode: one run for full, merged with delta in each
/// iteration, and a separate run for delta, so that old, delta and all rows can be read.
class hisa_index {
 public:
  hisa_index(memory_resource& resource, index_layout layout, buffer_policy buffers)
      : resource_(&resource), layout_(std::move(layout)), order_(resource), buffers_(buffers) {}
  [[nodiscard]] const index_layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t bytes() const;
  void refresh(hisa_workspace& space, const hisa_data& data);
  [[nodiscard]] std::vector<hisa_run_view> views(bool with_old, bool with_delta, std::size_t level) const;

 private:
  using run_pointer = std::unique_ptr<hisa_run>;
  run_pointer make_run(hisa_workspace& space, const hisa_data& data, std::uint64_t begin, std::uint64_t end);
  void fold(hisa_workspace& space, const hisa_data& data, run_pointer run);

  memory_resource* resource_;
  index_layout layout_;
  array<std::uint32_t> order_;  // the layout's order, for kernels
  buffer_policy buffers_;
  run_pointer full_;
  run_pointer delta_;
  std::uint64_t indexed_ = 0;
  std::uint64_t delta_begin_ = 0;
};

}  // namespace gpulog::storage::gpu
