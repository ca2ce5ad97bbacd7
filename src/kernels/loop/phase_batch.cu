#include "kernels/loop/phase_batch.hpp"

#include "backend/gpu/launch.hpp"
#include "kernels/join/nested_insert.cuh"

namespace gpulog::kernels::gpu {

namespace {

/// Reports the outcome of all tasks to the host; the last block writes the report.
__device__ void report_batch(const batch_arguments& arguments) {
  GPULOG_SHARED(bool, is_last);
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
  GPULOG_DYNAMIC_SHARED(word, shared_words);
  const batch_share share = arguments.shares[blockIdx.x];
  const batch_task& task = arguments.tasks[share.task];
  batch_outcome& outcome = arguments.outcomes[share.task];
  register_file<batch_threads> registers(shared_words, task.body.slot_count);
  registers.set_constants(task.body.constants, task.body.constant_count);
  __syncthreads();

  const std::uint64_t wave = static_cast<std::uint64_t>(share.part) * batch_waves + backend::gpu::wave();
  const bool has_row = backend::gpu::lane() < arguments.rows_of_wave;
  const std::uint64_t row = has_row ? wave * arguments.rows_of_wave + backend::gpu::lane() : UINT64_MAX;
  insert_nested(task.body, task.set, task.counter->tail, task.safe_rows, row, registers, outcome);
  report_batch(arguments);
}

}  // namespace

void run_batch(const backend::gpu::device_context& context, const batch_arguments& arguments, unsigned blocks,
               std::size_t shared_words) {
  backend::gpu::launch(GPULOG_KERNEL(batch_kernel),
                       {blocks, batch_threads, shared_words * sizeof(word), context.stream()}, arguments);
}

}  // namespace gpulog::kernels::gpu
