#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/gpu/emulated/records.hpp"

/// The kernel language of the vendors (with the vendors' names) for a host compiler.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses)

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::gpulog::backend::gpu::emulated::current->index)
#define blockIdx (::gpulog::backend::gpu::emulated::current->block->index)
#define blockDim (::gpulog::backend::gpu::emulated::current->block->size)
#define gridDim (::gpulog::backend::gpu::emulated::current->block->grid)

/// Declares a variable shared by the block: one per declaration and template instance.
#define GPULOG_SHARED(type, name)                                                          \
  static constinit ::gpulog::backend::gpu::emulated::shared_variable gpulog_shared_##name( \
      #name, sizeof(::std::type_identity_t<type>));                                        \
  ::std::type_identity_t<type>& name = *reinterpret_cast<::std::type_identity_t<type>*>(   \
      ::gpulog::backend::gpu::emulated::current->block->shared.place_of(gpulog_shared_##name))

/// Declares the block's dynamic shared memory, whose size is set by the launch, as an array.
#define GPULOG_DYNAMIC_SHARED(type, name) \
  type* const name = reinterpret_cast<type*>(::gpulog::backend::gpu::emulated::current->block->shared.dynamic_place())

// --- meeting points

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  namespace emulated = gpulog::backend::gpu::emulated;
  emulated::meet_block({file, line, emulated::operation::syncthreads});
}

/// Returns whether any thread of the block passes a nonzero value.
inline int __syncthreads_or(int holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  namespace emulated = gpulog::backend::gpu::emulated;
  emulated::block_record& block = *emulated::current->block;
  int& votes = block.votes[block.turn];
  if (holds != 0) votes = 1;
  emulated::meet_block({file, line, emulated::operation::syncthreads_or});
  return votes;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// --- atomics

namespace gpulog::backend::gpu::emulated {
template <class T>
concept counted_word = std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long> ||
    std::is_same_v<T, unsigned long long>;
template <class T>
concept swapped_word = counted_word<T> || std::is_same_v<T, float>;

/// Atomically replaces *place by function(*place).
/// @return the previous value
template <class T, class Function>
T replace(T* place, const Function& function) {
  T known;
  __atomic_load(place, &known, __ATOMIC_SEQ_CST);
  for (;;) {
    T made = function(known);
    if (__atomic_compare_exchange(place, &known, &made, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return known;
  }
}
}  // namespace gpulog::backend::gpu::emulated

template <gpulog::backend::gpu::emulated::counted_word T>
T atomicAdd(T* place, std::type_identity_t<T> value) {
  return __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
}
template <class T>
requires std::is_floating_point_v<T> T atomicAdd(T* place, std::type_identity_t<T> value) {
  return gpulog::backend::gpu::emulated::replace(place, [&](T known) { return known + value; });
}
template <gpulog::backend::gpu::emulated::counted_word T>
requires(sizeof(T) == sizeof(int)) T atomicSub(T* place, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(place, value, __ATOMIC_SEQ_CST);
}
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicOr(T* place, std::type_identity_t<T> value) {
  return __atomic_fetch_or(place, value, __ATOMIC_SEQ_CST);
}
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicAnd(T* place, std::type_identity_t<T> value) {
  return __atomic_fetch_and(place, value, __ATOMIC_SEQ_CST);
}
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicXor(T* place, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(place, value, __ATOMIC_SEQ_CST);
}
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicMin(T* place, std::type_identity_t<T> value) {
  return gpulog::backend::gpu::emulated::replace(place, [&](T known) { return value < known ? value : known; });
}
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicMax(T* place, std::type_identity_t<T> value) {
  return gpulog::backend::gpu::emulated::replace(place, [&](T known) { return known < value ? value : known; });
}
template <gpulog::backend::gpu::emulated::swapped_word T>
T atomicExch(T* place, std::type_identity_t<T> value) {
  T known;
  __atomic_exchange(place, &value, &known, __ATOMIC_SEQ_CST);
  return known;
}
/// @return the previous value, which equals `expected` if the swap succeeded
template <gpulog::backend::gpu::emulated::counted_word T>
T atomicCAS(T* place, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

// --- bits and numbers

[[nodiscard]] constexpr int __popc(unsigned bits) { return __builtin_popcount(bits); }
[[nodiscard]] constexpr int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
/// 1-based; 0 if no bit is set.
[[nodiscard]] constexpr int __ffs(int bits) { return __builtin_ffs(bits); }
[[nodiscard]] constexpr int __ffsll(long long bits) { return __builtin_ffsll(bits); }
[[nodiscard]] constexpr int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
[[nodiscard]] constexpr int __clzll(long long bits) {
  return bits == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(bits));
}

namespace gpulog::backend::gpu::emulated {
template <class A, class B>
using common_number = std::common_type_t<decltype(+A()), decltype(+B())>;
}

template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
[[nodiscard]] constexpr gpulog::backend::gpu::emulated::common_number<A, B> min(A a, B b) {
  using number = gpulog::backend::gpu::emulated::common_number<A, B>;
  return static_cast<number>(b) < static_cast<number>(a) ? static_cast<number>(b) : static_cast<number>(a);
}
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
[[nodiscard]] constexpr gpulog::backend::gpu::emulated::common_number<A, B> max(A a, B b) {
  using number = gpulog::backend::gpu::emulated::common_number<A, B>;
  return static_cast<number>(a) < static_cast<number>(b) ? static_cast<number>(b) : static_cast<number>(a);
}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,bugprone-macro-parentheses)
