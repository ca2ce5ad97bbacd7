#pragma once

#include <cstdint>

#include "kernels/products/products.cuh"

/// Computes the acyclic rows of a product recursion in topological order (Kahn 1962): within one kernel, each row once.
/// Rows on cycles, and rows that depend on cycles, are left for rounds.
namespace gpulog::kernels::gpu {

/// Updates a reader of a complete row, and enqueues the reader if all its inputs are complete. Called by one thread.
__device__ inline void push_if_ready(const product_queue& queue, std::uint32_t reader) {
  if (atomicSub(queue.unread + reader, 1U) != 1) return;
  const unsigned place = atomicAdd(&queue.counts->pushed, 1U);
  atomicExch(queue.numbers + place, reader);
}

/// Counts the rows that each row reads.
struct count_unread {
  product_arguments arguments;
  product_queue queue;
  __device__ void operator()(std::uint64_t number) const {
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
      const product_rule_view& rule = arguments.rules[r];
      if (rule.is_recursive) sum += rule.left.of[number].count;
    }
    queue.unread[number] = sum;
  }
};

/// Enqueues the rows that read no row; a row with nothing to compute counts as complete. Run after count_unread.
struct push_first_rows {
  product_arguments arguments;
  product_queue queue;
  __device__ void operator()(std::uint64_t number) const {
    bool has_first = false;
    for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
      const product_rule_view& rule = arguments.rules[r];
      if (rule.left.of[number].count == 0) continue;
      if (rule.is_recursive) return;
      has_first = true;
    }
    if (has_first) {
      queue.numbers[atomicAdd(&queue.counts->pushed, 1U)] = static_cast<std::uint32_t>(number);
      return;
    }
    atomicAdd(&queue.counts->empty, 1U);
    arguments.is_due[number] = 0;
    for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
      if (!arguments.rules[r].is_recursive) continue;
      const number_lists& readers = arguments.rules[r].readers;
      const number_list list = readers.of[number];
      for (std::uint32_t i = 0; i < list.count; ++i) push_if_ready(queue, readers.all[list.first + i]);
    }
  }
};

/// Waits, with one thread, for the next row.
/// @return none if no row will come, or if the kernel stops early
__device__ inline std::uint32_t pop_row(const product_arguments& arguments, const product_queue& queue) {
  const unsigned place = atomicAdd(&queue.counts->popped, 1U);
  const volatile product_queue::progress& counts = *queue.counts;
  for (;;) {
    if (place < arguments.numbers && counts.is_stopped == 0) {
      const std::uint32_t number = *static_cast<const volatile std::uint32_t*>(queue.numbers + place);
      if (number != product_queue::none) return number;
    }
    if (counts.is_stopped != 0) return product_queue::none;
    // Only rows that are not complete yet can enqueue further rows.
    const unsigned completed = counts.completed;
    __threadfence();
    if (completed == counts.pushed && place >= completed) return product_queue::none;
    backend::gpu::pause();
  }
}

/// Starts, with one thread, the only computation of a row.
__device__ inline void begin_row(const product_arguments& arguments, const product_queue& queue, product_block& own) {
  own.number = pop_row(arguments, queue);
  own.visited = own.fresh = 0;
  for (std::uint32_t& united : own.united) united = 0;
  if (own.number == product_queue::none) return;
  arguments.visited[own.number] = arguments.round;
  arguments.is_due[own.number] = 0;
  __threadfence();  // the rows that this row reads are visible
}

/// Records, with one thread, how long a row took. If many blocks wait for slow rows, the kernel stops: rounds are
/// better then, because no block waits.
__device__ inline void note_speed(const product_queue& queue, unsigned long long begun) {
  volatile product_queue::progress& counts = *queue.counts;
  const auto waiting = static_cast<int>(counts.popped - counts.pushed);
  const auto took = static_cast<double>(backend::gpu::nanoseconds() - begun);
  if (took * waiting > queue.waited_row * gridDim.x) {
    if (atomicAdd(&queue.counts->slow, 2) >= static_cast<int>(gridDim.x)) counts.is_stopped = 1;
  } else if (counts.slow > 0) {
    atomicSub(&queue.counts->slow, 1);
  }
}

/// Marks the row as complete. All threads call this after a barrier; the first thread publishes the completion.
__device__ inline void complete_row(const product_arguments& arguments, const product_queue& queue,
                                    const product_block& own, unsigned long long begun) {
  if (threadIdx.x == 0) arguments.sizes[own.number] += own.fresh;
  __threadfence();
  __syncthreads();
  for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
    if (!arguments.rules[r].is_recursive) continue;
    const number_lists& readers = arguments.rules[r].readers;
    const number_list list = readers.of[own.number];
    for (std::uint32_t i = threadIdx.x; i < list.count; i += blockDim.x)
      push_if_ready(queue, readers.all[list.first + i]);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  note_speed(queue, begun);
  atomicAdd(&queue.counts->completed, 1U);
}

__global__ void __launch_bounds__(most_product_threads, 1)
    product_queue_kernel(const GPULOG_GRID_CONSTANT product_arguments arguments, const product_queue queue) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, product_memory);
  GPULOG_SHARED(product_block, own);
  const product_arrays arrays = arrays_in(product_memory, arguments.groups);
  unsigned long long candidates = 0;
  for (;;) {
    if (threadIdx.x == 0) begin_row(arguments, queue, own);
    __syncthreads();
    if (own.number == product_queue::none) break;
    const unsigned long long begun = backend::gpu::nanoseconds();
    make_row(arguments, own, arrays, candidates);
    complete_row(arguments, queue, own, begun);
  }
  candidates = backend::gpu::sum_of_lanes(std::uint64_t{candidates});
  if (backend::gpu::lane() == 0 && candidates != 0) atomicAdd(&queue.counts->candidates, candidates);
}

/// Clears the words of the rows left for rounds, with one block per row.
__global__ void __launch_bounds__(product_list_threads)
    clear_left_kernel(const GPULOG_GRID_CONSTANT product_arguments arguments) {
  const std::uint64_t row_words = std::uint64_t{arguments.groups} * wave_size;
  for (std::uint32_t number = blockIdx.x; number < arguments.numbers; number += gridDim.x) {
    if (arguments.is_due[number] == 0) continue;
    for (std::uint64_t i = threadIdx.x; i < row_words; i += blockDim.x) {
      if (!arguments.has_words) arguments.rows[number * row_words + i] = 0;
      for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
        if (arguments.rules[r].followed != nullptr) arguments.rules[r].followed[number * row_words + i] = 0;
      }
    }
  }
}

}  // namespace gpulog::kernels::gpu
