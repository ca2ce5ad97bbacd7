#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/primitives.hpp"

/// The bulk operations of backend/primitives.hpp on a device, with the same functors and results as on a CPU. All
/// arrays are in device memory. Operations that return a number wait for the result; the rest only follow stream order.
namespace gpulog::backend::gpu {

namespace detail {

template <class Function>
__global__ void __launch_bounds__(for_each_threads)
    for_each_tile_kernel(std::uint64_t n, std::uint64_t tile, Function function) {
  if (threadIdx.x != 0) return;
  for (std::uint64_t begin = blockIdx.x * tile; begin < n; begin += gridDim.x * tile)
    function(blockIdx.x, begin, min(begin + tile, n));
}

/// Input of a scan: n values and a final zero.
template <class Transform>
struct with_end {
  Transform transform;
  std::uint64_t n;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return i == n ? 0 : transform(i); }
};
template <class To>
struct convert {
  const std::uint64_t* from;
  To* to;
  __device__ void operator()(std::uint64_t i) const { to[i] = static_cast<To>(from[i]); }
};
/// Computes the output position of an element as the number of smaller elements of both arrays; on ties, elements of
/// the first array come first.
template <class T, class Less>
struct merge_element {
  const T* a;
  std::uint64_t a_size;
  const T* b;
  std::uint64_t b_size;
  T* out;
  Less less;
  __device__ void operator()(std::uint64_t i) const {
    const bool is_first = i < a_size;
    const T value = is_first ? a[i] : b[i - a_size];
    const T* const other = is_first ? b : a;
    std::uint64_t low = 0;
    std::uint64_t high = is_first ? b_size : a_size;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      const bool is_in_front = is_first ? less(other[middle], value) : !less(value, other[middle]);
      if (is_in_front) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    out[low + (is_first ? i : i - a_size)] = value;
  }
};
template <class T, class Position>
struct gather_element {
  const T* in;
  const Position* positions;
  T* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = in[positions[i]]; }
};
template <class T>
struct fill_element {
  T* out;
  T value;
  __device__ void operator()(std::uint64_t i) const { out[i] = value; }
};

}  // namespace detail

class gpu_backend {
 public:
  /// Both arguments must outlive the backend.
  /// @param scratch device memory
  gpu_backend(const device_context& context, memory_resource& scratch) : context_(&context), scratch_(&scratch) {}

  [[nodiscard]] unsigned workers() const { return context_->multiprocessors(); }

  template <class Function>
  void for_each(std::uint64_t n, Function function) {
    gpu::for_each(context_->stream(), n, function);
  }

  template <class Function>
  void for_each_tile(std::uint64_t n, std::uint64_t tile, Function function) {
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>((n + tile - 1) / tile, workers()));
    launch(GPULOG_KERNEL(detail::for_each_tile_kernel<Function>), {blocks, for_each_threads, 0, context_->stream()}, n,
           tile, function);
  }

  template <class Transform>
  [[nodiscard]] std::uint64_t reduce(std::uint64_t n, Transform transform) {
    if (n == 0) return 0;
    array<std::uint64_t> sum(*scratch_, 1);
    with_scratch(*scratch_, [&](void* scratch, std::size_t& bytes) {
      sum_of(scratch, bytes, transform, sum.data(), n, context_->stream());
    });
    return context_->read_counter(sum.data());
  }

  template <class Transform, class Sum>
  std::uint64_t exclusive_scan(std::uint64_t n, Transform transform, Sum* sums) {
    array<std::uint64_t> found(*scratch_, n + 1, fresh_memory::anything);
    with_scratch(*scratch_, [&](void* scratch, std::size_t& bytes) {
      exclusive_sum_of(scratch, bytes, detail::with_end<Transform>{transform, n}, found.data(), n + 1,
                       context_->stream());
    });
    for_each(n + 1, detail::convert<Sum>{found.data(), sums});
    return context_->read_counter(found.data() + n);
  }

  [[nodiscard]] std::uint64_t* radix_sort(std::uint64_t* keys, std::uint64_t* other, std::uint64_t n,
                                          unsigned first_bit, unsigned last_bit) {
    if (n < 2 || first_bit == last_bit) return keys;
    double_buffer<std::uint64_t> buffers{keys, other};
    with_scratch(*scratch_, [&](void* scratch, std::size_t& bytes) {
      sort_keys(scratch, bytes, buffers, n, first_bit, last_bit, context_->stream());
    });
    return buffers.current;
  }

  template <class T, class Less>
  void merge(const T* a, std::uint64_t a_size, const T* b, std::uint64_t b_size, T* out, Less less) {
    for_each(a_size + b_size, detail::merge_element<T, Less>{a, a_size, b, b_size, out, less});
  }

  template <class Predicate, class Position>
  std::uint64_t select_if(std::uint64_t n, Predicate predicate, Position* selected) {
    if (n == 0) return 0;
    array<std::uint64_t> count(*scratch_, 1);
    with_scratch(*scratch_, [&](void* scratch, std::size_t& bytes) {
      gpu::select_if(scratch, bytes, selected, count.data(), n, predicate, context_->stream());
    });
    return context_->read_counter(count.data());
  }

  template <class T, class Position>
  void gather(const T* in, const Position* positions, std::uint64_t n, T* out) {
    for_each(n, detail::gather_element<T, Position>{in, positions, out});
  }
  template <class T>
  void fill(T* out, std::uint64_t n, T value) {
    for_each(n, detail::fill_element<T>{out, value});
  }
  template <class T>
  void copy(const T* in, std::uint64_t n, T* out) {
    copy_async(out, in, n * sizeof(T), direction::device_to_device, context_->stream());
  }
  void synchronize() { context_->synchronize(); }

 private:
  const device_context* context_;
  memory_resource* scratch_;
};

static_assert(execution_backend<gpu_backend>);

}  // namespace gpulog::backend::gpu
