#include "storage/cuda/small_runs.hpp"

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "backend/cuda/error.hpp"

namespace gpulog::storage::cuda {

namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t items = small_run::most_rows / threads;

using sort = cub::BlockRadixSort<word, threads, items, std::uint16_t>;
using scan = cub::BlockScan<std::uint32_t, threads>;
using reduce = cub::BlockReduce<word, threads>;

struct bit_or {
  __device__ word operator()(word a, word b) const { return a | b; }
};

union block_scratch {
  sort::TempStorage sort;
  scan::TempStorage scan;
  reduce::TempStorage reduce;
};

/// Row numbers in the order of the columns: Algorithm 1, a stable sort from the last column to the first.
__device__ void sort_rows(const small_run& run, std::uint16_t* sorted, block_scratch& scratch) {
  __shared__ word used_bits;
  std::uint16_t rows[items];
  word keys[items];
  for (std::uint32_t k = 0; k < items; ++k) rows[k] = static_cast<std::uint16_t>(threadIdx.x * items + k);
  for (std::uint32_t c = run.sorted_columns; c-- > 0;) {
    word used = 0;
    for (std::uint32_t k = 0; k < items; ++k) {
      // Behind the last row: the largest key, which stays behind as the sort is stable.
      keys[k] = rows[k] < run.rows ? run.order[c][rows[k]] : UINT32_MAX;
      if (rows[k] < run.rows) used |= keys[k];
    }
    const word all = reduce(scratch.reduce).Reduce(used, bit_or());
    if (threadIdx.x == 0) used_bits = all;
    __syncthreads();
    // One bit more than is used, which is set behind the last row.
    const int bits = min(32, 33 - __clz(static_cast<int>(used_bits)));
    sort(scratch.sort).Sort(keys, rows, 0, bits);
    __syncthreads();
  }
  for (std::uint32_t k = 0; k < items; ++k) sorted[threadIdx.x * items + k] = rows[k];
  __syncthreads();
}

__device__ void build_level(const small_run& run, const small_run::level& level, const std::uint16_t* sorted,
                            block_scratch& scratch) {
  for (std::uint64_t slot = threadIdx.x; slot < level.table_size; slot += threads) level.table[slot] = {0, 0};
  std::uint32_t starts[items];
  for (std::uint32_t k = 0; k < items; ++k) {
    const std::uint32_t i = threadIdx.x * items + k;
    bool is_start = i == 0 && run.rows != 0;
    for (std::uint32_t c = 0; c < level.length && i != 0 && i < run.rows; ++c) {
      is_start = is_start || run.order[c][sorted[i]] != run.order[c][sorted[i - 1]];
    }
    starts[k] = is_start ? 1 : 0;
  }
  std::uint32_t groups[items];
  std::uint32_t count = 0;
  scan(scratch.scan).ExclusiveSum(starts, groups, count);
  for (std::uint32_t k = 0; k < items; ++k) {
    if (starts[k] == 0) continue;
    const std::uint32_t i = threadIdx.x * items + k;
    level.first[groups[k]] = i;
    for (std::uint32_t c = 0; c < level.length; ++c) level.keys[c * run.rows + groups[k]] = run.order[c][sorted[i]];
  }
  if (threadIdx.x == 0) {
    level.first[count] = run.rows;
    *level.count = count;
  }
  __syncthreads();
  level_view view;
  view.length = level.length;
  for (std::uint32_t g = threadIdx.x; g < count; g += threads) {
    const std::uint64_t code = view.code([&](std::uint32_t c) { return level.keys[c * run.rows + g]; });
    const std::uint32_t first = level.first[g];
    const std::uint64_t range = level.length <= 2 ? pack(level.first[g + 1] - first, first) : pack(1, g);
    std::uint64_t at = scale(mix(code), level.table_size);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(&level.table[at].range), 0ULL, range) != 0) {
      at = at + 1 == level.table_size ? 0 : at + 1;
    }
    level.table[at].code = code;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(threads) build_kernel(const small_run* runs) {
  __shared__ block_scratch scratch;
  __shared__ std::uint16_t sorted[small_run::most_rows];
  __shared__ small_run run;
  static_assert(sizeof(small_run) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(small_run) / sizeof(std::uint32_t); i += threads) {
    reinterpret_cast<std::uint32_t*>(&run)[i] = reinterpret_cast<const std::uint32_t*>(runs + blockIdx.x)[i];
  }
  __syncthreads();
  sort_rows(run, sorted, scratch);
  for (std::uint32_t l = 0; l < run.level_count; ++l) build_level(run, run.levels[l], sorted, scratch);
  for (std::uint32_t s = 0; s < run.stored_columns; ++s) {
    for (std::uint32_t i = threadIdx.x; i < run.rows; i += threads) {
      run.stored[s * run.rows + i] = run.copied[s][sorted[i]];
    }
  }
}

}  // namespace

small_run_builder::small_run_builder(const backend::cuda::device_context& context) : context_(&context) {
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&staged_), capacity * sizeof *staged_));
}

small_run_builder::~small_run_builder() {
  if (staged_ != nullptr) cudaFreeHost(staged_);
}

void small_run_builder::add(const small_run& made) {
  if (begin_ + count_ == capacity) {
    flush();
    context_->synchronize();  // kernels under way read what is staged
    begin_ = 0;
  }
  staged_[begin_ + count_] = made;
  ++count_;
}

void small_run_builder::flush() {
  if (count_ == 0) return;
  build_kernel<<<static_cast<unsigned>(count_), threads, 0, context_->stream()>>>(staged_ + begin_);
  GPULOG_CUDA_TRY(cudaGetLastError());
  begin_ += count_;
  count_ = 0;
  ++collection_;
}

}  // namespace gpulog::storage::cuda
