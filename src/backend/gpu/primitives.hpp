#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/launch.hpp"

/// Device-wide operations on arrays in device memory, in stream order. Each function is called twice: without scratch
/// memory it only returns the number of scratch bytes needed.
///
/// The functions here are compiled once; functions whose types vary with the caller are templates
/// (primitives_by_functor.hpp).
namespace gpulog::backend::gpu {

/// Two arrays; a sort may leave the result in either.
template <class T>
struct double_buffer {
  T* current;
  T* other;
};

/// Exclusive prefix sums; `in` and `out` may be the same array. Instantiated for 32-bit and 64-bit words.
template <class Word>
void exclusive_sum(void* scratch, std::size_t& bytes, const Word* in, Word* out, std::uint64_t n, stream_handle stream);

/// Stable sorts by bits [first_bit, last_bit). Instantiated for 32-bit and 64-bit keys, with 32-bit values.
template <class Key>
void sort_keys(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, std::uint64_t n, unsigned first_bit,
               unsigned last_bit, stream_handle stream);
template <class Key>
void sort_pairs(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, double_buffer<std::uint32_t>& values,
                std::uint64_t n, unsigned first_bit, unsigned last_bit, stream_handle stream);

/// Removes consecutive duplicates.
/// @param count receives the number of written values
void unique(void* scratch, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out, std::uint64_t* count,
            std::uint64_t n, stream_handle stream);

/// Selects the numbers below n whose flag is nonzero, ascending.
void select_flagged(void* scratch, std::size_t& bytes, const std::uint8_t* flags, std::uint32_t* out,
                    std::uint64_t* count, std::uint64_t n, stream_handle stream);

}  // namespace gpulog::backend::gpu
