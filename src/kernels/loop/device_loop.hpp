#pragma once

#include <cstdint>

#include "kernels/calibration.hpp"
#include "kernels/loop/phase_batch.hpp"
#include "storage/indexes/loop_runs.hpp"
#include "storage/indexes/small_runs.hpp"

/// A kernel that runs the iterations of a stratum with few rows (docs/adr/0017).
///
/// The arguments hold all relations that the loop extends. Between phases, one block updates everything that depends on
/// relation sizes in the loops of versions (nested_program.hpp): numbers of input rows, and runs of indexes. If space
/// is short, the kernel ends at the start of a phase, or reverts the phase; the next launch repeats the phase and finds
/// the inserted tuples again.
namespace gpulog::kernels::gpu {

constexpr std::uint32_t loop_threads = 512;
/// Outer rows that a wave takes at a time; a block can work on several tasks.
constexpr std::uint32_t share_rows = backend::gpu::wave_size;
constexpr std::uint32_t no_relation = UINT32_MAX;

enum class loop_status : std::uint32_t {
  running,
  finished,  ///< no relation has a delta
  paused,    ///< after most_loop_iterations
  full,      ///< a relation, an index or the work list is full; continue after enlarging it
  large,     ///< a version has too many rows or matches for this kernel
  fault
};

struct loop_relation {
  append_counter* counter = nullptr;
  std::uint64_t old_rows = 0;
  std::uint64_t rows = 0;
  /// No thread inserts beyond this number of rows: the capacity minus one row per thread.
  std::uint64_t safe_rows = 0;
  std::uint64_t tail = 0;  ///< when the kernel ended
  std::uint32_t is_counted = 0;
};

/// Totals of a version over all iterations, and its outcome in the current phase.
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
  std::uint32_t outer = no_relation;  ///< the relation of the outer rows; no_relation: constant outer rows
  row_part part = row_part::all;      ///< of the outer relation
  std::uint64_t most_rows = 0;        ///< maximum outer rows
  std::uint32_t is_idle = 0;          ///< whether an emptiness condition on a part fails
};

/// A place in a task that depends on relation sizes.
struct loop_patch {
  enum class kind : std::uint8_t {
    range,  ///< a row_range: the rows of a part
    holds,  ///< a bool: whether a part has rows
    runs    ///< a pointer to run_views and their number: the runs of a part of an index
  };
  kind what = kind::range;
  row_part part = row_part::all;
  std::uint32_t source = 0;  ///< a loop_relation or loop_index
  std::uint32_t level = 0;
  void* place = nullptr;
  std::uint32_t* count = nullptr;    ///< for runs
  std::uint32_t* is_idle = nullptr;  ///< for holds: the flag of the task
  bool idle_when = false;            ///< for holds
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
  std::uint64_t most_rows = 0;    ///< of a run built by the kernel
  std::uint64_t table_share = 0;  ///< slots per row
  // Memory of runs, by position.
  word* stored = nullptr;
  struct level {
    std::uint32_t length = 0;
    storage::gpu::key_slot* table = nullptr;
    std::uint32_t* first = nullptr;
    word* keys = nullptr;
    /// The delta (possibly empty), then runs built by the host, then runs built by the kernel.
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
  const std::uint32_t* indexes = nullptr;  ///< indexes of the advanced relations
  std::uint32_t index_count = 0;
  const loop_patch* patches = nullptr;  ///< for this phase's tasks
  std::uint32_t patch_count = 0;
};

struct loop_state {
  loop_status status = loop_status::running;
  std::uint32_t next_phase = 0;
  std::uint64_t iterations = 0;
  std::uint32_t share_count = 0;  ///< in the current phase
  std::uint32_t build_count = 0;
  std::uint32_t small_phases = 0;  ///< consecutive phases with few shares
  // State of the barrier.
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  /// By iteration: delta rows of the counted relations.
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
  loop_build* builds = nullptr;           ///< space for two builds per index
  std::uint32_t* first_shares = nullptr;  ///< by task of a phase
  std::uint32_t first_phase = 0;
  std::uint32_t constant_count = 0;  ///< maximum over all tasks
  std::uint32_t slot_count = 0;      ///< maximum over all tasks
  bool may_shrink = false;           ///< whether one block could run the loop if there is little work
  /// Of a version in a phase; a version with more candidates is `large` in the next phase.
  std::uint64_t most_candidates = 0;
};

/// Loads the kernel, which takes about a millisecond; call this in a separate thread. A later launch reports errors.
void load_loop();
/// Returns the maximum words of shared memory for registers.
[[nodiscard]] std::size_t most_loop_shared_words(const backend::gpu::device_context& context);
/// Returns how many blocks run at a time, the maximum for a launch.
/// @param shared_words for registers
[[nodiscard]] unsigned most_loop_blocks(const backend::gpu::device_context& context, std::size_t shared_words);
void run_loop(const backend::gpu::device_context& context, const loop_arguments& arguments, unsigned blocks,
              std::size_t shared_words);

/// Returns the words of shared memory per block: registers of all threads, and constants of each wave's task.
[[nodiscard]] constexpr std::size_t loop_shared_words(std::size_t slot_count, std::size_t constant_count) {
  return slot_count * loop_threads + constant_count * (loop_threads / backend::gpu::wave_size);
}

}  // namespace gpulog::kernels::gpu
