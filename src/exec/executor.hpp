#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/memory_resource.hpp"
#include "backend/piece_runner.hpp"
#include "exec/calibration.hpp"
#include "exec/iteration_series.hpp"
#include "exec/ranks/division.hpp"
#include "exec/run_monitor.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/steps/functor_table.hpp"
#include "plan/cost/calibration.hpp"
#include "plan/plan.hpp"
#include "storage/records/record_table.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/relation/row_sample.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::kernels {
class strip_counters;
}

/// Runs a plan to its fixpoint on a backend.
namespace gpulog::exec {

/// Progress of a running fixpoint, reported after each iteration.
struct progress {
  std::size_t stratum = 0;
  std::uint64_t iteration = 0;
  std::uint64_t tuples = 0;  ///< in the stratum's relations
  double seconds = 0;        ///< since the stratum started
  const char* backend = "";  ///< backend that runs the stratum
};

/// Thresholds between evaluation methods of an executor. Tests lower them, so that small inputs exercise every method.
struct cut_offs {
  /// A rule version with fewer expected candidates runs on the calling thread.
  double parallel_candidates = 8192;
  /// Such versions of a phase run concurrently if together they expect this many candidates, which take about a
  /// millisecond: workers must wake up, and each relation must make space for several versions.
  double together_candidates = 32768;
  /// A worker leaves bindings of a tile with this many matches to all workers, which take half as many at a time. No
  /// other value was tried.
  std::uint64_t shared_matches = 8192;
  /// `hisa` mode: candidates collected before deduplication; 0: as many as memory allows.
  std::uint64_t candidate_rows = 0;
  /// If the stratum's rules take their values from fewer rows, its tuple sets are hash tables: no different kind pays.
  std::uint64_t bounded_rows = 1024;
  /// With a priority delta, an iteration takes the best waiting rows: at least this many.
  std::uint64_t priority_rows = 512;
  /// A decomposed fixpoint numbers its values only if its steps have at most this many rows per first tuple.
  double numbered_step_rows = 64;
  /// Elements of such work, and fact rows, per worker.
  std::uint64_t range_elements = backend::piece_runner::usual_range;
  /// Minimum first tuples for condensation.
  std::uint64_t condensed_rows = 1024;
  /// A matrix gets columns when its lookups have cost this many units of work per row; nothing: as calibrated for the
  /// machine.
  std::optional<double> matrix_work_of_row;
  /// A recursion is planned again after its joins have produced this many bindings per version of its loop since the
  /// last plan, if that is at least one part in calibration::reoptimized_part of all bindings. Larger on a device,
  /// which is faster. 0: after each iteration. Planning a version again takes a twentieth of the time of these
  /// bindings.
  std::uint64_t reoptimized_bindings = 1 << 15;
  /// What a supplementary relation may cost more than it saves before the planner is asked: bindings, and a share of
  /// the other work of its stratum.
  double free_supplementary_bindings = plan::calibration::free_supplementary_bindings;
  double supplementary_share = calibration::supplementary_share;
  /// A version with a new order may make this many times the bindings per row of its delta of the former order, and
  /// additional bindings, which double with each change. Beyond this limit the former order returns. Not in `hisa`
  /// mode.
  double worse_order_factor = calibration::worse_order_factor;
  double free_order_bindings = calibration::free_order_bindings;
  // On a device, `hash` mode.
  /// Lookups materialize this many rows of a matrix at a time.
  std::uint64_t asked_rows = calibration::asked_rows;
  std::uint64_t kept_row_words = UINT64_MAX;   ///< maximum words of complete rows that searches store
  std::uint64_t block_row_bytes = UINT64_MAX;  ///< maximum bytes of a row of bits in shared memory
  /// Product rows are computed in topological order until a row takes longer, times the share of the device that waits
  /// for it; 0: in rounds from the start.
  double waited_row_seconds = calibration::waited_row_seconds;
  std::uint64_t batch_rows = 4096;     ///< maximum rows of a version in a batch
  std::uint64_t loop_rows = 65536;     ///< maximum rows of a version in the loop kernel; 0: no loop kernel
  std::uint64_t loop_run_rows = 2048;  ///< maximum rows of an index run built in the loop kernel, at most 2048
};

/// How a device in `hisa` mode runs bodies of three or more atoms.
enum class join_mode : std::uint8_t {
  materialized,  ///< in steps, through temporary tables
  nested         ///< as nested loops, one thread per outer tuple
};

/// What the planner does about a supplementary relation of a running loop. Both are there or none.
struct supplementary_planner {
  /// plan::reoptimizer::work_without()
  std::function<double(std::size_t stratum, relation_id supplementary)> work_without;
  /// plan::reoptimizer::abandon()
  std::function<std::vector<relation_id>(std::size_t stratum, relation_id supplementary)> abandon;
};

struct options {
  unsigned threads = 1;
  std::uint64_t device_block_bytes = 0;  ///< shared memory available to a block of the device; 0: enough
  storage::storage_mode storage = storage::storage_mode::hash;
  storage::set_choice sets = storage::set_choice::automatic;  ///< `hash` mode
  storage::buffer_policy buffers;                             ///< eager buffer management, `hisa` mode
  storage::record_tables* records = nullptr;         ///< must outlive the executor; required by programs with records
  storage::wide_values* wide = nullptr;              ///< in 64-bit programs; must outlive the executor
  const kernels::functor_table* functors = nullptr;  ///< must outlive the executor; for programs with library functors
  const std::atomic<bool>* stop = nullptr;           ///< once true, evaluate() throws kernels::interrupted
  std::function<void(const progress&)> on_progress;
  /// Called before each stratum: may replan its versions, and add indexes after the plan's indexes. Returns whether it
  /// did; may be empty.
  std::function<bool(std::size_t stratum)> reoptimize;
  /// The same for the versions of a loop, between two iterations, after many bindings.
  std::function<bool(std::size_t stratum)> reoptimize_loop;
  /// plan::reoptimizer::put_back(); may be empty.
  std::function<bool(std::size_t stratum, std::size_t version)> put_back;
  supplementary_planner supplementary;
  const char* backend_name = "cpu";  ///< for progress
  run_monitor* monitor = nullptr;    ///< must outlive the executor; records where a run failed; nullptr: not monitored
  bool is_watched = false;           ///< further threads observe the run
  bool records_iterations = false;   ///< stores figures of each iteration
  bool counts_steps = false;         ///< counts rows after each operator, where possible
  join_mode joins = join_mode::materialized;
  row_mode rows = row_mode::automatic;  ///< `hash` mode
  bool priority_delta = true;           ///< if the order of values is free, an iteration takes the best values
  cut_offs cut;
  /// Strata that may run on this executor, if several executors share a plan; empty: all.
  std::vector<bool> may_run;
  /// Keeps sets and indexes after the last stratum that needs them, because strata may be continued
  /// (continue_stratum()).
  bool continues = false;
  /// By relation: whether the rows are read after the last stratum. An executor of all strata frees the rows of other
  /// relations, also those of the planner, after the last stratum that reads the rows. Empty: frees no rows.
  std::vector<bool> results;
  /// Processes that count rows of closures on a CPU; must outlive the executor; nullptr: none
  kernels::strip_counters* strip_counters = nullptr;
  /// Divides strata of a CPU among ranks; must outlive the executor; nullptr: a single rank.
  stratum_divider* divider = nullptr;
  std::atomic<wide_word>* counter =
      nullptr;  ///< of autoinc(), shared by the executors of a plan; nullptr: a separate counter
};

/// What the runs of a version did until its order changed.
struct plan_work {
  std::uint64_t runs = 0;
  std::uint64_t bindings = 0;
  std::uint64_t delta_rows = 0;
  double seconds = 0;
};

struct version_statistics {
  rule_id rule;
  int delta_atom = -1;
  std::string text;
  std::uint64_t runs = 0;           ///< with input rows
  std::uint64_t row_wise_runs = 0;  ///< runs evaluated row by row (plan::rule_version::rows)
  std::uint64_t candidates = 0;     ///< tuples offered to the head's set
  std::uint64_t bindings = 0;       ///< that its joins made, at least as many as candidates
  std::uint64_t tuples = 0;         ///< new tuples; in `hisa` mode counted only by relation
  std::uint64_t delta_rows = 0;     ///< rows in the deltas of the runs, except runs of a loop kernel
  double seconds = 0;
  std::vector<plan_work> former;  ///< totals at each change of the order (plan::rule_version::former_plans)
  /// Rows after operators; nullptr: unknown. If a version also ran in different ways or orders, only some runs are
  /// counted.
  std::shared_ptr<const kernels::step_counts> counted;
  /// Whether a count or sum overflowed the word size; nullptr: not run, or not detected.
  std::shared_ptr<std::atomic<bool>> wraps_around;
};

/// An index while a stratum runs.
struct index_statistics {
  index_id index;
  std::size_t version = 0;  ///< number of the first version that needs it
  std::uint64_t refreshes = 0;
  double seconds = 0;
  bool is_timed = true;     ///< false if a machine measures the phase only as a whole
  std::uint64_t bytes = 0;  ///< at the end of the stratum
};

struct relation_statistics {
  relation_id relation;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  storage::phase_times phases;
  std::string set;  ///< tuple set at the end of the stratum: hash, bits, words, hisa; empty: none
};

struct stratum_statistics {
  std::string backend;  ///< backend that ran the stratum, if strata run on several; otherwise empty
  std::string reason;   ///< why this backend
  /// Names of the strategies that ran (exec/strategies), in order.
  std::vector<std::string> strategies;
  bool is_complete = true;  ///< false: still running, or the run failed here
  bool continued = false;   ///< whether the stratum continued from new rows of its relations
  double begin = 0;         ///< seconds of the steady clock
  iteration_series deltas;  ///< options::records_iterations
  std::uint64_t iterations = 0;
  std::uint64_t looped_iterations = 0;  ///< iterations in the loop kernel
  std::uint64_t rows_taken_over = 0;    ///< rows that searches took over
  std::uint64_t search_numbers = 0;     ///< numbers assigned to values for searches; 0: searched the values directly
  /// Iterations that a different executor ran before this executor continued; nothing: started here.
  std::optional<std::uint64_t> iterations_before_move;
  double seconds = 0;
  double join_seconds = 0;
  double populate_delta_seconds = 0;  ///< `hisa` mode: sort, unique, set difference
  double merge_seconds = 0;           ///< `hisa` mode: merge of full and delta
  double index_seconds = 0;
  double clear_seconds = 0;                   ///< advance, and freeing
  double materialize_seconds = 0;             ///< materializing matrices
  double allocation_seconds = 0;              ///< `hisa` mode on a device: not included in any other phase
  std::vector<kernels::search_stage> stages;  ///< stages of its searches, included in join_seconds
  std::uint64_t tail_iterations = 0;          ///< iterations with a delta below 1% of the result's tuples
  std::vector<version_statistics> versions;
  std::vector<relation_statistics> relations;
  std::vector<index_statistics> indexes;  ///< updated indexes

