#include "kernels/steps/record_operator.hpp"

#include <algorithm>

#include "backend/gpu/wave.hpp"
#include "storage/records/record_slots.cuh"

namespace gpulog::kernels::gpu {

namespace {

constexpr std::uint32_t record_block_threads = 256;
using backend::gpu::wave_size;

/// @return whether the row is left
__device__ bool run_steps(const record_arguments& arguments, std::uint64_t row, bool& no_room) {
  bool alive = row < arguments.rows;
  for (std::uint32_t s = 0; s < arguments.step_count; ++s) {
    const record_step& step = arguments.steps[s];
    const auto field = [&](std::uint32_t f) {
      return step.columns[f] == nullptr ? step.constants[f] : step.columns[f][row];
    };
    const word record = storage::gpu::look_up_record(arguments.table, alive, step.makes, field, no_room);
    if (alive) step.result[row] = record;
    alive = alive && record != storage::nil_record;
  }
  return alive;
}

/// Writes the row where it has its place among those that are left. All threads of a wave call it.
__device__ void keep_row(const record_arguments& arguments, std::uint64_t row, bool alive) {
  const backend::gpu::lane_mask ballot = backend::gpu::ballot(alive);
  if (ballot == 0) return;
  const unsigned lane = backend::gpu::lane();
  unsigned long long first = 0;
  if (lane == 0) {
    first = atomicAdd(reinterpret_cast<unsigned long long*>(&arguments.counters->rows),
                      static_cast<unsigned long long>(backend::gpu::count_bits(ballot)));
  }
  first = backend::gpu::shuffle(first, 0);
  if (!alive) return;
  const std::uint64_t place = first + backend::gpu::rank_in(ballot);
  for (std::uint32_t c = 0; c < arguments.kept_count; ++c) arguments.out[c][place] = arguments.kept[c][row];
}

/// The last block says how it ended.
__device__ void report_end(const record_arguments& arguments) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(arguments.finished_blocks, 1U) != gridDim.x - 1) return;
  __threadfence();
  *arguments.finished_blocks = 0;
  volatile record_counters& counters = *arguments.counters;
  volatile backend::gpu::kernel_report& report = *arguments.report;
  report.rows = arguments.drops_rows ? counters.rows : arguments.rows;
  report.candidates = *static_cast<volatile std::uint64_t*>(arguments.table.count);
  report.refused = counters.refused;
  report.fault = 0;
  counters.rows = 0;
  counters.refused = 0;
  __threadfence_system();
  report.number = arguments.report_number;
}

__global__ void __launch_bounds__(record_block_threads) record_kernel(const record_arguments arguments) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t end = (arguments.rows + wave_size - 1) / wave_size * wave_size;  // waves stay whole
  const volatile std::uint64_t& refused = arguments.counters->refused;
  for (std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; row < end;
       row += stride) {
    bool no_room = false;
    const bool alive = run_steps(arguments, row, no_room);
    if (no_room) arguments.counters->refused = 1;
    // What the others do is done again in any case.
    if (backend::gpu::any_lane(no_room || refused != 0)) break;
    if (arguments.drops_rows) keep_row(arguments, row, alive);
  }
  report_end(arguments);
}

}  // namespace

std::uint64_t record_threads(const backend::gpu::device_context& context, std::uint64_t rows) {
  const std::uint64_t blocks = std::clamp<std::uint64_t>(
      (rows + record_block_threads - 1) / record_block_threads, 1,
      context.full_blocks(record_block_threads));  // all threads' room is kept free in the table
  return blocks * record_block_threads;
}

void look_up_records(const backend::gpu::device_context& context, const record_arguments& arguments,
                     std::uint64_t threads) {
  backend::gpu::launch(
      GPULOG_KERNEL(record_kernel),
      {static_cast<unsigned>(threads / record_block_threads), record_block_threads, 0, context.stream()}, arguments);
}

}  // namespace gpulog::kernels::gpu
