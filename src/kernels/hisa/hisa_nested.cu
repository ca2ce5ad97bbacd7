#include "kernels/hisa/hisa_nested.hpp"

#include <algorithm>

#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/wave.hpp"
#include "kernels/join/nested.cuh"

namespace gpulog::kernels::gpu {

namespace {

constexpr std::uint32_t nested_threads = 256;

struct always {
  __device__ bool operator()() const { return true; }
};

__global__ void __launch_bounds__(nested_threads) count_kernel(const hisa_nest nest) {
  GPULOG_DYNAMIC_SHARED(word, shared_words);
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

/// Records bits that no earlier value used.
__device__ void note_value(word* used_bits, word value) {
  if ((value & ~*static_cast<volatile word*>(used_bits)) != 0) atomicOr(used_bits, value);
}

__global__ void __launch_bounds__(nested_threads) fill_kernel(const hisa_nest nest) {
  GPULOG_DYNAMIC_SHARED(word, shared_words);
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
  backend::gpu::wave_barrier();
  const word low = backend::gpu::union_of_lanes(static_cast<word>(used));
  const word high = backend::gpu::union_of_lanes(static_cast<word>(used >> 32));
  if (backend::gpu::lane() != 0) return;
  note_value(nest.target.used_bits + arity - 1, low);
  if (arity == 2) note_value(nest.target.used_bits, high);
}

__global__ void move_tail(std::uint64_t* tail, std::uint64_t results, bool nullary) {
  *tail = nullary ? 1 : *tail + results;
}

unsigned blocks_for(const backend::gpu::device_context& context, std::uint64_t rows) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(
      (rows + nested_threads - 1) / nested_threads, 1,
      context.full_blocks(nested_threads) * std::uint64_t{backend::gpu::launch_factors::joins}));
}

void launch(const backend::gpu::device_context& context, const backend::gpu::kernel<hisa_nest>& kernel,
            const hisa_nest& nest) {
  const std::size_t shared =
      register_file<nested_threads>::words(nest.body.slot_count, nest.body.constant_count) * sizeof(word);
  backend::gpu::launch(kernel, {blocks_for(context, nest.rows), nested_threads, shared, context.stream()}, nest);
}

}  // namespace

void count_nested(const backend::gpu::device_context& context, const hisa_nest& nest) {
  launch(context, GPULOG_KERNEL(count_kernel), nest);
}

void fill_nested(const backend::gpu::device_context& context, const hisa_nest& nest, std::uint64_t results) {
  const bool nullary = nest.body.output_count == 0;
  if (!nullary) launch(context, GPULOG_KERNEL(fill_kernel), nest);
  backend::gpu::launch(GPULOG_KERNEL(move_tail), {1, 1, 0, context.stream()}, nest.target.tail, results, nullary);
}

}  // namespace gpulog::kernels::gpu
