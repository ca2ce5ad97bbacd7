#include "kernels/steps/lookup_operator.hpp"

#include <algorithm>

#include "backend/gpu/wave.hpp"
#include "kernels/row_wise/words.cuh"
#include "storage/records/record_slots.cuh"
#include "storage/symbols/device_values.cuh"

namespace gpulog::kernels::gpu {

namespace {

constexpr std::uint32_t lookup_block_threads = 256;
using backend::gpu::wave_size;

/// Runs the steps for the row of one thread.
class row_steps {
 public:
  __device__ row_steps(const lookup_arguments& arguments, std::uint64_t row)
      : arguments_(arguments), row_(row), alive_(row < arguments.rows) {}

  /// All threads of a wave call this.
  __device__ void run() {
    for (std::uint32_t s = 0; s < arguments_.step_count; ++s) run(arguments_.steps[s]);
  }
  [[nodiscard]] __device__ bool is_left() const { return alive_; }
  [[nodiscard]] __device__ bool had_no_room() const { return no_room_; }

 private:
  __device__ void run(const lookup_step& step) {
    switch (step.kind) {
      case lookup_kind::make_record:
      case lookup_kind::find_record:
        return look_up_record(step);
      case lookup_kind::make_code:
      case lookup_kind::find_code:
        return look_up_code(step);
      case lookup_kind::compute:
        if (alive_) compute(step);
        return;
      case lookup_kind::compare:
        alive_ = alive_ && compare_words(step.comparison, value(step.left), value(step.right));
        return;
    }
  }

  __device__ void look_up_record(const lookup_step& step) {
    const auto field = [&](std::uint32_t f) {
      return step.columns[f] == nullptr ? step.constants[f] : step.columns[f][row_];
    };
    const word record =
        storage::gpu::look_up_record(arguments_.table, alive_, step.kind == lookup_kind::make_record, field, no_room_);
    if (alive_) step.result[row_] = record;
    alive_ = alive_ && record != storage::nil_record;
  }

  __device__ void look_up_code(const lookup_step& step) {
    const wide_word wanted = alive_ ? value(step.left) : 0;
    word code;
    const bool needs_number = !storage::has_short_code(wanted, code);
    const auto half = [&](std::uint32_t upper) { return static_cast<word>(upper == 0 ? wanted : wanted >> 32); };
    const word number = storage::gpu::look_up_record(arguments_.table, needs_number,
                                                     step.kind == lookup_kind::make_code, half, no_room_);
    if (alive_) step.result[row_] = needs_number ? storage::no_code | number : code;
    alive_ = alive_ && !no_room_;  // the register holds no value that a later step could read
  }

  __device__ void compute(const lookup_step& step) {
    const wide_word left = value(step.left);
    const wide_word right = value(step.right);
    if (may_fault(step.scalar) && divides_badly(step.scalar, left, right)) {
      arguments_.counters->faults = 1;
      alive_ = false;
      return;
    }
    const wide_word result = compute_word(step.scalar, left, right);
    step.result[row_] = static_cast<word>(result);
    step.upper_result[row_] = static_cast<word>(result >> 32);
  }

  [[nodiscard]] __device__ wide_word value(const storage::gpu::value_column& column) const {
    return storage::gpu::value_of_row(column, row_, arguments_.table.fields);
  }

  const lookup_arguments& arguments_;
  std::uint64_t row_;
  bool alive_;
  bool no_room_ = false;
};

/// Writes a remaining row to its place. All threads of a wave call this.
__device__ void keep_row(const lookup_arguments& arguments, std::uint64_t row, bool alive) {
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

/// Reports how the kernel ended; the last block writes the report.
__device__ void report_end(const lookup_arguments& arguments) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(arguments.finished_blocks, 1U) != gridDim.x - 1) return;
  __threadfence();
  *arguments.finished_blocks = 0;
  volatile lookup_counters& counters = *arguments.counters;
  volatile backend::gpu::kernel_report& report = *arguments.report;
  report.rows = arguments.drops_rows ? counters.rows : arguments.rows;
  report.candidates = *static_cast<volatile std::uint64_t*>(arguments.table.count);
  report.refused = counters.refused;
  report.fault = counters.faults == 0 ? 0 : 1;
  counters.rows = 0;
  counters.refused = 0;
  counters.faults = 0;
  __threadfence_system();
  report.number = arguments.report_number;
}

__global__ void __launch_bounds__(lookup_block_threads) lookup_kernel(const lookup_arguments arguments) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t end = (arguments.rows + wave_size - 1) / wave_size * wave_size;  // rounded up to whole waves
  const volatile std::uint64_t& refused = arguments.counters->refused;
  for (std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; row < end;
       row += stride) {
    row_steps steps(arguments, row);
    steps.run();
    if (steps.had_no_room()) arguments.counters->refused = 1;
    // The host repeats the whole operator in any case.
    if (backend::gpu::any_lane(steps.had_no_room() || refused != 0)) break;
    if (arguments.drops_rows) keep_row(arguments, row, steps.is_left());
  }
  report_end(arguments);
}

}  // namespace

std::uint64_t lookup_threads(const backend::gpu::device_context& context, std::uint64_t rows) {
  const std::uint64_t blocks = std::clamp<std::uint64_t>(
      (rows + lookup_block_threads - 1) / lookup_block_threads, 1,
      context.full_blocks(lookup_block_threads));  // the table must keep space for all threads
  return blocks * lookup_block_threads;
}

void run_lookups(const backend::gpu::device_context& context, const lookup_arguments& arguments,
                 std::uint64_t threads) {
  backend::gpu::launch(
      GPULOG_KERNEL(lookup_kernel),
      {static_cast<unsigned>(threads / lookup_block_threads), lookup_block_threads, 0, context.stream()}, arguments);
}

}  // namespace gpulog::kernels::gpu
