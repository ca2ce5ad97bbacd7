#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "exec/strategies/search/device_numbering.hpp"
#include "storage/representation/device_row_matrix.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::exec {

/// What row takeover and row products have in common as matrices: columns, pieces, and views for lookups.
class stored_rows : public storage::gpu::device_row_matrix {
 public:
  [[nodiscard]] column_values values_of(std::uint32_t column) const override;
  [[nodiscard]] std::span<const std::uint64_t> pieces() override;
  [[nodiscard]] std::unique_ptr<storage::row_piece> make_piece() override;
  [[nodiscard]] std::vector<backend::array<word>> columns() override;
  [[nodiscard]] std::vector<backend::array<word>> columns_of(const source_rows& wanted) override;
  [[nodiscard]] const storage::gpu::kept_rows_view* lookup(storage::gpu::kept_question asked) override;
  [[nodiscard]] const storage::gpu::kept_rows_view& view() const override { return view_; }

 protected:
  using columns_type = std::vector<backend::array<word>>;

  /// A dictionary of sources or targets.
  struct side {
    const device_numbering* numbering = nullptr;  ///< null: values serve directly as numbers
    std::uint64_t count = 0;
    std::vector<std::uint32_t> columns;  ///< of the relation
  };
  stored_rows(const backend::gpu::device_context& context, backend::memory_resource& resource, const side& sources,
              const side& targets);

  /// Returns, in device memory, the number of rows before each source, with one extra entry.
  /// @throws backend::memory_exceeded
  [[nodiscard]] virtual const backend::array<std::uint64_t>& places() = 0;
  /// Writes rows to columns, of which unwanted ones are empty.
  virtual void write(const source_rows& wanted, columns_type& to) = 0;
  /// Adds the rows to the view.
  /// @throws backend::memory_exceeded
  virtual void show(storage::gpu::kept_rows_view& view) = 0;

  [[nodiscard]] std::uint64_t common_bytes() const { return views_.bytes() + used_nodes_.bytes(); }

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;

 private:
  class copied_piece;

  /// @param wanted bit set over the relation's columns
  [[nodiscard]] columns_type make_columns(std::uint64_t rows, std::uint64_t wanted = UINT64_MAX) const;
  void put_view(storage::gpu::kept_question asked);
  void find_used_nodes();

  storage::gpu::kept_rows_view view_;
  backend::array<storage::gpu::kept_rows_view> views_;  // by question; created on first use
  backend::array<std::uint32_t> used_nodes_;            // created on first use
  // Pieces of a few million rows, and columns of one piece.
  std::vector<std::uint64_t> piece_rows_;
  std::vector<std::uint64_t> piece_sources_;  // by piece: first source
  std::uint64_t largest_piece_ = 0;
  columns_type piece_columns_;
  std::mutex reading_;
};

}  // namespace gpulog::exec
