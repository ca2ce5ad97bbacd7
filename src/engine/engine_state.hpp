#pragma once

#include <tbb/global_control.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/memory_resource.hpp"
#include "engine/device_start.hpp"
#include "engine/evaluation.hpp"
#include "engine/figures/plan_figures.hpp"
#include "engine/figures/report_renewal.hpp"
#include "engine/figures/resource_timeline.hpp"
#include "engine/functor_libraries.hpp"
#include "engine/program_state.hpp"
#include "engine/rows/column_statistics.hpp"
#include "engine/rows/membership.hpp"
#include "engine/rows/staged_rows.hpp"
#include "engine/tuning.hpp"
#include "exec/executor.hpp"
#include "exec/run_monitor.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "gpulog/statistics.hpp"
#include "io/files/output_files.hpp"
#include "io/files/prefetched_files.hpp"
#include "io/relation_writer.hpp"
#include "plan/plan.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::detail {

class proof_search;

/// Properties of a file that show whether it changed.
struct file_version {
  std::filesystem::file_time_type written;
  std::uintmax_t bytes = 0;
  friend bool operator==(const file_version&, const file_version&) = default;
};
/// @return nothing if the file does not exist
[[nodiscard]] std::optional<file_version> version_of(const std::filesystem::path& path);

/// A run of a program. Loading precedes planning because the plan depends on the sizes of the inputs. The member
/// functions are in separate files by subject: backend_choice.cpp, loading_and_writing.cpp (files), functors.cpp,
/// run_figures.cpp (--stats), evaluate_again.cpp (changed facts after an evaluation), continue_evaluation.cpp
/// (continuation from inserted facts), and the run itself.
struct engine_state : std::enable_shared_from_this<engine_state> {
  enum class step : std::uint8_t { loading, evaluating, failed, evaluated, written };

  engine_state(std::shared_ptr<const program_state> source, run_options chosen);
  ~engine_state();
  engine_state(const engine_state&) = delete;
  engine_state& operator=(const engine_state&) = delete;

