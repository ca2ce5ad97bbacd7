#include "backend/gpu/primitives.hpp"

#include "backend/gpu/vendor_status.hpp"

#if defined(GPULOG_GPU_CUDA)
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#else
#include <iostream>
#include <rocprim/functional.hpp>  // in front of what uses it and does not include it, as with the line above

#include <rocprim/device/device_radix_sort.hpp>
#include <rocprim/device/device_scan.hpp>
#include <rocprim/device/device_select.hpp>
#include <rocprim/iterator/counting_iterator.hpp>
#endif

namespace gpulog::backend::gpu {

namespace {

using detail::check;

#if defined(GPULOG_GPU_CUDA)
template <class T>
using vendor_buffer = cub::DoubleBuffer<T>;
template <class T>
void take_back(double_buffer<T>& to, vendor_buffer<T>& from) {
  to = {from.Current(), from.Alternate()};
}
#else
template <class T>
using vendor_buffer = rocprim::double_buffer<T>;
template <class T>
void take_back(double_buffer<T>& to, vendor_buffer<T>& from) {
  to = {from.current(), from.alternate()};
}
#endif

}  // namespace

template <class Word>
void exclusive_sum(void* scratch, std::size_t& bytes, const Word* in, Word* out, std::uint64_t n,
                   stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  check(cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, static_cast<std::int64_t>(n), stream));
#else
  check(rocprim::exclusive_scan(scratch, bytes, in, out, Word{0}, n, rocprim::plus<Word>(), stream));
#endif
}

template <class Key>
void sort_keys(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, std::uint64_t n, unsigned first_bit,
               unsigned last_bit, stream_handle stream) {
  vendor_buffer<Key> buffer(keys.current, keys.other);
#if defined(GPULOG_GPU_CUDA)
  check(cub::DeviceRadixSort::SortKeys(scratch, bytes, buffer, static_cast<std::int64_t>(n),
                                       static_cast<int>(first_bit), static_cast<int>(last_bit), stream));
#else
  check(rocprim::radix_sort_keys(scratch, bytes, buffer, n, first_bit, last_bit, stream));
#endif
  if (scratch != nullptr) take_back(keys, buffer);
}

template <class Key>
void sort_pairs(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, double_buffer<std::uint32_t>& values,
                std::uint64_t n, unsigned first_bit, unsigned last_bit, stream_handle stream) {
  vendor_buffer<Key> key_buffer(keys.current, keys.other);
  vendor_buffer<std::uint32_t> value_buffer(values.current, values.other);
#if defined(GPULOG_GPU_CUDA)
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, key_buffer, value_buffer, static_cast<std::int64_t>(n),
                                        static_cast<int>(first_bit), static_cast<int>(last_bit), stream));
#else
  check(rocprim::radix_sort_pairs(scratch, bytes, key_buffer, value_buffer, n, first_bit, last_bit, stream));
#endif
  if (scratch == nullptr) return;
  take_back(keys, key_buffer);
  take_back(values, value_buffer);
}

template void exclusive_sum(void*, std::size_t&, const std::uint32_t*, std::uint32_t*, std::uint64_t, stream_handle);
template void exclusive_sum(void*, std::size_t&, const std::uint64_t*, std::uint64_t*, std::uint64_t, stream_handle);
template void sort_keys(void*, std::size_t&, double_buffer<std::uint32_t>&, std::uint64_t, unsigned, unsigned,
                        stream_handle);
template void sort_keys(void*, std::size_t&, double_buffer<std::uint64_t>&, std::uint64_t, unsigned, unsigned,
                        stream_handle);
template void sort_pairs(void*, std::size_t&, double_buffer<std::uint32_t>&, double_buffer<std::uint32_t>&,
                         std::uint64_t, unsigned, unsigned, stream_handle);
template void sort_pairs(void*, std::size_t&, double_buffer<std::uint64_t>&, double_buffer<std::uint32_t>&,
                         std::uint64_t, unsigned, unsigned, stream_handle);

void unique(void* scratch, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out, std::uint64_t* count,
            std::uint64_t n, stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  check(cub::DeviceSelect::Unique(scratch, bytes, in, out, count, static_cast<std::int64_t>(n), stream));
#else
  check(rocprim::unique(scratch, bytes, in, out, count, n, rocprim::equal_to<std::uint32_t>(), stream));
#endif
}

void select_flagged(void* scratch, std::size_t& bytes, const std::uint8_t* flags, std::uint32_t* out,
                    std::uint64_t* count, std::uint64_t n, stream_handle stream) {
#if defined(GPULOG_GPU_CUDA)
  check(cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), flags, out, count,
                                   static_cast<std::int64_t>(n), stream));
#else
  check(rocprim::select(scratch, bytes, rocprim::counting_iterator<std::uint32_t>(0), flags, out, count, n, stream));
#endif
}

}  // namespace gpulog::backend::gpu
