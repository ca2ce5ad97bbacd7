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
#include "exec/run_monitor.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/steps/functor_table.hpp"
#include "plan/plan.hpp"
#include "storage/records/record_table.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/relation/row_sample.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

/// Runs a plan to fixpoint on some backend.
namespace gpulog::exec {

/// What a running fixpoint tells after each iteration.
struct progress {
  std::size_t stratum = 0;
  std::uint64_t iteration = 0;
  std::uint64_t tuples = 0;  ///< in the stratum's relations
  double seconds = 0;        ///< since the stratum began
  const char* backend = "";  ///< where it runs
};

/// Where an executor changes its way of working. Tests lower these, so that small inputs take every way.
struct cut_offs {
  /// A rule version with fewer expected candidates runs on the calling thread.
  double parallel_candidates = 8192;
  /// Such versions of a phase run at the same time where all of them together expect this many candidates, which take
  /// about a millisecond: workers have to wake up, and each relation has to make room for several versions.
  double together_candidates = 32768;
  /// `hisa` mode: candidates that are collected before they are deduplicated; 0: as many as memory allows.
  std::uint64_t candidate_rows = 0;
  /// Where a stratum's rules take their values from fewer rows, its tuple sets are hash tables: no other kind pays.
  std::uint64_t bounded_rows = 1024;
  /// With a priority delta, an iteration takes the best of the rows that wait: at least this many.
  std::uint64_t priority_rows = 512;
  /// A decomposed fixpoint gives its values numbers only where its steps have at most so many rows for each first
  /// tuple.
  double numbered_step_rows = 64;
  /// Elements of such work, and rows of facts, that are worth a worker.
  std::uint64_t range_elements = backend::piece_runner::usual_range;
  /// Components of its graph are found from this many first tuples on.
  std::uint64_t condensed_rows = 1024;
  /// A factorized relation is searched until that has taken so many steps for each of its rows, and then gets columns.
  double searched_steps_of_row = calibration::searched_steps_of_row;
  /// A recursion is planned again when its joins have made so many bindings for each version of its loop since it was
  /// last planned, if these are at least one part in calibration::reoptimized_part of all bindings. On a device the
  /// number is larger, as the device is faster. 0: after each iteration. Planning a version again takes a twentieth of
  /// the time that these bindings take.
  std::uint64_t reoptimized_bindings = 1 << 15;
  /// What a supplementary relation may cost more than it saves before the planner is asked: bindings, and a share of
  /// the other work of its stratum.
  double free_supplementary_bindings = calibration::free_supplementary_bindings;
  double supplementary_share = calibration::supplementary_share;
  // On a device, `hash` mode.
  /// Rows are made of factorized relations, so many at a time, until that has taken what making each of their rows so
  /// often takes; then they get columns.
  std::uint64_t asked_rows = calibration::asked_rows;
  double asked_work_of_row = calibration::asked_work_of_row;
  std::uint64_t kept_row_words = UINT64_MAX;   ///< most words of complete rows that searches keep
  std::uint64_t block_row_bytes = UINT64_MAX;  ///< most of a row of bits that a search has in its block's memory
  /// Rows of products are made in topological order up to rows that take longer, times the part of the device that
  /// waits for them; 0: in rounds from the start.
  double waited_row_seconds = calibration::waited_row_seconds;
  std::uint64_t batch_rows = 4096;     ///< most rows of a version that runs in one kernel with others
  std::uint64_t loop_rows = 65536;     ///< the same in a kernel that loops over iterations; 0: there is none
  std::uint64_t loop_run_rows = 2048;  ///< most rows of an index's run that is made there, 2048 at most
};

/// Which of the strata and versions that can be evaluated row by row (plan::row_wise_evaluation,
/// plan::row_wise_version) are: those where it pays, or all.
enum class row_wise_mode : std::uint8_t { automatic, always };

/// Which recursions that fall apart are evaluated over the components of their graph: none, those where it pays, or
/// all.
enum class condensation_mode : std::uint8_t { off, automatic, always };

/// Which recursions that fall apart are searched with rows that are taken over, on a device: none, those where it pays,
/// or all.
enum class row_takeover_mode : std::uint8_t { off, automatic, always };

/// Which recursions of products (plan::product_recursion) are made by rows of bits: those where it pays, or all.
enum class product_mode : std::uint8_t { automatic, always };

/// How a device in `hisa` mode runs bodies of three and more atoms.
enum class join_mode : std::uint8_t {
  materialized,  ///< in steps, through temporary tables
  nested         ///< as nested loops, a thread an outer tuple
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
  std::uint64_t device_block_bytes = 0;  ///< shared memory that a block of the device can have; 0: enough
  storage::storage_mode storage = storage::storage_mode::hash;
  storage::set_choice sets = storage::set_choice::automatic;  ///< `hash` mode
  storage::buffer_policy buffers;                             ///< eager buffer management, `hisa` mode
  storage::record_tables* records = nullptr;         ///< outlives the executor; needed by programs with records
  storage::wide_values* wide = nullptr;              ///< of words with 64 bits; outlives the executor
  const kernels::functor_table* functors = nullptr;  ///< outlives the executor; for programs with functors of libraries
  const std::atomic<bool>* stop = nullptr;           ///< once true, evaluate() throws kernels::interrupted
  std::function<void(const progress&)> on_progress;
  /// Called before each stratum: may plan its versions again, and add indexes after those of the plan. @return whether
  /// it did; may be empty
  std::function<bool(std::size_t stratum)> reoptimize;
  /// The same for the versions of a loop, between two iterations, when its joins have made many bindings.
  std::function<bool(std::size_t stratum)> reoptimize_loop;
  supplementary_planner supplementary;
  const char* backend_name = "cpu";  ///< for progress
  run_monitor* monitor = nullptr;    ///< outlives the executor; told where a run failed; nullptr: nobody asks
  bool is_watched = false;           ///< others look at the run while it goes on
  bool records_iterations = false;   ///< what each iteration found and took is kept
  bool counts_steps = false;         ///< rows behind each operator are counted, where that is possible
  join_mode joins = join_mode::materialized;
  row_wise_mode row_wise = row_wise_mode::automatic;              ///< `hash` mode
  condensation_mode condensation = condensation_mode::automatic;  ///< `hash` mode
  row_takeover_mode row_takeover = row_takeover_mode::automatic;  ///< `hash` mode, on a device
  product_mode products = product_mode::automatic;                ///< `hash` mode
  bool priority_delta = true;  ///< where values may come in any order, an iteration takes the best ones
  cut_offs cut;
  /// Which strata this executor may be asked for, where several share a plan; empty: all.
  std::vector<bool> may_run;
  /// Sets and indexes are kept after the last stratum that needs them, as strata will be continued
  /// (continue_stratum()).
  bool continues = false;
  std::atomic<wide_word>* counter =
      nullptr;  ///< of autoinc(), shared by the executors of a plan; nullptr: one of its own
};

struct version_statistics {
  rule_id rule;
  int delta_atom = -1;
  std::string text;
  std::uint64_t runs = 0;           ///< with input rows
  std::uint64_t row_wise_runs = 0;  ///< of them, those that made rows (plan::row_wise_version)
  std::uint64_t candidates = 0;     ///< tuples offered to the head's set
  std::uint64_t bindings = 0;       ///< that its joins made, at least as many as candidates
  std::uint64_t tuples = 0;         ///< of them new; in `hisa` mode counted by relation only
  double seconds = 0;
  /// Rows behind operators. nullptr: they are not known. Of a version that ran in other ways too, or in another order
  /// of its joins, fewer runs are counted than there were.
  std::shared_ptr<const kernels::step_counts> counted;
  /// Whether a count or sum needed more bits than words have; nullptr: it was not run, or where that is not noticed.
  std::shared_ptr<std::atomic<bool>> wraps_around;
};

/// An index while a stratum runs.
struct index_statistics {
  index_id index;
  std::size_t version = 0;  ///< by number: the first one that needs it
  std::uint64_t refreshes = 0;
  double seconds = 0;
  bool is_timed = true;     ///< false where a machine measures the phase by itself, as a whole
  std::uint64_t bytes = 0;  ///< at the end of the stratum
};

struct relation_statistics {
  relation_id relation;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  storage::phase_times phases;
  std::string set;  ///< the tuple set at the end of its stratum: hash, bits, words, hisa; empty: none
};

struct stratum_statistics {
  std::string backend;  ///< where it ran, if strata of the plan run in several places; else empty
  std::string reason;   ///< why there
  /// Names of those that ran it (exec/strategies), in the order in which they did.
  std::vector<std::string> strategies;
  bool was_run = true;             ///< false: another stratum stands for it (plan::stratum_condition)
  std::optional<double> given_up;  ///< share of the rows that was asked for (plan::restriction_watch)
  bool is_complete = true;         ///< false: it is running, or the run failed in it
  bool continued = false;          ///< it went on from new rows of its relations
  double begin = 0;                ///< seconds of the steady clock
  iteration_series deltas;         ///< options::records_iterations
  std::uint64_t iterations = 0;
  std::uint64_t looped_iterations = 0;  ///< of them, those that a device ran by itself
  std::uint64_t rows_taken_over = 0;    ///< by searches, from others
  std::uint64_t search_numbers = 0;     ///< that values got for searches; 0: they searched values as they are
  /// How many of the iterations another executor ran before this one went on; nothing: it began here.
  std::optional<std::uint64_t> iterations_before_move;
  double seconds = 0;
  double join_seconds = 0;
  double populate_delta_seconds = 0;  ///< `hisa` mode: sort, unique, set difference
  double merge_seconds = 0;           ///< `hisa` mode: full with delta
  double index_seconds = 0;
  double clear_seconds = 0;                   ///< advance, and freeing what is no longer needed
  double materialize_seconds = 0;             ///< columns of factorized rows that it reads
  double allocation_seconds = 0;              ///< `hisa` mode on a device: part of no other phase
  std::vector<kernels::search_stage> stages;  ///< of its searches, parts of join_seconds
  std::uint64_t tail_iterations = 0;          ///< whose delta is less than 1% of the result's tuples
  std::vector<version_statistics> versions;
  std::vector<relation_statistics> relations;
  std::vector<index_statistics> indexes;  ///< those that it brought up to date

