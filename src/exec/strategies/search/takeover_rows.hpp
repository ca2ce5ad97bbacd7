#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/stage_clock.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/kept_lookup.hpp"
#include "exec/strategies/search/source_pieces.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/search/takeover.hpp"
#include "storage/representation/device_factorized.hpp"

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
class takeover_rows final : public storage::gpu::device_factorized {
 public:
  /// @param most_words limit for stored rows
  /// @throws backend::memory_exceeded
  takeover_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                kernels::numbered_member member, device_graph graph, const long_search_shape& shape,
                std::uint64_t most_words);

  /// Runs all searches; call only once.
  /// @throws backend::memory_exceeded
  void search(backend::gpu::stage_clock& clock);
  [[nodiscard]] const kernels::gpu::takeover_arguments::totals& totals() const { return totals_; }

  [[nodiscard]] std::uint64_t rows() const override { return totals_.rows; }
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::vector<backend::array<word>> columns() override;
  [[nodiscard]] const std::vector<std::uint64_t>& pieces() override;
  void read(std::size_t piece, word* const* columns) override;
  [[nodiscard]] const storage::gpu::kept_rows_view* lookup(storage::gpu::kept_question asked) override;
  [[nodiscard]] const storage::gpu::kept_rows_view& view() const override { return lookup_.on_host(); }
  [[nodiscard]] std::vector<std::uint32_t> source_columns() const override { return member_.invariants; }
  [[nodiscard]] std::vector<std::uint32_t> node_columns() const override { return member_.nodes; }
  [[nodiscard]] column_bounds values_of(std::uint32_t column) const override;
  [[nodiscard]] std::vector<backend::array<word>> columns_of(const source_rows& wanted) override;

 private:
  using columns_type = std::vector<backend::array<word>>;

  void find_vertices();
  void make_rows(std::uint64_t most_words);
  void make_queues(std::uint64_t searches);
  void release_queues();
  void launch_short();
  void launch_long(std::uint64_t first, std::uint64_t last);
  void write_totals();
  /// Computes the number of rows before each source.
  void place_sources();
  void list_sources_not_kept();
  /// @param wanted bit set over the relation's columns
  [[nodiscard]] columns_type make_columns(std::uint64_t rows, std::uint64_t wanted = UINT64_MAX) const;
  /// Materializes the rows of sources [first, last) as columns.
  /// @param first_row row of the relation that is written first
  void expand(std::uint64_t first, std::uint64_t last, std::uint64_t first_row, columns_type& to);
  /// Repeats the searches of not_kept_[first, last), as many at a time as fit, and materializes them.
  void expand_again(std::uint64_t first, std::uint64_t last, kernels::gpu::expansion_arguments arguments);
  void launch_expansion(const kernels::gpu::expansion_arguments& arguments) const;
  /// Lists the numbers of rows that are not stored, in half the memory of columns.
  void list_rows_not_kept();
  [[nodiscard]] kernels::gpu::expansion_arguments expansion_to(columns_type& to) const;
  /// Returns the relation's column for a result column: invariants come first, then nodes.
  [[nodiscard]] std::uint32_t column_of(std::size_t number) const;

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  kernels::numbered_member member_;
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
  source_pieces pieces_;
  // Created when tuples are looked up.
  backend::array<std::uint64_t> list_begins_;  // by source, with one extra entry: list of a row that is not stored
  backend::array<word> lists_;                 // numbers of these lists
  kept_lookup lookup_;
};

}  // namespace gpulog::exec
