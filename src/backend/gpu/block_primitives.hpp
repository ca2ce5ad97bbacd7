#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"

/// Collective operations of a thread block. All threads of the block call each function; the storage may be reused
/// after the next barrier.
#if defined(GPULOG_GPU_CUDA)
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#elif defined(GPULOG_GPU_HIP)
#include <iostream>
#include <rocprim/functional.hpp>  // in front of what uses it and does not include it, as with the line above

#include <rocprim/block/block_radix_sort.hpp>
#include <rocprim/block/block_reduce.hpp>
#include <rocprim/block/block_scan.hpp>
#endif

namespace gpulog::backend::gpu {

#if defined(GPULOG_GPU_EMULATED)
}  // namespace gpulog::backend::gpu
#include "backend/gpu/emulated/block_primitives.hpp"
namespace gpulog::backend::gpu {
#else

/// Exclusive prefix sums over the threads of a block.
template <class T, unsigned Threads>
struct block_scan {
#if defined(GPULOG_GPU_CUDA)
  using storage = typename cub::BlockScan<T, Threads>::TempStorage;
#else
  using storage = typename rocprim::block_scan<T, Threads>::storage_type;
#endif
  /// @param total receives the sum of all values
  __device__ static void exclusive_sum(T value, T& before, T& total, storage& memory) {
#if defined(GPULOG_GPU_CUDA)
    cub::BlockScan<T, Threads>(memory).ExclusiveSum(value, before, total);
#else
    rocprim::block_scan<T, Threads>().exclusive_scan(value, before, T{0}, total, memory);
#endif
  }
  /// The same for several consecutive values per thread.
  template <unsigned Items>
  __device__ static void exclusive_sum(T (&values)[Items], T (&before)[Items], T& total, storage& memory) {
#if defined(GPULOG_GPU_CUDA)
    cub::BlockScan<T, Threads>(memory).ExclusiveSum(values, before, total);
#else
    rocprim::block_scan<T, Threads>().exclusive_scan(values, before, T{0}, total, memory);
#endif
  }
};

/// Bitwise OR over the threads of a block; only thread 0 receives the result.
template <class T, unsigned Threads>
struct block_union {
#if defined(GPULOG_GPU_CUDA)
  using storage = typename cub::BlockReduce<T, Threads>::TempStorage;
#else
  using storage = typename rocprim::block_reduce<T, Threads>::storage_type;
#endif
  struct of_both {
    __device__ T operator()(T a, T b) const { return a | b; }
  };
  __device__ static T of(T bits, storage& memory) {
#if defined(GPULOG_GPU_CUDA)
    return cub::BlockReduce<T, Threads>(memory).Reduce(bits, of_both());
#else
    T all = 0;
    rocprim::block_reduce<T, Threads>().reduce(bits, all, memory, of_both());
    return all;
#endif
  }
};

/// Stable sort of pairs by bits [first_bit, last_bit) of the keys; each thread holds consecutive pairs.
template <class Key, unsigned Threads, unsigned Items, class Value>
struct block_sort {
#if defined(GPULOG_GPU_CUDA)
  using storage = typename cub::BlockRadixSort<Key, Threads, Items, Value>::TempStorage;
#else
  using storage = typename rocprim::block_radix_sort<Key, Threads, Items, Value>::storage_type;
#endif
  __device__ static void sort(Key (&keys)[Items], Value (&values)[Items], unsigned first_bit, unsigned last_bit,
                              storage& memory) {
#if defined(GPULOG_GPU_CUDA)
    cub::BlockRadixSort<Key, Threads, Items, Value>(memory).Sort(keys, values, static_cast<int>(first_bit),
                                                                 static_cast<int>(last_bit));
#else
    rocprim::block_radix_sort<Key, Threads, Items, Value>().sort(keys, values, memory, first_bit, last_bit);
#endif
  }
};
#endif

/// Copies an object to shared memory, where all threads of the block can read it afterwards.
template <class T>
__device__ void copy_by_block(const T* from, T& to) {
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(T) / sizeof(std::uint32_t); i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  }
  __syncthreads();
}

}  // namespace gpulog::backend::gpu