  /// Of an index, appended where there are none yet. @param version that needs it, if they are appended
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
  std::vector<std::size_t> place_of_index;  ///< in `indexes`
};

struct statistics {
  std::vector<stratum_statistics> strata;
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t allocations = 0;
};

/// A rule's arithmetic failed; what() is Soufflé's message.
class evaluation_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Memory was not enough; what() names the rule, the relation and the sizes.
class memory_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Rows of a relation that are elsewhere, and copied to this machine piece by piece while others are being used.
class row_stream {
 public:
  row_stream() = default;
  row_stream(const row_stream&) = delete;
  row_stream& operator=(const row_stream&) = delete;
  virtual ~row_stream() = default;
  /// Writes rows [first, first + n) to one array a column. Every row is to be read once, in about ascending order; any
  /// number of threads at a time.
  virtual void read(std::uint64_t first, std::uint64_t n, word* const* columns) = 0;
};

/// Columns of a relation in the memory of a device. All work on them is done.
struct columns_on_device {
  std::vector<const word*> columns;
  const void* stream;  ///< which the executor's work is ordered on, as the vendor has it
};

/// Columns whose values find rows without an index.
struct key_search {
  std::vector<std::uint32_t> columns;  ///< ascending
  double rows_per_key = 0;
};

/// The dispatch between backends happens here, once a program.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  /// Adds rows to a relation before evaluate(); repeated ones are dropped. columns: one array a column, on the host.
  /// @throws memory_fault
  virtual void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) = 0;
  /// @throws evaluation_fault, memory_fault, kernels::interrupted
  virtual void evaluate() = 0;
  /// The rows of a relation, one array a column, on the host; valid until the next call.
  [[nodiscard]] virtual std::vector<const word*> columns(relation_id relation) = 0;
  /// The same without having all of them on the host. Nothing where columns() is as good. The executor is not used
  /// otherwise meanwhile.
  [[nodiscard]] virtual std::unique_ptr<row_stream> stream_rows(relation_id) { return nullptr; }
  /// The columns where they are; valid as long as the executor. Nothing where they are on the host.
  [[nodiscard]] virtual std::optional<columns_on_device> device_columns(relation_id) { return {}; }
  [[nodiscard]] virtual std::uint64_t rows(relation_id relation) const = 0;
  /// Of a relation that is searched as it is kept.
  [[nodiscard]] virtual std::vector<key_search> key_searches(relation_id) const { return {}; }
  /// About as many rows of each of these relations as are wanted, all where there are not more, and the same ones in
  /// whatever order they stand. Nothing of an equivalence relation. Between two strata, or two iterations.
  [[nodiscard]] virtual std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& relations,
                                                                  std::uint64_t wanted) = 0;
  /// Of an equivalence relation, whose pairs stand nowhere: writes n of them from number `first` on to two columns.
  /// columns() would make all of them at once. Any number of threads at a time. @throws backend::memory_exceeded
  virtual void read_pairs(relation_id relation, std::uint64_t first, std::uint64_t n, word* const* columns) const;
  [[nodiscard]] virtual const statistics& figures() = 0;
};

