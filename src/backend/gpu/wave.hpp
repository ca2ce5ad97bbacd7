#pragma once

#include <cstdint>

#include "backend/gpu/launch.hpp"

/// The threads of a block that run in lockstep: a warp of 32 lanes or a wavefront of 64. A function documented with
/// "all lanes" is a collective operation: all lanes of the wave must call it at the same place.
namespace gpulog::backend::gpu {

/// The number of the calling thread in its wave, and of its wave in the block.
[[nodiscard]] __device__ inline unsigned lane() { return threadIdx.x % wave_size; }
[[nodiscard]] __device__ inline unsigned wave() { return threadIdx.x / wave_size; }

[[nodiscard]] __device__ inline lane_mask mask_of(unsigned lane) { return lane_mask{1} << lane; }
/// Returns the mask of the lanes with lower numbers.
[[nodiscard]] __device__ inline lane_mask lanes_below() { return mask_of(lane()) - 1; }

// Operations on the bits of 32-bit and 64-bit words.
[[nodiscard]] __device__ inline unsigned count_bits(std::uint32_t bits) { return static_cast<unsigned>(__popc(bits)); }
[[nodiscard]] __device__ inline unsigned count_bits(std::uint64_t bits) {
  return static_cast<unsigned>(__popcll(bits));
}
/// Returns the number of the lowest set bit. At least one bit must be set.
[[nodiscard]] __device__ inline unsigned lowest_bit(std::uint32_t bits) {
  return static_cast<unsigned>(__ffs(static_cast<int>(bits)) - 1);
}
[[nodiscard]] __device__ inline unsigned lowest_bit(std::uint64_t bits) {
  return static_cast<unsigned>(__ffsll(static_cast<long long>(bits)) - 1);
}
/// Returns the number of bits needed to represent a value; 0 for 0.
[[nodiscard]] __device__ inline unsigned bit_width_of(std::uint32_t value) {
  return 32U - static_cast<unsigned>(__clz(static_cast<int>(value)));
}

/// Returns how many of `lanes` have lower numbers than the calling lane.
[[nodiscard]] __device__ inline unsigned rank_in(lane_mask lanes) { return count_bits(lanes & lanes_below()); }

/// Words that a thread loads or stores with one instruction.
struct alignas(16) four_words {
  std::uint32_t at[4];
};

#if !defined(GPULOG_GPU_EMULATED)

#if defined(GPULOG_GPU_CUDA)
constexpr lane_mask every_lane = 0xffffffffU;
#endif

/// All lanes: memory written by any lane before the barrier is visible to all lanes after it.
__device__ inline void wave_barrier() {
#if defined(GPULOG_GPU_CUDA)
  __syncwarp();
#else
  // The barrier alone does not order memory accesses.
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}

/// All lanes: returns the mask of the lanes that pass true.
[[nodiscard]] __device__ inline lane_mask ballot(bool holds) {
#if defined(GPULOG_GPU_CUDA)
  return __ballot_sync(every_lane, holds);
#else
  return static_cast<lane_mask>(__ballot(holds));
#endif
}
/// All lanes: returns whether any lane passes true, or whether all lanes do.
[[nodiscard]] __device__ inline bool any_lane(bool holds) {
#if defined(GPULOG_GPU_CUDA)
  return __any_sync(every_lane, holds) != 0;
#else
  return __any(holds) != 0;
#endif
}
[[nodiscard]] __device__ inline bool all_lanes(bool holds) {
#if defined(GPULOG_GPU_CUDA)
  return __all_sync(every_lane, holds) != 0;
#else
  return __all(holds) != 0;
#endif
}

/// All lanes: returns the value of lane `from`.
template <class T>
[[nodiscard]] __device__ T shuffle(T value, unsigned from) {
#if defined(GPULOG_GPU_CUDA)
  return __shfl_sync(every_lane, value, static_cast<int>(from));
#else
  return __shfl(value, static_cast<int>(from), static_cast<int>(wave_size));
#endif
}
/// All lanes: returns the value of the lane `distance` below; the calling lane's value if no lane is that far below.
template <class T>
[[nodiscard]] __device__ T shuffle_up(T value, unsigned distance) {
#if defined(GPULOG_GPU_CUDA)
  return __shfl_up_sync(every_lane, value, distance);
#else
  return __shfl_up(value, distance, static_cast<int>(wave_size));
#endif
}
/// All lanes: returns the value of the lane whose number differs in `bits`.
template <class T>
[[nodiscard]] __device__ T shuffle_xor(T value, unsigned bits) {
#if defined(GPULOG_GPU_CUDA)
  return __shfl_xor_sync(every_lane, value, static_cast<int>(bits));
#else
  return __shfl_xor(value, static_cast<int>(bits), static_cast<int>(wave_size));
#endif
}

/// All lanes: returns the mask of the lanes with the same value.
[[nodiscard]] __device__ inline lane_mask lanes_with(unsigned long long value) {
#if defined(GPULOG_GPU_CUDA)
  return __match_any_sync(every_lane, value);
#else
  lane_mask same = 0;
  for (lane_mask left = ballot(true); left != 0;) {
    const unsigned long long first = shuffle(value, lowest_bit(left));
    const lane_mask found = ballot(value == first);
    if (value == first) same = found;
    left &= ~found;
  }
  return same;
#endif
}

/// Adds 1 to a counter for each thread that executes the call together; threads in lockstep share one atomic.
/// @return the counter before the calling thread's increment
[[nodiscard]] __device__ inline std::uint64_t count_up(std::uint64_t* counter) {
#if defined(GPULOG_GPU_CUDA)
  const lane_mask together = __activemask();
#else
  const lane_mask together = static_cast<lane_mask>(__ballot(1));
#endif
  const unsigned leader = lowest_bit(together);
  unsigned long long base = 0;
  if (lane() == leader)
    base = atomicAdd(reinterpret_cast<unsigned long long*>(counter),
                     static_cast<unsigned long long>(count_bits(together)));
#if defined(GPULOG_GPU_CUDA)
  base = __shfl_sync(together, base, static_cast<int>(leader));
#else
  base = __shfl(base, static_cast<int>(leader), static_cast<int>(wave_size));
#endif
  return base + rank_in(together);
}

/// Loads a value that a different multiprocessor may have written meanwhile, bypassing the first-level cache.
template <class T>
[[nodiscard]] __device__ T load_past_first_cache(const T* from) {
#if defined(GPULOG_GPU_CUDA)
  return __ldcg(from);
#else
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}

/// The first two words are loaded together, and the last two.
[[nodiscard]] __device__ inline four_words load_past_first_cache(const four_words* from) {
#if defined(GPULOG_GPU_CUDA)
  const uint4 loaded = __ldcg(reinterpret_cast<const uint4*>(from));
  return {{loaded.x, loaded.y, loaded.z, loaded.w}};
#else
  const auto* const halves = reinterpret_cast<const unsigned long long*>(from);
  const unsigned long long lower = load_past_first_cache(halves);
  const unsigned long long upper = load_past_first_cache(halves + 1);
  return {{static_cast<std::uint32_t>(lower), static_cast<std::uint32_t>(lower >> 32),
           static_cast<std::uint32_t>(upper), static_cast<std::uint32_t>(upper >> 32)}};
#endif
}

/// Stores a value that is not read soon, without displacing cache lines.
template <class T>
__device__ void store_past_caches(T* to, T value) {
#if defined(GPULOG_GPU_CUDA)
  __stcs(to, value);
#else
  __builtin_nontemporal_store(value, to);
#endif
}

__device__ inline void store_past_caches(four_words* to, const four_words& values) {
#if defined(GPULOG_GPU_CUDA)
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(values.at[0], values.at[1], values.at[2], values.at[3]));
#else
  for (unsigned k = 0; k < 4; ++k) __builtin_nontemporal_store(values.at[k], to->at + k);
#endif
}

