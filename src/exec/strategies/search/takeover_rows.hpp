#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/stage_clock.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/stored_rows.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/search/takeover.hpp"

namespace gpulog::exec {

/// The kernel for long searches, and its launch shape.
struct long_search_shape {
  backend::gpu::kernel<kernels::gpu::takeover_arguments> kernel;
  unsigned threads = 0;
  unsigned blocks = 0;  ///< 0: the device does not support this many vertices
  std::size_t shared_bytes = 0;
  bool has_row = true;  ///< whether rows of bits are in shared memory
};
/// @param block_row_bytes maximum size of a row of bits in shared memory
[[nodiscard]] long_search_shape long_shape_for(const backend::gpu::device_context& context, std::uint64_t numbers,
                                               std::uint64_t block_row_bytes);

/// The result of row takeover (docs/internals/row-takeover.md): a row per source, stored as a list or as bits. A row
/// that found no space is searched again on demand.
class takeover_rows final : public stored_rows {
 public:
  /// @param most_words limit for stored rows
  /// @throws backend::memory_exceeded
  takeover_rows(const backend::gpu::device_context& context, backend::memory_resource& resource, row_member member,
                device_graph graph, const long_search_shape& shape, std::uint64_t most_words);

  /// Runs all searches; call only once.
  /// @throws backend::memory_exceeded
  void search(backend::gpu::stage_clock& clock);
  [[nodiscard]] const kernels::gpu::takeover_arguments::totals& totals() const { return totals_; }

  [[nodiscard]] std::uint64_t rows() const override { return totals_.rows; }
  [[nodiscard]] std::uint64_t bytes() const override;

 private:
  void find_vertices();
  void make_rows(std::uint64_t most_words);
  void make_queues(std::uint64_t searches);
  void release_queues();
  void launch_short();
  void launch_long(std::uint64_t first, std::uint64_t last);
  void write_totals();
  [[nodiscard]] const backend::array<std::uint64_t>& places() override;
  void write(const source_rows& wanted, columns_type& to) override;
  void show(storage::gpu::kept_rows_view& view) override;
  void list_sources_not_kept();
  /// Repeats the searches of not_kept_[first, last), as many at a time as fit, and materializes them.
  void expand_again(std::uint64_t first, std::uint64_t last, kernels::gpu::expansion_arguments arguments);
  void launch_expansion(const kernels::gpu::expansion_arguments& arguments) const;
  /// Lists the numbers of rows that are not stored, in half the memory of columns.
  void list_rows_not_kept();

  row_member member_;
  device_graph graph_;
  long_search_shape shape_;
  kernels::gpu::takeover_arguments search_;
  backend::array<kernels::gpu::row_vertex> vertices_;
  backend::array<std::uint32_t> vertex_of_;  // by source
  backend::array<kernels::gpu::row_kind> kinds_;
  backend::array<std::uint32_t> listed_;
  backend::array<unsigned long long> results_;
  backend::array<kernels::gpu::takeover_arguments::totals> counts_;
  backend::array<std::uint32_t> words_;  // of stored rows
  std::uint64_t again_rows_ = 0;         // number of searches repeated at a time
  backend::array<kernels::gpu::row_steps> queues_;
  backend::array<std::uint32_t> bits_;
  backend::array<kernels::gpu::used_group> used_groups_;
  kernels::gpu::takeover_arguments::totals totals_{};
  // Created when rows are read.
  backend::array<std::uint64_t> places_;         // by source, with one extra entry
  backend::array<std::uint32_t> not_kept_;       // sources, ascending
  std::vector<std::uint32_t> not_kept_sources_;  // the same on the host
  // Created when tuples are looked up.
  backend::array<std::uint64_t> list_begins_;  // by source, with one extra entry: list of a row that is not stored
  backend::array<word> lists_;                 // numbers of these lists
};

}  // namespace gpulog::exec
