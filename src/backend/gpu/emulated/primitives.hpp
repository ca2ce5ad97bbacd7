#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/emulated/launch.hpp"

/// The primitives over functors, as host loops. Included by backend/gpu/primitives_by_functor.hpp.
namespace gpulog::backend::gpu::emulated {

/// A separate namespace, so that argument-dependent lookup by stream does not find these functions.
namespace host_primitives {

/// The size that a primitive returns when called without scratch memory.
constexpr std::size_t scratch_bytes = 1;

template <class Number, class Predicate>
void select_if(void* scratch, std::size_t& bytes, Number* out, std::uint64_t* count, std::uint64_t n,
               const Predicate& predicate, stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  enqueue("select_if", stream, [out, count, n, predicate] {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (predicate(static_cast<Number>(i))) out[found++] = static_cast<Number>(i);
    }
    *count = found;
  });
}

template <class Function>
void exclusive_sum_of(void* scratch, std::size_t& bytes, const Function& function, std::uint64_t* out, std::uint64_t n,
                      stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  enqueue("exclusive_sum_of", stream, [function, out, n] {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto value = static_cast<std::uint64_t>(function(i));
      out[i] = sum;
      sum += value;
    }
  });
}

template <class Function>
void sum_of(void* scratch, std::size_t& bytes, const Function& function, std::uint64_t* out, std::uint64_t n,
            stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  enqueue("sum_of", stream, [function, out, n] {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(function(i));
    *out = sum;
  });
}

}  // namespace host_primitives
using namespace host_primitives;

}  // namespace gpulog::backend::gpu::emulated