/// Where a recursion was stopped, between two iterations.
struct stopped_recursion {
  std::vector<std::uint64_t> deltas;  ///< by iteration: rows that it found
};

/// Asked before each iteration of a recursion. @param iterations that have been run
/// @param delta_rows of relations of the program
using stop_check = std::function<bool(std::uint64_t iterations, std::uint64_t delta_rows)>;

/// What may end a stratum before it is complete, or change it.
struct stratum_stops {
  stop_check between_iterations;           ///< the recursion goes on elsewhere (can_be_moved()); may be empty
  const std::atomic<bool>* now = nullptr;  ///< in place of options::stop: its relations are in no good state then
  /// options::reoptimize_loop() of the stratum; may be empty.
  std::function<bool()> reoptimize_loop;
  supplementary_planner supplementary;
};

/// An executor that runs strata one at a time, so that several can share a plan (hybrid_executor.hpp): each stratum in
/// the order of the plan is either run here or run elsewhere.
class stratum_executor : public executor {
 public:
  /// Runs a stratum; what it reads is here. @throws as evaluate()
  virtual void run_stratum(std::size_t number) { static_cast<void>(run_until(number, {})); }
  /// The same with something that ends it. Where a recursion is to go on elsewhere, its relations are as they are
  /// between iterations. @return nothing: it is complete
  [[nodiscard]] virtual std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) = 0;
  /// Takes over rows of a relation of a recursion that was stopped elsewhere; nothing is here of it. The first ones,
  /// old_rows of them, are old, and the others its delta. @throws memory_fault
  virtual void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                             std::uint64_t old_rows) = 0;
  /// Of a relation of a recursion that was stopped here: rows that are not its delta.
  [[nodiscard]] virtual std::uint64_t old_rows(relation_id relation) const = 0;
  /// Runs what is left of a recursion that was stopped: what it reads, and its relations, are here. @throws as
  /// evaluate() @param stops that may change it; nothing ends it
  virtual void resume_stratum(std::size_t number, const stopped_recursion& from, const stratum_stops& stops) = 0;
  /// Offers rows to a complete relation; those that are new to it wait for continue_stratum(). @throws memory_fault
  virtual void append(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) = 0;
  /// Runs a complete recursion, the last stratum of the plan, semi-naively from what was appended to its relations.
  /// With options::continues. @throws as evaluate()
  virtual void continue_stratum(std::size_t number) = 0;
  /// options::reoptimize() did so for the stratum, which comes next, or that a side that shares the plan runs.
  virtual void take_over_plan(std::size_t number) = 0;
  /// The stratum was run by another executor: frees what was kept for it.
  virtual void skip_stratum(std::size_t number) = 0;
  /// Takes over the rows of a relation of which nothing is here. They are distinct, and copied. columns: on the host.
  /// @throws memory_fault
  virtual void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) = 0;
  /// Frees what is here of a relation.
  virtual void release(relation_id relation) = 0;
  /// What columns() gave of the relation is read no more.
  virtual void forget_columns(relation_id relation) = 0;
};

/// An executor on this machine's processors. plan, symbols and resource outlive it.
[[nodiscard]] std::unique_ptr<stratum_executor> make_cpu_executor(const plan::program& program,
                                                                  storage::symbol_table& symbols,
                                                                  backend::memory_resource& resource,
                                                                  const options& chosen);
/// The same without threads, for tests.
[[nodiscard]] std::unique_ptr<stratum_executor> make_serial_executor(const plan::program& program,
                                                                     storage::symbol_table& symbols,
                                                                     backend::memory_resource& resource,
                                                                     const options& chosen);

/// Loads the tuples that stand in the program text. @param wide nullptr: words have 32 bits
void load_facts(executor& target, const plan::program& program, storage::wide_values* wide);

}  // namespace gpulog::exec
