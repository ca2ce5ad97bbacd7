// In a source of its own: the device loads the code of a source when its first kernel starts, and this one is often the
// only one that is needed.

#include "storage/cuda/join_size.hpp"

#include "storage/cuda/for_each.cuh"
#include "storage/join_sample.hpp"

namespace gpulog::storage::cuda {

namespace {

__global__ void count_keys_kernel(const word* values, join_sample sample, std::uint32_t* counts) {
  for (std::uint64_t i = thread_number(); i < sample.size; i += thread_count())
    atomicAdd(counts + values[sample.row(i)], 1U);
}
/// The sum of the values' counts.
__global__ void sum_counts_kernel(const word* values, join_sample sample, const std::uint32_t* counts,
                                  std::uint64_t keys, std::uint64_t* result) {
  unsigned long long sum = 0;
  for (std::uint64_t i = thread_number(); i < sample.size; i += thread_count()) {
    const word value = values[sample.row(i)];
    sum += value < keys ? counts[value] : 0;
  }
  for (unsigned offset = 16; offset != 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(result), sum);
}

}  // namespace

double join_size(const backend::cuda::device_context& context, backend::memory_resource& resource,
                 const column_values& left, const column_values& right, std::uint64_t keys) {
  if (left.rows == 0 || right.rows == 0) return 0;
  constexpr std::uint64_t sampled_rows = 1u << 20;
  const join_sample of_left(left.rows, sampled_rows);
  const join_sample of_right(right.rows, sampled_rows);
  array<std::uint32_t> counts(resource, keys);
  array<std::uint64_t> sum(resource, 1);
  count_keys_kernel<<<blocks_for(of_right.size), for_each_threads, 0, context.stream()>>>(right.values, of_right,
                                                                                          counts.data());
  sum_counts_kernel<<<blocks_for(of_left.size), for_each_threads, 0, context.stream()>>>(
      left.values, of_left, counts.data(), keys, sum.data());
  GPULOG_CUDA_TRY(cudaGetLastError());
  return static_cast<double>(context.read_counter(sum.data())) * of_left.weight() * of_right.weight();
}

}  // namespace gpulog::storage::cuda
