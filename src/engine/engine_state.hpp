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

/// What tells whether a file has changed.
struct file_version {
  std::filesystem::file_time_type written;
  std::uintmax_t bytes = 0;
  friend bool operator==(const file_version&, const file_version&) = default;
};
/// Nothing where there is no file.
[[nodiscard]] std::optional<file_version> version_of(const std::filesystem::path& path);

/// A run of a program. Loading comes before planning: the plan needs the sizes of the inputs. Its functions are in
/// files by subject: backend_choice.cpp, loading_and_writing.cpp (files), functors.cpp, run_figures.cpp (--stats),
/// evaluate_again.cpp (facts that change behind an evaluation), continue_evaluation.cpp (what goes on from them), and
/// the run itself.
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
  /// From evaluate() on: of the last evaluation.
  [[nodiscard]] const plan::program& planned() const { return current->plan(); }
  /// What its executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return current->running_plan(); }
  /// Whether an evaluation has the rows of the relation; not of one that nobody has needed yet.
  [[nodiscard]] bool has_results_of(std::uint32_t relation) const { return has_results() && homes[relation]; }
  [[nodiscard]] bool is_equivalence(std::uint32_t relation) const {
    return analysed().relations[relation].structure == sema::representation::eqrel;
  }
  [[nodiscard]] std::uint64_t rows(std::uint32_t relation) const;
  /// By column, of the rows that were loaded; empty when there are none.
  [[nodiscard]] std::vector<std::uint64_t> distinct_values(std::uint32_t relation, io::task_runner& run) const;
  /// The word of a row that was staged or, after evaluation, derived.
  [[nodiscard]] word at(std::uint32_t relation, std::uint64_t row, std::size_t column) const;
  /// After evaluation, not of an equivalence relation. @throws memory_limit_error
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation) const;
  /// Whether one of the rows is this one. @throws memory_limit_error
  [[nodiscard]] bool contains(std::uint32_t relation, std::span<const word> row);
  /// nullptr when words have 32 bits.
  [[nodiscard]] storage::wide_values* wide_or_none() const { return wide ? &*wide : nullptr; }

  /// @throws input_error while the program is being evaluated, and where that has failed
  void require_changeable(std::uint32_t relation) const;
  void require_changes() const;
  /// Finds proofs. @throws input_error where there are none to find
  [[nodiscard]] proof_search& proof_finder();
  /// Adds a row to those of the relation that were staged. @throws backend::memory_exceeded, and nothing is added
  void stage(std::uint32_t relation, const std::vector<word>& row);
  /// Takes a row away from the facts of the relation, if it is one of them.
  void erase(std::uint32_t relation, std::vector<word> row);
  /// Finds outputs that can't be written, before anything is loaded or computed. @throws input_error, output_error
  void check_outputs();
  void load();
  /// Of relations that were evaluated before, those whose facts have changed and what depends on them.
  void evaluate();
  void write();
  /// Back to where nothing is loaded.
  void reset();
  /// engine::change_program (change_program.cpp).
  [[nodiscard]] bool change_program(std::shared_ptr<const program_state> next);
  /// What is being done; from any thread.
  [[nodiscard]] std::optional<run_step> now(double patience);
  /// figures, with what the executor has measured. By who holds the monitor. @param is_live whether the run goes on
  [[nodiscard]] statistics snapshot(bool is_live);

  std::shared_ptr<const program_state> source;
  run_options options;
  tuning tuned;
  /// More threads than processors: oneTBB has to be told, else it warns and takes fewer.
  std::optional<tbb::global_control> more_threads;
  statistics figures;
  exec::run_monitor monitor;  ///< held while figures change
  double zero = 0;            ///< when the program began to be read, in seconds of the steady clock
  backend::host_memory memory;
  backend::named_memory symbol_memory{memory, "symbols"};
  backend::named_memory record_memory{memory, "records"};
  backend::named_memory wide_memory{memory, "values of 64 bits"};
  storage::symbol_table symbols;
  mutable storage::record_tables records;  ///< reading makes tables that are not there yet
  /// Of a program with words of 64 bits. Reading a record of a result may make codes.
  mutable std::optional<storage::wide_values> wide;
  functor_libraries libraries;
  std::vector<bool> needed;       ///< by relation: it is loaded and computed
  std::vector<bool> loaded;       ///< by relation: load() has read its files
  std::vector<bool> stale;        ///< by relation: its rows are not what its rules and facts say, as nobody needed them
  bool reads_files_once = false;  ///< load() reads those that were not needed before
  std::map<std::filesystem::path, std::optional<file_version>> files_read;  ///< as they were then
  std::optional<kernels::functor_table> functors;
  staged_facts staged;                  ///< since the last evaluation; insert() extends the last block
  std::vector<erased_rows> erased;      ///< by relation: since the last evaluation
  staged_facts kept;                    ///< facts of relations that have other rows as well (is_plain_input)
  std::atomic<wide_word> counter = 0;   ///< of autoinc()
  std::shared_ptr<evaluation> current;  ///< the last one
  /// By relation, from evaluate() on: the one that has its rows; nullptr: none yet.
  std::vector<std::shared_ptr<evaluation>> homes;
  std::vector<std::shared_ptr<evaluation>> latest;  ///< those that evaluate() ran last, in order
  std::shared_ptr<evaluation> continuing;           ///< the one that goes on with facts that are inserted, if any
  std::vector<bool> waiting;                        ///< relations that begin anew until it pays that they go on
  double seconds_anew = 0;                          ///< that this has taken
  std::uint64_t fact_files = 0;                     ///< that load() reads
  /// The files of .output directives; nothing where an output goes to a pipe, a device or standard output.
  std::map<const sema::io_directive*, std::optional<io::output_place>> output_places;
  std::vector<io::output_file> reports;  ///< begun, not written
  std::timed_mutex renewal_guard;        ///< held while a report is renewed
  bool is_reported = false;              ///< under the guard: no renewal may replace the last report
  std::unique_ptr<exec::run_listener> listener;
  std::unique_ptr<resource_timeline> timeline;  ///< of runs with report files
  std::unique_ptr<report_renewal> renewal;      ///< the last member but those of the device: it uses the others
  /// After evaluation, of relations that contains() was asked of; of equivalence relations, their classes.
  std::map<std::uint32_t, row_index> row_indexes;
  std::map<std::uint32_t, element_classes> classes;
  std::unique_ptr<proof_search> proofs;  ///< of the last evaluation; nullptr: none was asked for
  std::atomic<step> done = step::loading;
  /// Starts the device while facts are read; nullptr: none is asked for, or there is none.
  std::unique_ptr<device_start> device;
  /// Makes the executor in place of the chosen backend; for tests.
  std::function<std::unique_ptr<exec::executor>(const exec::options& chosen)> make_other_executor;

 private:
  void choose_backend();
  /// Where it must be known before the evaluation whether there is a device.
  void wait_for_device();
  /// @throws input_error for options that only a device has
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
  /// Checks what --place asks for. @throws input_error
  void require_places() const;
  [[nodiscard]] std::vector<value_range> values_in(const std::vector<plan::column_place>& columns) const;
  /// What an .output or .input directive is about.
  [[nodiscard]] io::write_request request_of(const sema::io_directive& directive) const;
  [[nodiscard]] bool is_written(const sema::relation& relation, const sema::io_directive& directive) const;
  /// Whatever makes writing impossible is found before the run. @throws input_error, output_error
  void prepare_outputs();
  void write_outputs(io::output_files& files);
  struct pending_output;
  [[nodiscard]] pending_output prepare_output(std::uint32_t relation, const sema::io_directive& directive);
  void write_output(pending_output& output, unsigned threads, io::output_files& files);
  void note_output(const pending_output& output, io::output_files& files);
  void write_alone(pending_output output, io::output_files& files);
  void write_together(std::vector<pending_output> outputs, io::output_files& files);
  /// Whether load() reads files for it.
  [[nodiscard]] bool is_loaded(std::uint32_t relation) const;
  void note_file(const std::string& relation, const std::map<std::string, std::string>& parameters);
  void load_directive(std::uint32_t relation, const sema::io_directive& directive, io::prefetched_files* ahead);
  [[nodiscard]] std::vector<std::filesystem::path> text_files() const;
  /// Where values are numbered while the program runs.
  void encode_values(const plan::statistics& known);
  [[nodiscard]] exec::options execution_options();
  [[nodiscard]] plan::statistics measure_facts() const;
  /// Plans what the current evaluation has. @return what the planner was told
  [[nodiscard]] plan::statistics plan_current(const plan::options& chosen);
  /// Evaluates a program, this one or a part of it, on what is staged. @param relations whose rows will be there
  void evaluate_staged(std::shared_ptr<const sema::program> part, const std::vector<bool>& relations);
  void evaluate_first();
  /// Runs an evaluation. Where it fails, the engine can only be reset.
  void attempt(const std::function<void()>& evaluating);
  void begin_figures();
  /// Figures that the last evaluation has left in them.
  void forget_evaluation();
  void begin_reports();
  [[nodiscard]] std::shared_ptr<const sema::program> first_program();
  [[nodiscard]] std::vector<word> row_of(const sema::fact& fact);
  void keep_facts(const sema::program& first);
  void stage_facts_of(std::uint32_t relation);
  void stage_results_of(std::uint32_t relation);
  void evaluate_again();
  /// Since the last evaluation, by relation.
  struct changes {
    std::vector<bool> changed;
    std::vector<bool> erased;    ///< lost facts, or has no rows here: it cannot be continued
    std::vector<bool> affected;  ///< these, and what may change with them, as far as it is needed
    std::vector<bool> left;      ///< what may change with them and is not needed now
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
  /// Whether an evaluation has all rows of the relation, not only those that were asked for.
  [[nodiscard]] bool is_complete(relation_id relation) const;
  [[nodiscard]] std::vector<bool> needed_now() const;
  void forget_query(std::uint32_t relation);
  void take_program(std::shared_ptr<const program_state> next);
  /// The rows of these relations are in the current evaluation.
  void move_home(const std::vector<bool>& relations);
  /// Orders the joins of a stratum again, which comes next. @return whether anything was planned again
  /// @param is_running between two iterations of its loop; else in front of it
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
  /// Runs a part of the run; where it fails, the reports are written as far as it came.
  template <class Work>
  void recorded(const Work& work);
  void end_unfinished(const char* state, const std::string& message);
  void load_files();
  /// What is known of a run before it begins. No renewal goes on.
  void begin_record();
  /// More is done after the record was written: there will be another one.
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

/// Of all runs of the process (gpulog/engine.hpp).
[[nodiscard]] std::string write_unfinished_reports(const std::string& why) noexcept;

/// @param doing for instance "loading relation a" @param memory the run's
[[nodiscard]] memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                               const backend::memory_resource& memory);

}  // namespace gpulog::detail