  /// Returns the figures of an index; appends them if missing.
  /// @param version the version that needs the index, if figures are appended
  index_statistics& of_index(index_id index, std::size_t version = 0) {
    if (index.value >= place_of_index.size()) place_of_index.resize(index.value + 1, no_place);
    std::size_t& place = place_of_index[index.value];
    if (place == no_place) {
      place = indexes.size();
      indexes.push_back({.index = index, .version = version});
    }
    return indexes[place];
  }
  static constexpr std::size_t no_place = SIZE_MAX;
  std::vector<std::size_t> place_of_index;  ///< position in `indexes`
};

struct statistics {
  std::vector<stratum_statistics> strata;
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t allocations = 0;
};

/// An arithmetic fault in a rule; what() is Soufflé's message.
class evaluation_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Memory was exhausted; what() names the rule, the relation and the sizes.
class memory_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Rows of a relation outside of host memory, copied piece by piece.
class row_stream {
 public:
  row_stream() = default;
  row_stream(const row_stream&) = delete;
  row_stream& operator=(const row_stream&) = delete;
  virtual ~row_stream() = default;
  /// Writes rows [first, first + n) to one array per column. Every row must be read once, in roughly ascending order.
  /// Thread-safe.
  virtual void read(std::uint64_t first, std::uint64_t n, word* const* columns) = 0;
};

/// Columns of a relation in device memory. All work on them is complete.
struct columns_on_device {
  std::vector<const word*> columns;
  const void* stream;  ///< the vendor's handle of the stream that orders the executor's work
};

/// Columns that can be searched without an index.
struct key_search {
  std::vector<std::uint32_t> columns;  ///< ascending
  double rows_per_key = 0;
};

/// Interface of backends; dispatched once per program.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  /// Adds rows to a relation before evaluate(), dropping duplicates. columns: one host array per column.
  /// @throws memory_fault
  virtual void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) = 0;
  /// @throws evaluation_fault, memory_fault, kernels::interrupted
  virtual void evaluate() = 0;
  /// Returns the rows of a relation, one host array per column; valid until the next call.
  [[nodiscard]] virtual std::vector<const word*> columns(relation_id relation) = 0;
  /// Streams the rows without copying all to the host at once. Returns nullptr if columns() is as good. The executor
  /// must not be used otherwise meanwhile.
  [[nodiscard]] virtual std::unique_ptr<row_stream> stream_rows(relation_id) { return nullptr; }
  /// Returns the columns in device memory, valid during the lifetime of the executor, or nothing if they are on the
  /// host.
  [[nodiscard]] virtual std::optional<columns_on_device> device_columns(relation_id) { return {}; }
  [[nodiscard]] virtual std::uint64_t rows(relation_id relation) const = 0;
  /// Returns whether the rows were freed, because nothing reads the relation any more (options::results).
  [[nodiscard]] virtual bool has_freed(relation_id) const { return false; }
  /// For a relation that is a matrix.
  [[nodiscard]] virtual std::vector<key_search> key_searches(relation_id) const { return {}; }
  /// Returns about `wanted` sample rows of each relation, or all rows if there are fewer; the sample does not depend on
  /// the order of rows. Returns nothing for an equivalence relation. Call between two strata or two iterations.
  [[nodiscard]] virtual std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& relations,
                                                                  std::uint64_t wanted) = 0;
  /// Writes n pairs of an equivalence relation, starting with number `first`, to two columns; columns() would
  /// materialize all pairs. Thread-safe.
  /// @throws backend::memory_exceeded
  virtual void read_pairs(relation_id relation, std::uint64_t first, std::uint64_t n, word* const* columns) const;
  [[nodiscard]] virtual const statistics& figures() = 0;
};

