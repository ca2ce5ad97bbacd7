#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "exec/strategies/search/device_numbering.hpp"
#include "exec/strategies/search/stored_rows.hpp"

namespace gpulog::exec {

/// The result of a product recursion (docs/internals/row-products.md): rows of bits. Materialized columns are ordered
/// by row.
class product_words final : public stored_rows {
 public:
  /// Arrays of the complete rows.
  struct parts {
    backend::array<std::uint32_t> rows;         ///< [number][word]
    backend::array<std::uint32_t> stamps;       ///< [number][group]; 0: the group has no bits and no valid words
    backend::array<std::uint64_t> sizes;        ///< by number, with one extra entry
    std::optional<device_numbering> numbering;  ///< nothing: values serve directly as numbers
    std::uint32_t numbers = 0;
    std::uint32_t groups = 0;
  };
  /// Waits for the device.
  /// @throws backend::memory_exceeded
  product_words(const backend::gpu::device_context& context, backend::memory_resource& resource, parts of);

  [[nodiscard]] std::uint64_t rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const override;

 private:
  [[nodiscard]] const backend::array<std::uint64_t>& places() override { return of_.sizes; }
  void write(const source_rows& wanted, columns_type& to) override;
  void show(storage::gpu::kept_rows_view& view) override;

  parts of_;
  std::uint64_t rows_ = 0;
};

}  // namespace gpulog::exec
