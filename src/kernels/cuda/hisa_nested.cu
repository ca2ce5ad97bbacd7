#include "kernels/cuda/hisa_nested.hpp"

#include <algorithm>

#include "backend/cuda/error.hpp"
#include "kernels/cuda/nested.cuh"

namespace gpulog::kernels::cuda {

namespace {

constexpr std::uint32_t nested_threads = 256;

struct always {
  __device__ bool operator()() const { return true; }
};

__global__ void __launch_bounds__(nested_threads) count_kernel(const hisa_nest nest) {
  extern __shared__ word shared_words[];
  register_file<nested_threads> registers(shared_words, nest.body.slot_count);
  registers.set_constants(nest.body.constants, nest.body.constant_count);
  __syncthreads();
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * nested_threads;
  for (std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * nested_threads + threadIdx.x; row < nest.rows;
       row += stride) {
    std::uint64_t results = 0;
    nested_loops(nest.body, nest.first_row + row, registers, nest.fault, always(), [&results] {
      ++results;
      return true;
    });
    nest.places[row] = results;
  }
}

/// Notes bits that no value had before.
__device__ void note_value(word* used_bits, word value) {
  if ((value & ~*static_cast<volatile word*>(used_bits)) != 0) atomicOr(used_bits, value);
}

__global__ void __launch_bounds__(nested_threads) fill_kernel(const hisa_nest nest) {
  extern __shared__ word shared_words[];
  register_file<nested_threads> registers(shared_words, nest.body.slot_count);
  registers.set_constants(nest.body.constants, nest.body.constant_count);
  __syncthreads();
  const hisa_body& body = nest.body;
  const std::uint64_t tail = *nest.target.tail;
  const std::uint32_t arity = body.output_count;
  const bool is_packed = nest.target.keys != nullptr;
  std::uint64_t used = 0;
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * nested_threads;
  for (std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * nested_threads + threadIdx.x; row < nest.rows;
       row += stride) {
    std::uint64_t place = tail + nest.places[row];
    nested_loops(body, nest.first_row + row, registers, nest.fault, always(), [&] {
      if (is_packed) {
        std::uint64_t key = 0;
        for (std::uint32_t c = 0; c < arity; ++c) key = key << 32 | registers.get(body.outputs[c]);
        nest.target.keys[place] = key;
        used |= key;
      } else {
        for (std::uint32_t c = 0; c < arity; ++c) {
          const word value = registers.get(body.outputs[c]);
          nest.target.columns[c * nest.target.stride + place] = value;
          note_value(nest.target.used_bits + c, value);
        }
      }
      ++place;
      return true;
    });
  }
  if (!is_packed) return;
  __syncwarp();
  const word low = __reduce_or_sync(0xffffffffU, static_cast<word>(used));
  const word high = __reduce_or_sync(0xffffffffU, static_cast<word>(used >> 32));
  if (threadIdx.x % 32 != 0) return;
  note_value(nest.target.used_bits + arity - 1, low);
  if (arity == 2) note_value(nest.target.used_bits, high);
}

__global__ void move_tail(std::uint64_t* tail, std::uint64_t results, bool nullary) {
  *tail = nullary ? 1 : *tail + results;
}

unsigned blocks_for(const backend::cuda::device_context& context, std::uint64_t rows) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((rows + nested_threads - 1) / nested_threads, 1, context.multiprocessors() * 32ULL));
}

template <class Kernel>
void launch(const backend::cuda::device_context& context, Kernel* kernel, const hisa_nest& nest) {
  const std::size_t shared =
      register_file<nested_threads>::words(nest.body.slot_count, nest.body.constant_count) * sizeof(word);
  if (shared > 40u << 10) {
    GPULOG_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }
  kernel<<<blocks_for(context, nest.rows), nested_threads, shared, context.stream()>>>(nest);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void count_nested(const backend::cuda::device_context& context, const hisa_nest& nest) {
  launch(context, count_kernel, nest);
}

void fill_nested(const backend::cuda::device_context& context, const hisa_nest& nest, std::uint64_t results) {
  const bool nullary = nest.body.output_count == 0;
  if (!nullary) launch(context, fill_kernel, nest);
  move_tail<<<1, 1, 0, context.stream()>>>(nest.target.tail, results, nullary);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

}  // namespace gpulog::kernels::cuda
