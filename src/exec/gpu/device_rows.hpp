#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backend/gpu/staging_ring.hpp"
#include "exec/calibration.hpp"
#include "exec/executor.hpp"

namespace gpulog::exec {

/// Streams the rows of a relation from device memory: copies ahead of the reader.
class device_rows final : public row_stream {
 public:
  device_rows(backend::gpu::staging_ring& ring, std::vector<const word*> columns, std::uint64_t rows)
      : download_(ring, std::move(columns), rows) {}
  void read(std::uint64_t first, std::uint64_t n, word* const* columns) override { download_.read(first, n, columns); }

 private:
  backend::gpu::column_download download_;
};

/// Returns nullptr for few rows, where one copy takes negligible time.
template <class Relation>
[[nodiscard]] std::unique_ptr<row_stream> stream_device_rows(const backend::gpu::device_context& context,
                                                             const Relation& source) {
  if (source.rows() < calibration::least_streamed_rows || source.arity() == 0) return nullptr;
  std::vector<const word*> columns;
  for (std::uint32_t c = 0; c < source.arity(); ++c) columns.push_back(source.column(c));
  return std::make_unique<device_rows>(context.staging(), std::move(columns), source.rows());
}

template <class Relation>
[[nodiscard]] columns_on_device device_columns_of(const backend::gpu::device_context& context, const Relation& source) {
  context.synchronize();
  columns_on_device found{{}, context.stream()};
  for (std::uint32_t c = 0; c < source.arity(); ++c) found.columns.push_back(source.column(c));
  return found;
}

}  // namespace gpulog::exec
