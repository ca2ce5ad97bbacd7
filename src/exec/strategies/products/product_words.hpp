#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "exec/strategies/search/device_numbering.hpp"
#include "exec/strategies/search/kept_lookup.hpp"
#include "exec/strategies/search/source_pieces.hpp"
#include "storage/representation/device_factorized.hpp"

namespace gpulog::exec {

/// The result of a product recursion (docs/internals/row-products.md): rows of bits. Materialized columns are ordered
/// by row.
class product_words final : public storage::gpu::device_factorized {
 public:
  /// Arrays of the complete rows.
  struct parts {
    backend::array<std::uint32_t> rows;           ///< [number][word]
    backend::array<std::uint32_t> stamps;         ///< [number][group]; 0: the group has no bits and no valid words
    backend::array<std::uint64_t> sizes;          ///< by number, with one extra entry
    std::unique_ptr<device_numbering> numbering;  ///< null: values serve directly as numbers
    std::uint32_t numbers = 0;
    std::uint32_t groups = 0;
  };
  /// Waits for the device.
  /// @throws backend::memory_exceeded
  product_words(const backend::gpu::device_context& context, backend::memory_resource& resource, parts of);

  [[nodiscard]] std::uint64_t rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::vector<backend::array<word>> columns() override;
  [[nodiscard]] const std::vector<std::uint64_t>& pieces() override;
  void read(std::size_t piece, word* const* columns) override;
  [[nodiscard]] const storage::gpu::kept_rows_view* lookup(storage::gpu::kept_question asked) override;
  [[nodiscard]] const storage::gpu::kept_rows_view& view() const override { return lookup_.on_host(); }
  [[nodiscard]] std::vector<std::uint32_t> source_columns() const override { return {0}; }
  [[nodiscard]] std::vector<std::uint32_t> node_columns() const override { return {1}; }
  [[nodiscard]] column_bounds values_of(std::uint32_t column) const override;
  [[nodiscard]] std::vector<backend::array<word>> columns_of(const source_rows& wanted) override;

 private:
  using columns_type = std::vector<backend::array<word>>;

  /// @param wanted bit set over the relation's columns
  [[nodiscard]] columns_type make_columns(std::uint64_t rows, std::uint64_t wanted = UINT64_MAX) const;
  /// Writes the rows of numbers [first, last).
  /// @param first_row row of the relation that is written first
  void write(std::uint64_t first, std::uint64_t last, std::uint64_t first_row, columns_type& to) const {
    write({of_.sizes.data(), nullptr, first, last, first_row, 0}, to);
  }
  void write(const source_rows& wanted, columns_type& to) const;

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  parts of_;
  std::uint64_t rows_ = 0;
  source_pieces pieces_;  // created on the first read
  kept_lookup lookup_;
};

}  // namespace gpulog::exec