  [[nodiscard]] bool has_results() const {
    const step now = done;
    return now == step::evaluated || now == step::written;
  }
  [[nodiscard]] const sema::program& analysed() const { return *source->analysed; }
  /// Returns the plan of the last evaluation; valid after evaluate().
  [[nodiscard]] const plan::program& planned() const { return current->plan(); }
  /// Returns the plan that the executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return current->running_plan(); }
  /// Returns whether some evaluation holds the rows of the relation; false if the relation was never needed.
  [[nodiscard]] bool has_results_of(std::uint32_t relation) const { return has_results() && homes[relation]; }
  [[nodiscard]] bool is_equivalence(std::uint32_t relation) const {
    return analysed().relations[relation].structure == sema::representation::eqrel;
  }
  [[nodiscard]] std::uint64_t rows(std::uint32_t relation) const;
  /// Returns the number of distinct values in each column of the loaded rows; empty without rows.
  [[nodiscard]] std::vector<std::uint64_t> distinct_values(std::uint32_t relation, io::task_runner& run) const;
  /// Returns a word of a staged row or, after the evaluation, of a derived row.
  [[nodiscard]] word at(std::uint32_t relation, std::uint64_t row, std::size_t column) const;
  /// Returns the columns after the evaluation. Not valid for equivalence relations.
  /// @throws memory_limit_error
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation) const;
  /// Returns whether the relation contains the row.
  /// @throws memory_limit_error
  [[nodiscard]] bool contains(std::uint32_t relation, std::span<const word> row);
  /// Returns nullptr for 32-bit programs.
  [[nodiscard]] storage::wide_values* wide_or_none() const { return wide ? &*wide : nullptr; }

  /// @throws input_error during an evaluation, and after an evaluation failed
  void require_changeable(std::uint32_t relation) const;
  void require_changes() const;
  /// Returns the search for proofs.
  /// @throws input_error without run_options::proofs, and before the evaluation
  [[nodiscard]] proof_search& proof_finder();
  /// Appends a row to the staged rows of the relation.
  /// @throws backend::memory_exceeded without any effect
  void stage(std::uint32_t relation, const std::vector<word>& row);
  /// Removes a row from the facts of the relation; no effect if the row is no fact.
  void erase(std::uint32_t relation, std::vector<word> row);
  /// Finds outputs that can't be written, before anything is loaded or computed. @throws input_error, output_error
  void check_outputs();
  void load();
  /// Evaluates the program. After the first evaluation, only relations with changed facts and their dependents are
  /// evaluated.
  void evaluate();
  void write();
  /// Returns to the state before any facts were loaded.
  void reset();
  /// Implements engine::change_program (change_program.cpp).
  [[nodiscard]] bool change_program(std::shared_ptr<const program_state> next);
  /// Returns the current step. Thread-safe.
  [[nodiscard]] std::optional<run_step> now(double patience);
  /// Returns `figures` together with the measurements of the executor. The caller holds the monitor.
  /// @param is_live whether the run is still in progress
  [[nodiscard]] statistics snapshot(bool is_live);

  std::shared_ptr<const program_state> source;
  run_options options;
  tuning tuned;
  /// Allows more threads than processors: otherwise oneTBB would warn and use fewer threads.
  std::optional<tbb::global_control> more_threads;
  statistics figures;
  exec::run_monitor monitor;  ///< held while figures change
  double zero = 0;            ///< time at which the run began to read the program, in seconds of the steady clock
  backend::host_memory memory;
  backend::named_memory symbol_memory{memory, "symbols"};
  backend::named_memory record_memory{memory, "records"};
  backend::named_memory wide_memory{memory, "values of 64 bits"};
  storage::symbol_table symbols;
  mutable storage::record_tables records;  ///< mutable: reading creates missing tables
  /// The values of a 64-bit program. Reading a record from a result may add codes.
  mutable std::optional<storage::wide_values> wide;
  functor_libraries libraries;
  std::vector<bool> needed;       ///< by relation: whether the relation is loaded and computed
  std::vector<bool> loaded;       ///< by relation: whether load() has read its files
  std::vector<bool> stale;        ///< by relation: whether its rows are outdated because no output needed them
  bool reads_files_once = false;  ///< load() reads files of relations that were not needed before
  /// Versions of the files when they were read.
  std::map<std::filesystem::path, std::optional<file_version>> files_read;
  std::optional<kernels::functor_table> functors;
  staged_facts staged;                  ///< rows since the last evaluation; insert() extends the last block
  std::vector<erased_rows> erased;      ///< by relation: rows erased since the last evaluation
  staged_facts kept;                    ///< facts of relations that also have derived rows (see is_plain_input)
  std::atomic<wide_word> counter = 0;   ///< for autoinc()
  std::shared_ptr<evaluation> current;  ///< the last one
  /// By relation: the evaluation that holds its rows; nullptr: none yet. Empty before the first evaluation.
  std::vector<std::shared_ptr<evaluation>> homes;
  std::vector<std::shared_ptr<evaluation>> latest;  ///< evaluations of the last evaluate(), in order
  std::shared_ptr<evaluation> continuing;           ///< the evaluation continued with inserted facts, if any
  std::vector<bool> waiting;                        ///< relations evaluated anew until continuing is worthwhile
  double seconds_anew = 0;                          ///< total seconds for relations in `waiting`
  std::uint64_t fact_files = 0;                     ///< number of files that load() reads
  /// The files of .output directives; nothing where an output goes to a pipe, a device or standard output.
  std::map<const sema::io_directive*, std::optional<io::output_place>> output_places;
  std::vector<io::output_file> reports;  ///< started reports that are not yet written
  std::timed_mutex renewal_guard;        ///< held while a report is renewed
  bool is_reported = false;              ///< guarded: renewals must not replace the last report
  std::unique_ptr<exec::run_listener> listener;
  std::unique_ptr<resource_timeline> timeline;  ///< for runs with report files
  std::unique_ptr<report_renewal> renewal;      ///< declared after all members it uses, except the device's
  /// Indexes of relations for contains(), after the evaluation; `classes` holds those of equivalence relations.
  std::map<std::uint32_t, row_index> row_indexes;
  std::map<std::uint32_t, element_classes> classes;
  std::unique_ptr<proof_search> proofs;  ///< for the last evaluation; nullptr: not yet requested
  std::atomic<step> done = step::loading;
  /// Starts the device while facts are read; nullptr if no device is requested or available.
  std::unique_ptr<device_start> device;
  /// Replaces the executor of the chosen backend in tests.
  std::function<std::unique_ptr<exec::executor>(const exec::options& chosen)> make_other_executor;

 private:
  void choose_backend();
  /// Waits for the device if options depend on the availability of a device.
  void wait_for_device();
  /// @throws input_error for options that require a device
  void require_cpu_options() const;
  void find_functors();
  /// The function of a library that a rule calls. @throws input_error
  [[nodiscard]] void* function_of(const user_functor& described, const sema::rule& caller);
  /// @throws input_error for a functor of the caller that the program does not declare
  void require_declared_functors() const;
  /// @throws input_error
  void require_callable(const user_functor& described, const registered_functor& function);
  [[nodiscard]] std::unique_ptr<exec::executor> make_executor(const exec::options& chosen);
  [[nodiscard]] std::unique_ptr<exec::executor> make_device_executor(const exec::options& chosen);
  /// Checks the arguments of --place.
  /// @throws input_error
  void require_places() const;
  [[nodiscard]] std::vector<value_range> values_in(const std::vector<plan::column_place>& columns) const;
  /// Returns the request that an .output or .input directive describes.
  [[nodiscard]] io::write_request request_of(const sema::io_directive& directive) const;
  [[nodiscard]] bool is_written(const sema::relation& relation, const sema::io_directive& directive) const;
  /// Checks before the run that all outputs can be written.
  /// @throws input_error, output_error
  void prepare_outputs();
  void write_outputs(io::output_files& files);
  struct pending_output;
  [[nodiscard]] pending_output prepare_output(std::uint32_t relation, const sema::io_directive& directive);
  void write_output(pending_output& output, unsigned threads, io::output_files& files);
  void note_output(const pending_output& output, io::output_files& files);
  void write_alone(pending_output output, io::output_files& files);
  void write_together(std::vector<pending_output> outputs, io::output_files& files);
  /// Returns whether load() reads files for the relation.
  [[nodiscard]] bool is_loaded(std::uint32_t relation) const;
  void note_file(const std::string& relation, const std::map<std::string, std::string>& parameters);
  void load_directive(std::uint32_t relation, const sema::io_directive& directive, io::prefetched_files* ahead);
  [[nodiscard]] std::vector<std::filesystem::path> text_files() const;
  /// Replaces values by numbers for the duration of the run, if this is worthwhile.
  void encode_values(const plan::statistics& known);
  [[nodiscard]] exec::options execution_options();
  [[nodiscard]] plan::statistics measure_facts() const;
  /// Plans the program of the current evaluation.
  /// @return the statistics passed to the planner
  [[nodiscard]] plan::statistics plan_current(const plan::options& chosen);
  /// Evaluates a program, or a part of it, on the staged rows.
  /// @param relations relations whose rows the evaluation will hold
  void evaluate_staged(std::shared_ptr<const sema::program> part, const std::vector<bool>& relations);
  void evaluate_first();
  /// Runs an evaluation. After a failure the engine can only be reset.
  void attempt(const std::function<void()>& evaluating);
  void begin_figures();
  /// Clears figures of the last evaluation.
  void forget_evaluation();
  void begin_reports();
  [[nodiscard]] std::shared_ptr<const sema::program> first_program();
  [[nodiscard]] std::vector<word> row_of(const sema::fact& fact);
  void keep_facts(const sema::program& first);
  void stage_facts_of(std::uint32_t relation);
  void stage_results_of(std::uint32_t relation);
  void evaluate_again();
  /// The changes since the last evaluation, by relation.
  struct changes {
    std::vector<bool> changed;
    std::vector<bool> erased;    ///< lost facts or holds no rows: cannot be continued
    std::vector<bool> affected;  ///< changed or dependent, and needed
    std::vector<bool> left;      ///< changed or dependent, but not needed now
  };
  [[nodiscard]] changes find_changes() const;
  void evaluate_changes(const changes& now);
  void begin_anew(const std::vector<bool>& relations);
  [[nodiscard]] std::vector<bool> growing_now(const changes& now);
  void forget_stale(const std::vector<bool>& anew);
  [[nodiscard]] bool inserts_little(const std::vector<bool>& growing) const;
  [[nodiscard]] bool pays_to_take_over(const std::vector<bool>& growing) const;
  void note_seconds_anew();
  void take_over(const changes& now, const std::vector<bool>& growing);
  void hand_over_results();
  void go_on(const std::vector<bool>& growing);
  [[nodiscard]] std::vector<bool> with_incomplete(std::vector<bool> affected) const;
  /// Returns whether an evaluation holds all rows of the relation instead of only the requested ones.
  [[nodiscard]] bool is_complete(relation_id relation) const;
  [[nodiscard]] std::vector<bool> needed_now() const;
  void forget_query(std::uint32_t relation);
  void take_program(std::shared_ptr<const program_state> next);
  /// Registers the current evaluation as the holder of the relations' rows.
  void move_home(const std::vector<bool>& relations);
  /// Reorders the joins of the next stratum.
  /// @param is_running true between two iterations of the stratum's loop; false before the stratum
  /// @return whether the plan changed
  [[nodiscard]] bool reoptimize(std::size_t stratum, bool is_running);
  [[nodiscard]] std::vector<relation_id> abandon(std::size_t stratum, relation_id supplementary);
  void take_over_plan(std::size_t stratum);
  void hand_over_staged_rows();
  [[nodiscard]] bool may_load_pieces(std::uint32_t relation) const;
  void collect_figures();
  void add_running_step(const plan::stratum& planned, stratum_statistics& stratum) const;
  void collect_strata(statistics& into, bool is_live);
  [[nodiscard]] stratum_statistics figures_of(const evaluation& measured, const exec::stratum_statistics& from,
                                              std::size_t number, const std::string& backend, bool is_live) const;
  void add_device_start(statistics& into, double now) const;
  /// Runs a step of the run; after a failure writes the reports with the figures up to that point.
  template <class Work>
  void recorded(const Work& work);
  void end_unfinished(const char* state, const std::string& message);
  void load_files();
  /// Records the known facts about a run before it begins. No renewal may be active.
  void begin_record();
  /// Prepares another record because work follows after the record was written.
  void continue_record();
  void list_as_running();
  void end_renewal();
  void end_record();
  void write_files();
  [[nodiscard]] run_step step_now() const;
  [[nodiscard]] bool has_watchers() const;
  friend class report_renewal;
  friend std::string write_unfinished_reports(const std::string& why) noexcept;
};

template <class Work>
void engine_state::recorded(const Work& work) {
  const exec::run_monitor::holding held(monitor);
  try {
    work();
  } catch (const cancelled_error& fault) {
    end_unfinished("interrupted", fault.what());
    throw;
  } catch (const std::exception& fault) {
    end_unfinished("failed", fault.what());
    throw;
  }
}

/// Writes the reports of all unfinished runs of the process (gpulog/engine.hpp).
[[nodiscard]] std::string write_unfinished_reports(const std::string& why) noexcept;

/// Returns the error for a run that exceeded its memory.
/// @param doing for instance "loading relation a"
/// @param memory the memory of the run
[[nodiscard]] memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                               const backend::memory_resource& memory);

}  // namespace gpulog::detail