/// State of a recursion stopped between two iterations.
struct stopped_recursion {
  std::vector<std::uint64_t> deltas;  ///< by iteration: number of new rows
};

/// Called before each iteration of a recursion.
/// @param iterations number of completed iterations
/// @param delta_rows rows of relations of the program
using stop_check = std::function<bool(std::uint64_t iterations, std::uint64_t delta_rows)>;

/// Callbacks that may end a stratum early, or change its plan.
struct stratum_stops {
  stop_check between_iterations;           ///< moves the recursion elsewhere (can_be_moved()); may be empty
  const std::atomic<bool>* now = nullptr;  ///< replaces options::stop; leaves the relations in an undefined state
  /// options::reoptimize_loop() of the stratum; may be empty.
  std::function<bool()> reoptimize_loop;
  /// options::put_back() of the stratum; may be empty.
  std::function<bool(std::size_t version)> put_back;
  supplementary_planner supplementary;
  division* shared_by = nullptr;  ///< at followers: ranks that evaluate the stratum together
};

/// An executor that runs single strata, so that several executors can share a plan (hybrid_executor.hpp): each stratum,
/// in plan order, runs here or elsewhere.
class stratum_executor : public executor {
 public:
  /// Runs a stratum whose inputs are here.
  /// @throws like evaluate()
  virtual void run_stratum(std::size_t number) { static_cast<void>(run_until(number, {})); }
  /// Runs a stratum until it is complete or stopped. A stopped recursion leaves its relations in the state between
  /// iterations.
  /// @return nothing if complete
  [[nodiscard]] virtual std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) = 0;
  /// Copies rows of a relation of a recursion stopped elsewhere; the relation must be empty. The first old_rows rows
  /// are old, the rest is the delta.
  /// @throws memory_fault
  virtual void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                             std::uint64_t old_rows) = 0;
  /// Returns the number of rows outside the delta, for a relation of a recursion stopped here.
  [[nodiscard]] virtual std::uint64_t old_rows(relation_id relation) const = 0;
  /// Runs the rest of a stopped recursion, whose inputs and relations are here.
  /// @param stops may change the plan, but not end the stratum
  /// @throws like evaluate()
  virtual void resume_stratum(std::size_t number, const stopped_recursion& from, const stratum_stops& stops) = 0;
  /// Offers rows to a complete relation; new rows wait for continue_stratum().
  /// @throws memory_fault
  virtual void append(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) = 0;
  /// Removes tuples from a complete relation with plan::relation::loses_tuples; ignores tuples that it does not have.
  /// Requires options::continues, and that no rows wait for continue_stratum().
  /// @param columns of distinct tuples
  /// @return numbers of the given tuples that the relation had
  /// @throws memory_fault
  virtual std::vector<std::uint64_t> erase(relation_id relation, const std::vector<const word*>& columns,
                                           std::uint64_t rows) = 0;
  /// Returns columns of the rows that were appended after the relation had this number of tuples, which have not been
  /// erased since; valid until the next call. The machine must not move rows.
  [[nodiscard]] virtual std::vector<const word*> appended_columns(relation_id relation, std::uint64_t tuples) = 0;
  /// Continues a complete recursion semi-naively from the appended rows. Requires options::continues.
  /// @throws like evaluate()
  virtual void continue_stratum(std::size_t number, const stratum_stops& stops = {}) = 0;
  /// Applies a new plan by options::reoptimize() for the next stratum, or for a stratum that runs on a different
  /// executor.
  virtual void take_over_plan(std::size_t number) = 0;
  /// Skips a stratum that ran on a different executor, and frees what was kept for it.
  virtual void skip_stratum(std::size_t number) = 0;
  /// Takes over distinct rows of a relation from host columns; the relation must be empty. The relation can receive
  /// further tuples if a later stratum adds some, or if it loses tuples (plan::relation::loses_tuples).
  /// @param lasts whether the columns stay valid and unchanged as long as this executor, which may then read them in
  ///   place
  /// @throws memory_fault
  virtual void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts) = 0;
  /// Frees a relation.
  virtual void release(relation_id relation) = 0;
  /// Frees the result of columns() for a relation.
  virtual void forget_columns(relation_id relation) = 0;
};

/// Creates an executor on the host's processors. All references must outlive it.
[[nodiscard]] std::unique_ptr<stratum_executor> make_cpu_executor(const plan::program& program,
                                                                  storage::symbol_table& symbols,
                                                                  backend::memory_resource& resource,
                                                                  const options& chosen);

/// Loads the facts in the program text.
/// @param wide nullptr: words have 32 bits
void load_facts(executor& target, const plan::program& program, storage::wide_values* wide);

}  // namespace gpulog::exec
