#include "kernels/cuda/phase_batch.hpp"

#include "backend/cuda/error.hpp"
#include "kernels/cuda/insert.cuh"
#include "kernels/cuda/nested.cuh"

namespace gpulog::kernels::cuda {

namespace {

/// A row behind the tail, for each thread that is here; they take theirs with one atomic.
__device__ std::uint64_t take_row(std::uint64_t* tail) {
  const unsigned together = __activemask();
  const unsigned lane = threadIdx.x & 31;
  const int leader = __ffs(static_cast<int>(together)) - 1;
  unsigned long long base = 0;
  if (lane == static_cast<unsigned>(leader)) {
    base = atomicAdd(reinterpret_cast<unsigned long long*>(tail), static_cast<unsigned long long>(__popc(together)));
  }
  base = __shfl_sync(together, base, leader);
  return base + static_cast<unsigned>(__popc(together & ((1U << lane) - 1)));
}

__device__ void add_for_warp(std::uint64_t* sum, std::uint32_t value) {
  const unsigned all = __reduce_add_sync(0xffffffffU, value);
  if ((threadIdx.x & 31) == 0 && all != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(all));
  }
}

/// The last block tells the host how all tasks ended.
__device__ void report_batch(const batch_arguments& arguments) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(arguments.finished_blocks, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (std::uint32_t t = threadIdx.x; t < arguments.task_count; t += batch_threads) {
    append_counter& counter = *arguments.tasks[t].counter;
    const std::uint64_t rows = *static_cast<volatile std::uint64_t*>(&counter.tail);
    counter.tail_before = rows;
    volatile batch_outcome& outcome = arguments.outcomes[t];
    volatile batch_report& report = arguments.reports[t];
    report.outcome.candidates = outcome.candidates;
    report.outcome.fresh = outcome.fresh;
    report.outcome.refused = outcome.refused;
    report.outcome.fault = outcome.fault;
    report.rows = rows;
    arguments.outcomes[t] = {};
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  *arguments.finished_blocks = 0;
  *static_cast<volatile std::uint64_t*>(arguments.report_number) = arguments.number;
}

__global__ void __launch_bounds__(batch_threads) batch_kernel(const batch_arguments arguments) {
  extern __shared__ word shared_words[];
  const batch_share share = arguments.shares[blockIdx.x];
  const batch_task& task = arguments.tasks[share.task];
  batch_outcome& outcome = arguments.outcomes[share.task];
  register_file<batch_threads> registers(shared_words, task.body.slot_count);
  registers.set_constants(task.body.constants, task.body.constant_count);
  __syncthreads();

  std::uint32_t candidates = 0;
  std::uint32_t fresh = 0;
  std::uint32_t turns = 0;
  bool refused = false;
  const auto turn = [&] {
    refused = refused || ++turns > batch_turns;
    return !refused;
  };
  const auto emit = [&] {
    ++candidates;
    std::uint64_t& tail = task.counter->tail;
    if (task.set.arity == 0) {
      fresh = atomicExch(reinterpret_cast<unsigned long long*>(&tail), 1ULL) == 0 ? 1 : 0;
      return false;  // there is no other tuple
    }
    if (*static_cast<volatile std::uint64_t*>(&tail) > task.safe_rows) {
      refused = true;
      return false;
    }
    const std::uint64_t key =
        set_view::packed(task.set.arity, [&](std::uint32_t c) { return registers.get(task.body.outputs[c]); });
    if (!insert_packed(task.set, key)) return true;
    ++fresh;
    const std::uint64_t row = take_row(&tail);
    store_packed(task.set, row, key);
    return true;
  };
  const std::uint64_t row = static_cast<std::uint64_t>(share.part) * batch_threads + threadIdx.x;
  if (row < task.body.rows) nested_loops(task.body, row, registers, &outcome.fault, turn, emit);
  __syncwarp();
  add_for_warp(&outcome.candidates, candidates);
  add_for_warp(&outcome.fresh, fresh);
  if (refused) outcome.refused = 1;
  report_batch(arguments);
}

}  // namespace

void run_batch(const backend::cuda::device_context& context, const batch_arguments& arguments, unsigned blocks,
               std::size_t shared_words) {
  batch_kernel<<<blocks, batch_threads, shared_words * sizeof(word), context.stream()>>>(arguments);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

}  // namespace gpulog::kernels::cuda