/// Returns the time of a device-wide clock.
[[nodiscard]] __device__ inline unsigned long long nanoseconds() {
#if defined(GPULOG_GPU_CUDA)
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return __builtin_amdgcn_s_memrealtime() * 10;  // a 100 MHz clock
#endif
}

/// Yields inside a loop that waits for a different block.
__device__ inline void pause() {
#if defined(GPULOG_GPU_HIP)
  __builtin_amdgcn_s_sleep(1);  // lets the processor run the remaining waves
#endif
}

#else
}  // namespace gpulog::backend::gpu
#include "backend/gpu/emulated/wave.hpp"
namespace gpulog::backend::gpu {
#endif

namespace detail {
template <class T, class Operation>
[[nodiscard]] __device__ T reduce_by_shuffles(T value, const Operation& operation) {
#pragma unroll
  for (unsigned bits = wave_size / 2; bits != 0; bits /= 2) value = operation(value, shuffle_xor(value, bits));
  return value;
}
}  // namespace detail

// All lanes: reductions; every lane receives the result.
[[nodiscard]] __device__ inline std::uint32_t sum_of_lanes(std::uint32_t value) {
#if defined(GPULOG_GPU_CUDA)
  return __reduce_add_sync(every_lane, value);
#else
  return detail::reduce_by_shuffles(value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
}
[[nodiscard]] __device__ inline std::uint32_t least_of_lanes(std::uint32_t value) {
#if defined(GPULOG_GPU_CUDA)
  return __reduce_min_sync(every_lane, value);
#else
  return detail::reduce_by_shuffles(value, [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
#endif
}
[[nodiscard]] __device__ inline std::uint32_t greatest_of_lanes(std::uint32_t value) {
#if defined(GPULOG_GPU_CUDA)
  return __reduce_max_sync(every_lane, value);
#else
  return detail::reduce_by_shuffles(value, [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
#endif
}
// 64-bit versions: no device has an instruction for these.
[[nodiscard]] __device__ inline std::uint64_t sum_of_lanes(std::uint64_t value) {
  return detail::reduce_by_shuffles(value, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}
[[nodiscard]] __device__ inline std::uint64_t least_of_lanes(std::uint64_t value) {
  return detail::reduce_by_shuffles(value, [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; });
}
[[nodiscard]] __device__ inline std::uint64_t greatest_of_lanes(std::uint64_t value) {
  return detail::reduce_by_shuffles(value, [](std::uint64_t a, std::uint64_t b) { return a < b ? b : a; });
}
[[nodiscard]] __device__ inline std::uint32_t union_of_lanes(std::uint32_t bits) {
#if defined(GPULOG_GPU_CUDA)
  return __reduce_or_sync(every_lane, bits);
#else
  return detail::reduce_by_shuffles(bits, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}
/// All lanes: returns the inclusive prefix sum of the values.
template <class T>
[[nodiscard]] __device__ T inclusive_sum_of_lanes(T value) {
#pragma unroll
  for (unsigned distance = 1; distance < wave_size; distance *= 2) {
    const T lower = shuffle_up(value, distance);
    if (lane() >= distance) value += lower;
  }
  return value;
}

}  // namespace gpulog::backend::gpu
