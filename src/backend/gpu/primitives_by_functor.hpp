#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/primitives.hpp"
#if !defined(GPULOG_GPU_EMULATED)
#include "backend/gpu/vendor_status.hpp"
#endif

#if defined(GPULOG_GPU_CUDA)
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#elif defined(GPULOG_GPU_HIP)
#include <iostream>
#include <rocprim/functional.hpp>  // in front of what uses it and does not include it, as with the line above

#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_scan.hpp>
#include <rocprim/device/device_select.hpp>
#include <rocprim/iterator/counting_iterator.hpp>
#include <rocprim/iterator/transform_iterator.hpp>
#elif defined(GPULOG_GPU_EMULATED)
#include "backend/gpu/emulated/primitives.hpp"
#endif

/// The primitives over functors, which the device calls with the numbers 0, 1, 2, ...
namespace gpulog::backend::gpu {

/// Selects the numbers below n that satisfy the predicate, ascending.
template <class Number, class Predicate>
void select_if(void* scratch, std::size_t& bytes, Number* out, std::uint64_t* count, std::uint64_t n,
               const Predicate& predicate, stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  detail::check(cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<Number>(0), out, count,
                                      static_cast<std::int64_t>(n), predicate, stream));
#elif defined(GPULOG_GPU_HIP)
  detail::check(
      rocprim::select(scratch, bytes, rocprim::counting_iterator<Number>(0), out, count, n, predicate, stream));
#else
  emulated::select_if(scratch, bytes, out, count, n, predicate, stream);
#endif
}

/// Computes exclusive prefix sums of function(0), function(1), ...
template <class Function>
void exclusive_sum_of(void* scratch, std::size_t& bytes, const Function& function, std::uint64_t* out, std::uint64_t n,
                      stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  const thrust::counting_iterator<std::uint64_t> numbers(0);
  detail::check(cub::DeviceScan::ExclusiveSum(scratch, bytes, thrust::make_transform_iterator(numbers, function), out,
                                              static_cast<std::int64_t>(n), stream));
#elif defined(GPULOG_GPU_HIP)
  const rocprim::counting_iterator<std::uint64_t> numbers(0);
  detail::check(rocprim::exclusive_scan(scratch, bytes, rocprim::make_transform_iterator(numbers, function), out,
                                        std::uint64_t{0}, n, rocprim::plus<std::uint64_t>(), stream));
#else
  emulated::exclusive_sum_of(scratch, bytes, function, out, n, stream);
#endif
}

/// Computes the sum of function(i) for all i below n.
template <class Function>
void sum_of(void* scratch, std::size_t& bytes, const Function& function, std::uint64_t* out, std::uint64_t n,
            stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  const thrust::counting_iterator<std::uint64_t> numbers(0);
  detail::check(cub::DeviceReduce::Sum(scratch, bytes, thrust::make_transform_iterator(numbers, function), out,
                                       static_cast<std::int64_t>(n), stream));
#elif defined(GPULOG_GPU_HIP)
  const rocprim::counting_iterator<std::uint64_t> numbers(0);
  detail::check(rocprim::reduce(scratch, bytes, rocprim::make_transform_iterator(numbers, function), out,
                                std::uint64_t{0}, n, rocprim::plus<std::uint64_t>(), stream));
#else
  emulated::sum_of(scratch, bytes, function, out, n, stream);
#endif
}

}  // namespace gpulog::backend::gpu
