#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "backend/gpu/wave.hpp"

/// Implements backend/gpu/block_primitives.hpp. One thread does the work, and the remaining threads read the result
/// without a final barrier: a caller that reuses the storage too early reads wrong values, as on a device.
namespace gpulog::backend::gpu {

template <class T, unsigned Threads>
struct block_scan {
  struct storage {
    T values[Threads];
    T total;
  };

  __device__ static void exclusive_sum(T value, T& before, T& total, storage& memory) {
    T values[1] = {value};
    T sums[1];
    exclusive_sum(values, sums, total, memory);
    before = sums[0];
  }

  template <unsigned Items>
  __device__ static void exclusive_sum(T (&values)[Items], T (&before)[Items], T& total, storage& memory) {
    T own = 0;
    for (const T value : values) own += value;
    memory.values[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
      T sum = 0;
      for (T& one : memory.values) sum += std::exchange(one, sum);
      memory.total = sum;
    }
    __syncthreads();
    T sum = memory.values[threadIdx.x];
    for (unsigned i = 0; i < Items; ++i) {
      const T value = values[i];
      before[i] = sum;
      sum += value;
    }
    total = memory.total;
  }
};

template <class T, unsigned Threads>
struct block_union {
  struct storage {
    T values[Threads];
  };

  __device__ static T of(T bits, storage& memory) {
    memory.values[threadIdx.x] = bits;
    __syncthreads();
    if (threadIdx.x != 0) return bits;  // only thread 0 receives the union
    T all = 0;
    for (const T one : memory.values) all |= one;
    return all;
  }
};

template <class Key, unsigned Threads, unsigned Items, class Value>
struct block_sort {
  static constexpr std::size_t count = std::size_t{Threads} * Items;
  struct storage {
    Key keys[count];
    Value values[count];
  };

  __device__ static void sort(Key (&keys)[Items], Value (&values)[Items], unsigned first_bit, unsigned last_bit,
                              storage& memory) {
    const std::size_t first = std::size_t{threadIdx.x} * Items;
    for (unsigned i = 0; i < Items; ++i) {
      memory.keys[first + i] = keys[i];
      memory.values[first + i] = values[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) sort(memory, first_bit, last_bit);
    __syncthreads();
    for (unsigned i = 0; i < Items; ++i) {
      keys[i] = memory.keys[first + i];
      values[i] = memory.values[first + i];
    }
  }

 private:
  static void sort(storage& memory, unsigned first_bit, unsigned last_bit) {
    constexpr unsigned all_bits = std::numeric_limits<Key>::digits;
    // The shifts drop the bits above last_bit and below first_bit.
    const unsigned left_out = all_bits - std::min(all_bits, last_bit);
    if (left_out + first_bit >= all_bits) return;
    const auto digits = [&](Key key) {
      return static_cast<Key>(static_cast<Key>(key << left_out) >> (left_out + first_bit));
    };
    // On the heap, because fiber stacks are small.
    const auto pairs = std::make_unique<std::array<std::pair<Key, Value>, count>>();
    for (std::size_t i = 0; i < count; ++i) (*pairs)[i] = {memory.keys[i], memory.values[i]};
    std::stable_sort(pairs->begin(), pairs->end(),
                     [&](const auto& a, const auto& b) { return digits(a.first) < digits(b.first); });
    for (std::size_t i = 0; i < count; ++i) std::tie(memory.keys[i], memory.values[i]) = (*pairs)[i];
  }
};

}  // namespace gpulog::backend::gpu
