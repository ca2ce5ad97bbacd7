#pragma once

#include <cstdint>

#include "kernels/calibration.hpp"
#include "kernels/loop/phase_batch.hpp"
#include "storage/indexes/loop_runs.hpp"
#include "storage/indexes/small_runs.hpp"

/// Iterations of a stratum with few rows, as one kernel that loops over them (docs/adr/0017).
///
/// All relations that the loop extends are here with their sizes, and all that depends on these in the loops of
/// versions (nested_program.hpp) is brought up to date by one block between phases: numbers of input rows, runs of
/// indexes. Where the kernel has no room for something, it ends at the beginning of a phase, or takes the phase back:
/// the next launch finds again what the phase had inserted.
namespace gpulog::kernels::gpu {

constexpr std::uint32_t loop_threads = 512;
/// A wave takes so many outer rows of a task at a time: threads of several tasks are in a block.
constexpr std::uint32_t share_rows = backend::gpu::wave_size;
constexpr std::uint32_t no_relation = UINT32_MAX;

enum class loop_status : std::uint32_t {
  running,
  finished,  ///< no relation has a delta
  paused,    ///< after most_loop_iterations
  full,      ///< a relation, an index or the work has no more room: it goes on when it has
  large,     ///< a version has too many rows or matches: the phase is work for kernels that split them
  fault
};

struct loop_relation {
  append_counter* counter = nullptr;
  std::uint64_t old_rows = 0;
  std::uint64_t rows = 0;
  /// Nobody inserts when there are more: its room, less one for each thread there is.
  std::uint64_t safe_rows = 0;
  std::uint64_t tail = 0;  ///< when the kernel ended
  std::uint32_t is_counted = 0;
};

/// What a version did in all iterations, and in the running phase.
struct loop_totals {
  std::uint64_t runs = 0;
  std::uint64_t candidates = 0;
  std::uint64_t fresh = 0;
  std::uint64_t fault = 0;
  batch_outcome running;
};

struct loop_task {
  nested_body<run_view, set_view> body;
  set_view set;
  std::uint32_t target = 0;           ///< a loop_relation
  std::uint32_t outer = no_relation;  ///< the one that outer rows come from; none: they stay what they are
  row_part part = row_part::all;      ///< of it
  std::uint64_t most_rows = 0;        ///< outer ones
  std::uint32_t is_idle = 0;          ///< a part that has to have rows has none, or the other way round
};

/// A place in a task that depends on sizes.
struct loop_patch {
  enum class kind : std::uint8_t {
    range,  ///< a row_range: the rows of a part
    holds,  ///< a bool: whether a part has rows
    runs    ///< a pointer to run_views and a std::uint32_t, their number: of a part of an index
  };
  kind what = kind::range;
  row_part part = row_part::all;
  std::uint32_t source = 0;  ///< a loop_relation or loop_index
  std::uint32_t level = 0;
  void* place = nullptr;
  std::uint32_t* count = nullptr;    ///< of runs
  std::uint32_t* is_idle = nullptr;  ///< of holds: the task's
  bool idle_when = false;            ///< of holds
};

/// An index of a relation that the loop extends.
struct loop_index {
  static constexpr std::uint32_t most_views = 1 + 13 + storage::gpu::loop_runs::most_old;

  std::uint32_t relation = 0;
  std::uint32_t sorted_columns = 0;
  std::uint32_t stored_columns = 0;
  std::uint32_t level_count = 0;
  const word* order[storage::gpu::small_run::most_columns] = {};  ///< columns of the relation
  const word* copied[storage::gpu::small_run::most_columns] = {};
  std::uint64_t most_rows = 0;    ///< of a run that is made here
  std::uint64_t table_share = 0;  ///< slots a row
  // Memory of runs, by place.
  word* stored = nullptr;
  struct level {
    std::uint32_t length = 0;
    storage::gpu::key_slot* table = nullptr;
    std::uint32_t* first = nullptr;
    word* keys = nullptr;
    /// Delta (maybe without rows), runs that the host made, runs that were made here.
    run_view* views = nullptr;
  } levels[storage::gpu::small_run::most_levels];
  std::uint32_t host_runs = 0;
  std::uint32_t has_host_delta = 0;
  storage::gpu::loop_runs runs;

  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t table_size(std::uint64_t rows) const { return rows * table_share + 2; }
};

struct loop_build {
  std::uint32_t index = 0;
  storage::gpu::loop_run run;
};

struct loop_phase {
  std::uint32_t first_task = 0;
  std::uint32_t task_count = 0;
  const std::uint32_t* advanced = nullptr;  ///< relations
  std::uint32_t advanced_count = 0;
  const std::uint32_t* indexes = nullptr;  ///< of these
  std::uint32_t index_count = 0;
  const loop_patch* patches = nullptr;  ///< of this phase's tasks
  std::uint32_t patch_count = 0;
};

struct loop_state {
  loop_status status = loop_status::running;
  std::uint32_t next_phase = 0;
  std::uint64_t iterations = 0;
  std::uint32_t share_count = 0;  ///< of the running phase
  std::uint32_t build_count = 0;
  std::uint32_t small_phases = 0;  ///< in sequence, with few shares
  // Of the barrier.
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  /// By iteration: rows of delta, of the relations that are counted.
  std::uint64_t deltas[calibration::most_loop_iterations] = {};
};

struct loop_arguments {
  loop_state* state = nullptr;
  loop_relation* relations = nullptr;
  std::uint32_t relation_count = 0;
  loop_totals* totals = nullptr;  ///< by task
  loop_task* tasks = nullptr;
  const loop_phase* phases = nullptr;
  std::uint32_t phase_count = 0;
  loop_index* indexes = nullptr;
  loop_build* builds = nullptr;           ///< room for two an index
  std::uint32_t* first_shares = nullptr;  ///< by task of a phase
  std::uint32_t first_phase = 0;
  std::uint32_t constant_count = 0;   ///< most of a task
  std::uint32_t slot_count = 0;       ///< likewise
  bool may_shrink = false;            ///< one block could do the work if it was little
  std::uint64_t most_candidates = 0;  ///< of a version in a phase; one with more is `large` in the next
};

/// Loads the kernel, which takes about a millisecond: in a thread of its own that is no loss. An error says so later.
void load_loop();
/// Words of shared memory for registers, at most.
[[nodiscard]] std::size_t most_loop_shared_words(const backend::gpu::device_context& context);
/// How many blocks can run at a time, which is as many as there may be. @param shared_words for registers
[[nodiscard]] unsigned most_loop_blocks(const backend::gpu::device_context& context, std::size_t shared_words);
void run_loop(const backend::gpu::device_context& context, const loop_arguments& arguments, unsigned blocks,
              std::size_t shared_words);

/// Words of shared memory that a block needs for registers of all its threads, and constants of each wave's task.
[[nodiscard]] constexpr std::size_t loop_shared_words(std::size_t slot_count, std::size_t constant_count) {
  return slot_count * loop_threads + constant_count * (loop_threads / backend::gpu::wave_size);
}

}  // namespace gpulog::kernels::gpu
