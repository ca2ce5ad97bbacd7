#include "kernels/loop/device_loop.hpp"

#include <algorithm>

#include "backend/gpu/block_primitives.hpp"
#include "kernels/calibration.hpp"
#include "kernels/join/nested_insert.cuh"
#include "storage/indexes/small_runs.cuh"

namespace gpulog::kernels::gpu {

namespace {

using storage::gpu::build_small_run;
using storage::gpu::level_view;
using storage::gpu::loop_run;
using storage::gpu::loop_runs;
using storage::gpu::small_run;
using storage::gpu::small_run_scratch;

static_assert(small_run_scratch::threads == loop_threads);

using share_scan = backend::gpu::block_scan<std::uint32_t, loop_threads>;

union loop_scratch {
  small_run_scratch runs;
  share_scan::storage shares;
};

/// Grid-wide barrier: writes before it are visible after it.
__device__ void wait_for_all_blocks(loop_state& state) {
  __syncthreads();
  if (gridDim.x == 1) return;
  if (threadIdx.x == 0) {
    volatile std::uint32_t& generation = state.generation;
    const std::uint32_t own = generation;
    __threadfence();
    if (atomicAdd(&state.arrived, 1U) == gridDim.x - 1) {
      state.arrived = 0;
      __threadfence();
      generation = own + 1;
    } else {
      while (generation == own) backend::gpu::pause();
    }
    __threadfence();
  }
  __syncthreads();
}

__device__ part_rows rows_of_part(const loop_relation& relation, row_part part) {
  return {part == row_part::delta ? relation.old_rows : 0, part == row_part::old ? relation.old_rows : relation.rows};
}

__device__ std::uint64_t tail_of(const loop_relation& relation) {
  return *static_cast<volatile std::uint64_t*>(&relation.counter->tail);
}

__device__ run_view view_of(const loop_index& index, const loop_index::level& level, const loop_run& run) {
  run_view view;
  const std::uint64_t place = run.place;
  const std::uint64_t rows = run.rows();
  view.stored = index.stored + place * index.most_rows * index.stored_columns;
  view.rows = rows;
  view.level.table = level.table + place * index.table_size(index.most_rows);
  view.level.table_size = index.table_size(rows);
  view.level.first = level.first + place * (index.most_rows + 1);
  view.level.keys = level.keys + place * index.most_rows * level.length;
  view.level.groups = rows;
  view.level.stride = rows;
  view.level.length = level.length;
  view.level.ranges = level.length <= 2;
  return view;
}

/// Updates an index with one thread, except for runs that must be built.
/// @return whether the index has enough space
__device__ bool advance_index(const loop_arguments& arguments, std::uint32_t number) {
  loop_index& index = arguments.indexes[number];
  const loop_relation& relation = arguments.relations[index.relation];
  if (index.has_host_delta != 0) {
    for (std::uint32_t l = 0; l < index.level_count; ++l) {
      index.levels[l].views[1 + index.host_runs] = index.levels[l].views[0];
    }
    ++index.host_runs;
    index.has_host_delta = 0;
  }
  const loop_runs::change change = index.runs.advance(relation.old_rows, relation.rows, index.most_rows);
  if (!change.fits) return false;
  for (std::uint32_t b = 0; b < change.built_count; ++b) {
    arguments.builds[atomicAdd(&arguments.state->build_count, 1U)] = {number, change.built[b]};
  }
  for (std::uint32_t l = 0; l < index.level_count; ++l) {
    const loop_index::level& level = index.levels[l];
    level.views[0] = index.runs.delta.rows() == 0 ? run_view() : view_of(index, level, index.runs.delta);
    if (!change.has_new_old) continue;
    const std::uint32_t last = index.runs.old_count - 1;
    level.views[1 + index.host_runs + last] = view_of(index, level, index.runs.old[last]);
  }
  return true;
}

__device__ void build(const loop_arguments& arguments, const loop_build& made, loop_scratch& scratch) {
  GPULOG_SHARED(small_run, run);
  const loop_index& index = arguments.indexes[made.index];
  if (threadIdx.x == 0) {
    run.rows = static_cast<std::uint32_t>(made.run.rows());
    run.sorted_columns = index.sorted_columns;
    run.stored_columns = index.stored_columns;
    run.level_count = index.level_count;
    for (std::uint32_t c = 0; c < index.sorted_columns; ++c) run.order[c] = index.order[c] + made.run.begin;
    for (std::uint32_t s = 0; s < index.stored_columns; ++s) run.copied[s] = index.copied[s] + made.run.begin;
    for (std::uint32_t l = 0; l < index.level_count; ++l) {
      const run_view view = view_of(index, index.levels[l], made.run);
      run.stored = const_cast<word*>(view.stored);
      run.levels[l] = {view.level.length,
                       const_cast<storage::gpu::key_slot*>(view.level.table),
                       view.level.table_size,
                       const_cast<std::uint32_t*>(view.level.first),
                       const_cast<word*>(view.level.keys),
                       nullptr};
    }
  }
  __syncthreads();
  build_small_run(run, scratch.runs);
  __syncthreads();
}

__device__ void apply(const loop_arguments& arguments, const loop_patch& patch) {
  if (patch.what == loop_patch::kind::runs) {
    const loop_index& index = arguments.indexes[patch.source];
    const std::uint32_t old = index.host_runs + index.runs.old_count;
    const run_view* const views = index.levels[patch.level].views;
    *static_cast<const run_view**>(patch.place) = views + (patch.part == row_part::old ? 1 : 0);
    *patch.count = patch.part == row_part::delta ? 1 : patch.part == row_part::old ? old : old + 1;
    return;
  }
  const part_rows rows = rows_of_part(arguments.relations[patch.source], patch.part);
  if (patch.what == loop_patch::kind::holds) {
    const bool holds = rows.begin != rows.end;
    *static_cast<bool*>(patch.place) = holds;
    if (holds == patch.idle_when) *patch.is_idle = 1;
  } else {
    *static_cast<row_range*>(patch.place) = {static_cast<std::uint32_t>(rows.begin),
                                             static_cast<std::uint32_t>(rows.end - rows.begin)};
  }
}

/// Prepares a phase with one block, unless space is short or a version is too large.
__device__ void open_phase(const loop_arguments& arguments, std::uint32_t number, loop_scratch& scratch) {
  const loop_phase& phase = arguments.phases[number];
  for (std::uint32_t p = threadIdx.x; p < phase.patch_count; p += loop_threads) apply(arguments, phase.patches[p]);
  __syncthreads();
  bool is_large = false;
  bool is_full = false;
  std::uint32_t shares = 0;
  for (std::uint32_t first = 0; first < phase.task_count; first += loop_threads) {
    const std::uint32_t t = first + threadIdx.x;
    std::uint32_t own = 0;
    if (t < phase.task_count) {
      loop_task& task = arguments.tasks[phase.first_task + t];
      if (task.outer != no_relation) {
        const part_rows rows = rows_of_part(arguments.relations[task.outer], task.part);
        task.body.first_row = rows.begin;
        task.body.rows = rows.end - rows.begin;
      }
      const std::uint64_t rows = task.body.rows;
      const loop_relation& target = arguments.relations[task.target];
      if (task.is_idle == 0) {
        if (rows > task.most_rows) is_large = true;
        if (rows != 0 && task.set.arity != 0 && tail_of(target) > target.safe_rows) is_full = true;
        own = static_cast<std::uint32_t>((min(rows, task.most_rows) + share_rows - 1) / share_rows);
      }
      task.is_idle = 0;
    }
    std::uint32_t before = 0;
    std::uint32_t sum = 0;
    share_scan::exclusive_sum(own, before, sum, scratch.shares);
    __syncthreads();
    if (t < phase.task_count) arguments.first_shares[t] = shares + before;
    shares += sum;
  }
  is_large = __syncthreads_or(is_large ? 1 : 0) != 0;
  is_full = __syncthreads_or(is_full ? 1 : 0) != 0;
  if (threadIdx.x != 0) return;
  loop_state& state = *arguments.state;
  state.next_phase = number;
  state.share_count = shares;
  if (gridDim.x == 1) {
    is_full = is_full || shares > calibration::most_shares_of_one_block;
  } else if (arguments.may_shrink) {
    state.small_phases = shares <= calibration::shares_of_one_block ? state.small_phases + 1 : 0;
    is_full = is_full || state.small_phases > calibration::phases_until_one_block;
  }
  state.status = is_large ? loop_status::large : is_full ? loop_status::full : loop_status::running;
}

/// Checks with one block how the versions of a phase ended.
/// @return whether all versions are complete
__device__ bool close_versions(const loop_arguments& arguments, std::uint32_t number, bool& had_many) {
  const loop_phase& phase = arguments.phases[number];
  loop_totals* const totals = arguments.totals + phase.first_task;
  bool fault = false;
  bool many = false;
  bool no_room = false;
  bool many_turns = false;
  for (std::uint32_t t = threadIdx.x; t < phase.task_count; t += loop_threads) {
    const batch_outcome& outcome = totals[t].running;
    if (outcome.fault != 0) {
      fault = true;
      totals[t].fault = 1;
    }
    if (outcome.candidates > arguments.most_candidates) many = true;
    if ((outcome.refused & batch_outcome::too_little_room) != 0) no_room = true;
    if ((outcome.refused & batch_outcome::too_many_turns) != 0) many_turns = true;
  }
  fault = __syncthreads_or(fault ? 1 : 0) != 0;
  had_many = __syncthreads_or(many ? 1 : 0) != 0;
  no_room = __syncthreads_or(no_room ? 1 : 0) != 0;
  many_turns = __syncthreads_or(many_turns ? 1 : 0) != 0;
  const bool is_done = !fault && !no_room && !many_turns;
  for (std::uint32_t t = threadIdx.x; t < phase.task_count; t += loop_threads) {
    batch_outcome& outcome = totals[t].running;
    if (is_done && arguments.tasks[phase.first_task + t].body.rows != 0) {
      ++totals[t].runs;
      totals[t].candidates += outcome.candidates;
    }
    totals[t].fresh += outcome.fresh;
    outcome = {};
  }
  if (!is_done && threadIdx.x == 0) {
    loop_state& state = *arguments.state;
    state.next_phase = number;
    state.status = fault ? loop_status::fault : many_turns ? loop_status::large : loop_status::full;
  }
  return is_done;
}

/// Ends an iteration.
/// @return whether a further iteration follows
__device__ bool close_iteration(const loop_arguments& arguments) {
  GPULOG_SHARED(unsigned long long, counted);
  if (threadIdx.x == 0) counted = 0;
  __syncthreads();
  bool has_delta = false;
  for (std::uint32_t r = threadIdx.x; r < arguments.relation_count; r += loop_threads) {
    const loop_relation& relation = arguments.relations[r];
    const std::uint64_t delta = relation.rows - relation.old_rows;
    has_delta = has_delta || delta != 0;
    if (delta != 0 && relation.is_counted != 0) atomicAdd(&counted, static_cast<unsigned long long>(delta));
  }
  has_delta = __syncthreads_or(has_delta ? 1 : 0) != 0;
  loop_state& state = *arguments.state;
  const std::uint64_t iterations = state.iterations + 1;
  const bool goes_on = has_delta && iterations < calibration::most_loop_iterations;
  __syncthreads();
  if (threadIdx.x == 0) {
    state.deltas[iterations - 1] = counted;
    state.iterations = iterations;
    if (!goes_on) {
      state.status = has_delta ? loop_status::paused : loop_status::finished;
      state.next_phase = 0;
    }
  }
  return goes_on;
}

/// Advances relations and indexes between phases.
__device__ void close_phase(const loop_arguments& arguments, std::uint32_t number, loop_scratch& scratch) {
  bool had_many = false;
  if (!close_versions(arguments, number, had_many)) return;
  const loop_phase& phase = arguments.phases[number];
  loop_state& state = *arguments.state;
  for (std::uint32_t a = threadIdx.x; a < phase.advanced_count; a += loop_threads) {
    loop_relation& relation = arguments.relations[phase.advanced[a]];
    relation.old_rows = relation.rows;
    relation.rows = tail_of(relation);
  }
  if (threadIdx.x == 0) state.build_count = 0;
  __syncthreads();
  bool is_full = false;
  for (std::uint32_t i = threadIdx.x; i < phase.index_count; i += loop_threads) {
    if (!advance_index(arguments, phase.indexes[i])) is_full = true;
  }
  is_full = __syncthreads_or(is_full ? 1 : 0) != 0;
  const bool is_last = number + 1 == arguments.phase_count;
  if (is_last && !close_iteration(arguments)) return;
  const std::uint32_t next = is_last ? 0 : number + 1;
  if (is_full || had_many) {
    if (threadIdx.x == 0) {
      state.next_phase = next;
      state.status = had_many ? loop_status::large : loop_status::full;
    }
    return;
  }
  open_phase(arguments, next, scratch);
}

__device__ void run_versions(const loop_arguments& arguments, std::uint32_t number, word* shared_words) {
  const loop_phase& phase = arguments.phases[number];
  const std::uint32_t shares = arguments.state->share_count;
  constexpr std::uint32_t waves = loop_threads / backend::gpu::wave_size;
  const std::uint32_t wave = backend::gpu::wave();
  const std::uint32_t lane = backend::gpu::lane();
  word* const constants = shared_words + arguments.slot_count * loop_threads + wave * arguments.constant_count;
  // Adjacent shares go to different blocks.
  for (std::uint32_t share = wave * gridDim.x + blockIdx.x; share < shares; share += gridDim.x * waves) {
    // Finds the last task whose first share is at most `share`.
    std::uint32_t low = 0;
    std::uint32_t high = phase.task_count - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (arguments.first_shares[middle] <= share) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const loop_task& task = arguments.tasks[phase.first_task + low];
    const loop_relation& target = arguments.relations[task.target];
    register_file<loop_threads> registers(shared_words, task.body.slot_count, constants);
    backend::gpu::wave_barrier();  // all lanes have read the constants of the previous share
    for (std::uint32_t c = lane; c < task.body.constant_count; c += backend::gpu::wave_size)
      constants[c] = task.body.constants[c];
    backend::gpu::wave_barrier();
    const std::uint64_t row = static_cast<std::uint64_t>(share - arguments.first_shares[low]) * share_rows + lane;
    insert_nested(task.body, task.set, target.counter->tail, target.safe_rows, row, registers,
                  arguments.totals[phase.first_task + low].running);
  }
}

__global__ void __launch_bounds__(loop_threads) loop_kernel(const loop_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(word, shared_words);
  GPULOG_SHARED(loop_scratch, scratch);
  loop_state& state = *arguments.state;
  const volatile loop_status& status = state.status;
  std::uint32_t phase = arguments.first_phase;
  if (blockIdx.x == 0) open_phase(arguments, phase, scratch);
  wait_for_all_blocks(state);
  while (status == loop_status::running) {
    run_versions(arguments, phase, shared_words);
    wait_for_all_blocks(state);
    if (blockIdx.x == 0) close_phase(arguments, phase, scratch);
    wait_for_all_blocks(state);
    if (status != loop_status::running) break;
    const std::uint32_t builds = state.build_count;
    for (std::uint32_t b = blockIdx.x; b < builds; b += gridDim.x) build(arguments, arguments.builds[b], scratch);
    if (builds != 0) wait_for_all_blocks(state);
    phase = phase + 1 == arguments.phase_count ? 0 : phase + 1;
  }
  if (blockIdx.x != 0) return;
  for (std::uint32_t r = threadIdx.x; r < arguments.relation_count; r += loop_threads) {
    loop_relation& relation = arguments.relations[r];
    relation.tail = tail_of(relation);
    relation.counter->tail_before = relation.tail;
  }
}

}  // namespace

void load_loop() { backend::gpu::load(GPULOG_KERNEL(loop_kernel)); }

std::size_t most_loop_shared_words(const backend::gpu::device_context& context) {
  constexpr std::size_t own_bytes = sizeof(loop_scratch) + sizeof(small_run) + 1024;
  return std::min<std::size_t>(calibration::most_loop_step_bytes,
                               (context.shared_bytes_per_block() - own_bytes) / sizeof(word));
}

unsigned most_loop_blocks(const backend::gpu::device_context& context, std::size_t shared_words) {
  const std::size_t shared = shared_words * sizeof(word);
  return backend::gpu::blocks_a_multiprocessor(GPULOG_KERNEL(loop_kernel), loop_threads, shared) *
         context.multiprocessors();
}

void run_loop(const backend::gpu::device_context& context, const loop_arguments& arguments, unsigned blocks,
              std::size_t shared_words) {
  backend::gpu::launch_together(GPULOG_KERNEL(loop_kernel),
                                {blocks, loop_threads, shared_words * sizeof(word), context.stream()}, arguments);
}

}  // namespace gpulog::kernels::gpu
