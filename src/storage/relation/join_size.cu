// A separate source file: the device loads the code of a file when its first kernel starts, and often only this kernel
// is needed.

#include "storage/relation/join_size.hpp"

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/calibration.hpp"
#include "storage/indexes/join_sample.hpp"

namespace gpulog::storage::gpu {

namespace {

__global__ void count_keys_kernel(const word* values, join_sample sample, std::uint32_t* counts) {
  for (std::uint64_t i = backend::gpu::thread_number(); i < sample.size; i += backend::gpu::thread_count())
    atomicAdd(counts + values[sample.row(i)], 1U);
}
/// Sums the counts of the values.
__global__ void sum_counts_kernel(const word* values, join_sample sample, const std::uint32_t* counts,
                                  std::uint64_t keys, std::uint64_t* result) {
  unsigned long long sum = 0;
  for (std::uint64_t i = backend::gpu::thread_number(); i < sample.size; i += backend::gpu::thread_count()) {
    const word value = values[sample.row(i)];
    sum += value < keys ? counts[value] : 0;
  }
  for (unsigned offset = backend::gpu::wave_size / 2; offset != 0; offset /= 2)
    sum += backend::gpu::shuffle_xor(sum, offset);
  if (backend::gpu::lane() == 0 && sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(result), sum);
}

}  // namespace

double join_size(const backend::gpu::device_context& context, backend::memory_resource& resource,
                 const column_values& left, const column_values& right, std::uint64_t keys) {
  if (left.rows == 0 || right.rows == 0) return 0;
  const join_sample of_left(left.rows, calibration::sampled_join_rows);
  const join_sample of_right(right.rows, calibration::sampled_join_rows);
  backend::array<std::uint32_t> counts(resource, keys);
  backend::array<std::uint64_t> sum(resource, 1);
  backend::gpu::launch(GPULOG_KERNEL(count_keys_kernel),
                       {backend::gpu::blocks_for(of_right.size), backend::gpu::for_each_threads, 0, context.stream()},
                       right.values, of_right, counts.data());
  backend::gpu::launch(GPULOG_KERNEL(sum_counts_kernel),
                       {backend::gpu::blocks_for(of_left.size), backend::gpu::for_each_threads, 0, context.stream()},
                       left.values, of_left, counts.data(), keys, sum.data());
  return static_cast<double>(context.read_counter(sum.data())) * of_left.weight() * of_right.weight();
}

}  // namespace gpulog::storage::gpu
