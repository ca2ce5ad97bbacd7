#pragma once

#include "kernels/steps/scalar.hpp"
#include "kernels/steps/word_operations.hpp"

/// Dispatches the operations of scalar.hpp by number, for kernels that interpret steps. Word has 32 or 64 bits.
namespace gpulog::kernels::gpu {

template <class Word>
__device__ Word compute_word(scalar_op op, Word a, Word b) {
  switch (op) {
#define GPULOG_CASE(name) \
  case scalar_op::name:   \
    return apply<scalar_op::name>(a, b);
    GPULOG_FOR_EACH_WORD_OPERATION(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      return 0;  // text operations never reach a device
  }
}

template <class Word>
__device__ bool compare_words(comparison_op op, Word a, Word b) {
  switch (op) {
#define GPULOG_CASE(name)   \
  case comparison_op::name: \
    return holds<comparison_op::name>(a, b);
    GPULOG_FOR_EACH_WORD_COMPARISON(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      return false;
  }
}

}  // namespace gpulog::kernels::gpu
