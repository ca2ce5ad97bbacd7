#include "storage/relation/largest_values.hpp"

#include <algorithm>

#include "backend/array.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/wave.hpp"

namespace gpulog::storage::gpu {

namespace {

constexpr unsigned largest_threads = 256;

/// Columns of one launch.
struct column_list {
  static constexpr unsigned most = 8;
  column_values at[most];
  unsigned count = 0;
};

/// Blocks take columns in turn. Each wave offers one value, to limit contention on the result.
__global__ void largest_kernel(const GPULOG_GRID_CONSTANT column_list columns, word* results) {
  const column_values& column = columns.at[blockIdx.x % columns.count];
  const std::uint64_t blocks = gridDim.x / columns.count;
  word largest = 0;
  for (std::uint64_t i = blockIdx.x / columns.count * std::uint64_t{blockDim.x} + threadIdx.x; i < column.rows;
       i += blocks * blockDim.x)
    largest = max(largest, column.values[i]);
  largest = backend::gpu::greatest_of_lanes(largest);
  if (backend::gpu::lane() == 0 && largest != 0) atomicMax(results + blockIdx.x % columns.count, largest);
}

}  // namespace

std::vector<word> largest_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                 const std::vector<column_values>& columns) {
  std::vector<word> largest(columns.size(), 0);
  backend::array<word> results(resource, columns.size());
  for (std::size_t begin = 0; begin < columns.size(); begin += column_list::most) {
    column_list launched;
    std::uint64_t rows = 0;
    for (std::size_t c = begin; c < std::min<std::size_t>(columns.size(), begin + column_list::most); ++c) {
      launched.at[launched.count++] = columns[c];
      rows = std::max(rows, columns[c].rows);
    }
    if (rows == 0) continue;
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>(rows / largest_threads / 8, 1,
                                  context.full_blocks(largest_threads) * backend::gpu::launch_factors::reductions));
    backend::gpu::launch(GPULOG_KERNEL(largest_kernel), {blocks * launched.count, largest_threads, 0, context.stream()},
                         launched, results.data() + begin);
  }
  context.read(results.data(), largest.data(), largest.size() * sizeof(word));
  return largest;
}

}  // namespace gpulog::storage::gpu
