#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/launch.hpp"

/// What a whole device does with arrays of its memory, in the stream's order. Each function is called twice: without
/// scratch memory it only tells how many bytes of that it needs.
///
/// Those whose types vary with their caller are templates (primitives_by_functor.hpp); these are compiled once.
namespace gpulog::backend::gpu {

/// Two arrays of which a sort may leave its result in either.
template <class T>
struct double_buffer {
  T* current;
  T* other;
};

/// Sums of the values in front of each; in and out may be the same. For words of both sizes.
template <class Word>
void exclusive_sum(void* scratch, std::size_t& bytes, const Word* in, Word* out, std::uint64_t n, stream_handle stream);

/// Stable sorts by bits [first_bit, last_bit). For keys of both sizes, and values of 32 bits.
template <class Key>
void sort_keys(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, std::uint64_t n, unsigned first_bit,
               unsigned last_bit, stream_handle stream);
template <class Key>
void sort_pairs(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, double_buffer<std::uint32_t>& values,
                std::uint64_t n, unsigned first_bit, unsigned last_bit, stream_handle stream);

/// Each of consecutive equal values once. @param count of what was written
void unique(void* scratch, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out, std::uint64_t* count,
            std::uint64_t n, stream_handle stream);

/// The numbers below n whose flag is not 0, ascending.
void select_flagged(void* scratch, std::size_t& bytes, const std::uint8_t* flags, std::uint32_t* out,
                    std::uint64_t* count, std::uint64_t n, stream_handle stream);

}  // namespace gpulog::backend::gpu
