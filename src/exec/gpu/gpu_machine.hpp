#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/gpu/running_sums.hpp"
#include "backend/gpu/trace_range.hpp"
#include "exec/calibration.hpp"
#include "exec/executor.hpp"
#include "exec/fixpoint/iteration_runner.hpp"
#include "exec/fixpoint/machine.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "exec/fixpoint/stratum_subsumptions.hpp"
#include "exec/gpu/device_record_tables.hpp"
#include "exec/gpu/device_rows.hpp"
#include "exec/gpu/parameter_store.hpp"
#include "exec/gpu/pinned_reports.hpp"
#include "exec/gpu/segment_memory.hpp"
#include "exec/matrix_stream.hpp"
#include "exec/strategies/products/product_run.hpp"
#include "exec/strategies/row_wise/row_search.hpp"
#include "exec/strategies/search/device_search.hpp"
#include "exec/strategies/search/takeover_search.hpp"
#include "kernels/join/device_program.hpp"
#include "kernels/join/table_operators.hpp"
#include "kernels/loop/phase_batch.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/steps/lookup_operator.hpp"
#include "storage/relation/device_relation.hpp"
#include "storage/relation/device_sample.hpp"
#include "storage/relation/largest_values.hpp"

namespace gpulog::kernels::gpu {
template <class Run>
struct row_degree;
struct asked_number;
}  // namespace gpulog::kernels::gpu

namespace gpulog::exec {

/// Runs pipelines on a device, segment by segment: a degree pass and a scan split the work by candidates, then one
/// fused kernel expands, filters, tests and inserts. Tables of bounded size hold the bindings between segments
/// (temporarily-materialized joins, in chunks).
class gpu_machine {
 public:
  using relation = storage::gpu::device_relation;
  using column_values = storage::gpu::column_values;
  using trace_range = backend::gpu::trace_range;
  static constexpr machine_abilities abilities = {.subsumptions = true,
                                                  .set_kinds = true,
                                                  .row_matrices = true,
                                                  .matrix_views = true,
                                                  .rows = true,
                                                  .batches = true,
                                                  .loops = true,
                                                  .streams = true,
                                                  .device_columns = true};
  /// The host computes texts.
  static constexpr bool leaves_steps_to_host = true;
  static constexpr bool ends_costly_runs = true;
  static constexpr bool ends_costly_products = false;
  static constexpr bool makes_other_searches = true;

  /// @param resource allocates on the device
  /// @param records the device's record tables; must outlive the machine
  /// @param host_threads for steps that the host executes
  /// @param cut thresholds between evaluation methods
  gpu_machine(backend::gpu::device_context& context, backend::memory_resource& resource, device_record_tables& records,
              unsigned host_threads, const cut_offs& cut);
  gpu_machine(const gpu_machine&) = delete;
  gpu_machine& operator=(const gpu_machine&) = delete;

  [[nodiscard]] std::unique_ptr<relation> make_relation(std::uint32_t arity, const options& chosen) {
    return std::make_unique<relation>(*context_, *resource_, arity, chosen.sets, &small_runs_);
  }
  void load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows);
  void adopt_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    small_runs_.flush();
    target.adopt(columns, rows);
  }
  /// Returns the exclusive bound of values that fit into a bitmap of a decomposed fixpoint.
  [[nodiscard]] std::uint64_t bitmap_values() const { return exec::bitmap_values(*context_); }
  std::optional<kernels::row_counts> run_search(const row_equations& task,
                                                const std::optional<kernels::value_steps>& values,
                                                kernels::relation_list<relation>& relations,
                                                const std::atomic<bool>* stop) {
    small_runs_.flush();
    return exec::run_search(*context_, *resource_, task, values, relations,
                            {cut_.numbered_step_rows, calibration::least_device_searches}, stop);
  }
  static constexpr std::string_view reusing_schedule = "row-takeover";
  [[nodiscard]] static std::uint64_t least_reused_rows() { return calibration::least_takeover_tuples; }
  [[nodiscard]] static bool has_numbers() { return false; }
  /// Searches that take over complete rows.
  /// @param bound returns the exclusive bound of the values if values serve directly as row numbers, else 0
  template <class Bound>
  std::optional<kernels::row_counts> run_reusing(const row_equations& task, const Bound& bound,
                                                 kernels::relation_list<relation>& relations, bool /*always*/,
                                                 const options& /*chosen*/) {
    small_runs_.flush();
    const takeover_cut_offs cut = {
        {cut_.numbered_step_rows, calibration::least_device_searches}, cut_.kept_row_words, cut_.block_row_bytes};
    return exec::run_takeover(*context_, *resource_, task, bound(), relations, cut);
  }
  static void materialize(relation& target) { target.materialize(); }
  static constexpr double matrix_work_of_row = calibration::asked_work_of_row;
  /// @param key columns of a semi-join by key; empty for lookups of tuples or rows
  static void make_lookup(relation& target, const std::vector<std::uint32_t>& key) { target.make_lookup(key); }
  static constexpr std::uint64_t least_product_tuples = calibration::least_device_product_tuples;
  /// @param bound exclusive bound of the task's values if values serve directly as row numbers, else 0
  std::optional<kernels::row_counts> run_products(const row_equations& task, std::uint64_t bound,
                                                  kernels::relation_list<relation>& relations, bool /*always*/,
                                                  const std::atomic<bool>* stop) {
    small_runs_.flush();
    return exec::run_products(*context_, *resource_, task, bound, relations,
                              {cut_.waited_row_seconds, cut_.kept_row_words}, stop);
  }
  static constexpr kernels::row_wise_cut_offs row_wise_pays = calibration::device_row_wise_pays;
  std::optional<std::vector<std::uint64_t>> run_row_wise(const kernels::row_wise_task& task,
                                                         kernels::relation_list<relation>& relations,
                                                         const kernels::row_wise_cut_offs& cut,
                                                         const std::atomic<bool>* stop) {
    small_runs_.flush();
    return exec::run_row_wise(*context_, *resource_, task, relations, cut, stop);
  }
  static constexpr kernels::row_wise_cut_offs added_row_wise_pays = calibration::device_added_row_wise_pays;
  /// Evaluates rules of versions row by row, in addition to the rows of the head.
  /// @return by rule: the number of candidates, or nothing if the rule was refused
  std::vector<std::optional<std::uint64_t>> add_rows(const kernels::row_wise_task& task,
                                                     kernels::relation_list<relation>& relations,
                                                     const std::atomic<bool>* stop) {
    small_runs_.flush();
    return exec::add_rows(*context_, *resource_, task, relations, added_row_wise_pays, refusals_, stop);
  }
  void forget_rows() { refusals_.forget(); }
  /// Returns the largest value of each column, or 0 for an empty column.
  [[nodiscard]] std::vector<word> largest_values(const std::vector<column_values>& columns) {
    return storage::gpu::largest_values(*context_, *resource_, columns);
  }
  [[nodiscard]] std::vector<storage::sampled_rows> sample_rows(const std::vector<storage::sampled_columns>& relations,
                                                               std::uint64_t wanted) {
    return storage::gpu::sample_rows(*context_, *resource_, relations, wanted);
  }
  /// Returns how many bytes a run without a limit may use.
  [[nodiscard]] std::uint64_t machine_bytes() const { return context_->memory_bytes(); }
  /// Adds a tuple set to a relation that was loaded without a set and now needs membership tests.
  void make_set(relation& target) {
    target.materialize();
    target.make_set();
  }
  void settle(relation& target) { target.settle(); }
  /// For relations whose tuple set keeps the best rows; the host runs all remaining strata with subsumption.
  class subsumptions {
   public:
    explicit subsumptions(relation& target) : target_(&target) {}
    [[nodiscard]] static std::uint64_t pairs(std::size_t) { return 0; }
    [[nodiscard]] static std::uint64_t removed(std::size_t) { return 0; }
    void purge(bool /*last*/) { finish(); }
    void step() { target_->compact_best(false); }
    void finish() {
      target_->compact_best(true);
      target_->complete();
    }

   private:
    relation* target_;
  };
  [[nodiscard]] std::unique_ptr<subsumptions> make_subsumptions(kernels::relation_list<relation>& relations,
                                                                std::size_t target,
                                                                const std::vector<bound_subsumption>& /*bound*/,
                                                                const std::atomic<bool>* /*stop*/) {
    return std::make_unique<subsumptions>(*relations[target]);
  }
  void refresh_index(relation& target, std::size_t index) { target.refresh_index(index); }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation& source) const {
    if (source.matrix() != nullptr) return std::make_unique<matrix_stream>(*source.matrix());
    return stream_device_rows(*context_, source);
  }
  [[nodiscard]] std::optional<columns_on_device> device_columns(relation& source) const {
    source.materialize();
    return device_columns_of(*context_, source);
  }
  [[nodiscard]] std::vector<const word*> host_columns(relation& source) {
    source.materialize();
    return source.host_columns();
  }
  void forget_host_columns(relation& source) { source.forget_host_columns(); }

  /// @throws kernels::arithmetic_fault, kernels::interrupted, backend::memory_exceeded, backend::gpu::device_error
  pipeline_counts run(const kernels::pipeline& program, kernels::relation_list<relation>& relations, std::uint64_t rows,
                      double expected_candidates, const std::atomic<bool>* stop);
  /// Runs independent versions of a phase: versions with few rows in one kernel, then all versions that need no
  /// intermediate answer from the device. Launches everything before reading the first report. Leaves the remaining
  /// versions, and versions with too little space, to run().
  /// @throws like run(), except for arithmetic faults
  void run_together(std::vector<phase_version>& versions, kernels::relation_list<relation>& relations,
                    const std::atomic<bool>* stop);
  [[nodiscard]] static double least_candidates_together() { return 0; }
  /// Creates a runner that executes the iterations of a stratum as one kernel while the iterations are small
  /// (gpu_loop.hpp). Relations and pipelines must outlive the runner.
  /// @return nullptr if the kernel does not support some version
  [[nodiscard]] std::unique_ptr<iteration_runner> make_iteration_runner(looped_stratum stratum,
                                                                        kernels::relation_list<relation>& relations);
  /// Returns whether a pipeline scans or joins factorized rows, which have no columns or indexes.
  [[nodiscard]] static bool reads_kept_rows(const kernels::pipeline& program,
                                            const kernels::relation_list<relation>& relations);

 private:
  /// The input rows of a segment: one column per register that the segment reads.
  struct input_rows {
    std::vector<const word*> columns;  // by register; null: not present
    std::uint64_t first = 0;           // first row of the columns
    std::uint64_t rows = 0;
  };
  struct launched;
  /// One run of one pipeline.
  struct running {
    const kernels::pipeline& program;
    kernels::relation_list<relation>& relations;
    double expected_candidates;
    const std::atomic<bool>* stop;
    pipeline_counts counts;
    /// Set if the report is read later.
    launched* later = nullptr;
  };
  /// A launched kernel whose report has not been read, with the arguments for a repeated launch.
  struct launched {
    explicit launched(backend::memory_resource& resource) : memory(resource) {}
    std::uint64_t report = 0;  ///< number of the report; 0: no kernel was launched
    kernels::gpu::expand_arguments arguments;
    segment_memory memory;  ///< of the kernel's matches
  };
  /// Versions with few rows, executed by one kernel (gpu_phase.cu).
  struct batch;
  void launch_large(std::vector<phase_version*>& versions, kernels::relation_list<relation>& relations,
                    const std::atomic<bool>* stop);
  void finish_large(std::vector<phase_version*>& versions, kernels::relation_list<relation>& relations,
                    const std::atomic<bool>* stop);
  [[nodiscard]] static bool needs_one_launch(const phase_version& version);
  void launch_batch(batch& all, kernels::relation_list<relation>& relations);
  void finish_batch(batch& all, kernels::relation_list<relation>& relations);
  /// Converts steps to device form and puts their arrays into the store.
  [[nodiscard]] std::vector<kernels::gpu::hash_step> steps_of(const std::vector<kernels::step>& steps,
                                                              kernels::relation_list<relation>& relations,
                                                              array_store& store);

  /// Runs a pipeline on its input rows.
  void run_from_start(running& run, std::uint64_t rows);
  /// Runs a pipeline after its scan, whose columns are the input.
  void run_from_rows(running& run, const input_rows& input);
  /// Returns the registers that segment `number` reads from the previous segment.
  [[nodiscard]] static std::vector<kernels::register_number> outputs_before(const kernels::pipeline& program,
                                                                            std::size_t number);
  /// Runs segment `number` (not the first) and all later segments on the bindings of the previous segment.
  void enter_segment(running& run, std::size_t number, const input_rows& input);
  /// Runs a chain of expansions and steps, fused into one kernel.
  void run_segment(running& run, std::size_t number, const input_rows& input);
  // Aggregates (gpu_folds.cpp).
  void run_fold(running& run, std::size_t number, const input_rows& input);
  void run_body(running& run, std::size_t number, const input_rows& input, std::uint64_t groups);
  void add_to_fold(running& run, std::size_t number, std::uint64_t capacity, std::uint64_t rows);
  /// For the last segment of a body that does not read the matching rows: folds their number.
  void fold_row_counts(running& run, std::size_t number, const input_rows& input,
                       kernels::gpu::expand_arguments& arguments);
  void unfold(running& run, std::size_t number, const input_rows& input, const std::uint32_t* representatives);
  // Segments that are not expansions (host_operators.cpp).
  void run_range(running& run, std::size_t number, const input_rows& input);
  void run_on_host(running& run, std::size_t number, const input_rows& input);
  void run_lookups(running& run, std::size_t number, const input_rows& input);
  /// Runs the lookups for a part of the input.
  /// @return the remaining rows, with the columns that the next segment reads
  [[nodiscard]] input_rows run_lookups_of(running& run, std::size_t number, const input_rows& part);
  /// Converts the segment's steps to device form.
  /// @param columns by register; receives the result columns
  /// @param results output space, one column per result
  [[nodiscard]] std::vector<kernels::gpu::lookup_step> lookup_steps_of(const running& run, const kernels::segment& here,
                                                                       std::vector<const word*>& columns,
                                                                       std::uint64_t rows, word* results);
  [[nodiscard]] kernels::gpu::lookup_step lookup_of_record(const running& run, const kernels::step& one,
                                                           const std::vector<const word*>& columns);
  [[nodiscard]] static kernels::gpu::lookup_step lookup_of_values(const running& run, const kernels::step& one,
                                                                  const std::vector<const word*>& columns);
  /// Returns a register of the table as 64-bit values.
  /// @param upper no_register if the register holds codes
  [[nodiscard]] static storage::gpu::value_column values_of(const running& run, const std::vector<const word*>& columns,
                                                            kernels::register_number lower,
                                                            kernels::register_number upper);
  segment_memory& memory_of(std::size_t number);
  /// Calls use(cells) with the cells of an aggregate, whose words have the program's size, after making space for
  /// `groups` groups.
  template <class Use>
  void with_cells(const kernels::pipeline& program, std::size_t fold, std::uint64_t groups, const Use& use);
  /// Warns at most once per run if a count or sum overflowed its word size.
  void say_what_wraps(const kernels::pipeline& program);
  /// Returns the values of a register in a table of bindings.
  /// @tparam Word the program's word type
  template <class Word>
  [[nodiscard]] kernels::gpu::row_values<Word> row_values_of(const running& run,
                                                             const std::vector<const word*>& columns,
                                                             kernels::register_number lower,
                                                             kernels::register_number upper) {
    kernels::gpu::row_values<Word> values{values_of(run, columns, lower, upper), nullptr};
    if (run.program.wide != nullptr) values.numbered = records_->of(run.program.wide->numbers()).fields();
    return values;
  }
  template <class Word>
  void run_range_of(running& run, std::size_t number, const input_rows& input);
  /// Returns rows [first, first + rows) of the input.
  [[nodiscard]] static input_rows part_of(const input_rows& input, std::uint64_t first, std::uint64_t rows);
  /// Puts the alternative searches of a match.
  /// @return false if a relation is empty, so that no row matches
  bool put_choices(running& run, const kernels::segment& here, const input_rows& input,
                   kernels::gpu::expand_arguments& arguments);
  /// The key columns of a search, and the constants among the keys.
  struct key_columns {
    const word* const* columns;
    const word* constants;
  };
  [[nodiscard]] key_columns put_keys(const running& run, const std::vector<kernels::register_number>& keys,
                                     const input_rows& input);
  // The matches of a segment (gpu_matches.cu).
  /// Returns the last segment of the multi-atom first match that starts at `number`, or `number` if no such match
  /// exists.
  [[nodiscard]] static std::size_t last_of_first_match(const running& run, std::size_t number);
  /// Puts the inner atoms of a first match, which the kernel runs as loops.
  void put_inner_atoms(running& run, std::size_t number, std::size_t last, kernels::gpu::expand_arguments& arguments);
  [[nodiscard]] kernels::gpu::row_degree<storage::gpu::run_view> degree_of(
      running& run, const kernels::segment& here, const input_rows& input,
      const kernels::gpu::expand_arguments& arguments, segment_memory& memory);
  // Joins with factorized rows, and scans of factorized rows (kept_matches.cu).
  [[nodiscard]] static bool matches_kept_rows(const kernels::segment& here,
                                              const kernels::relation_list<relation>& relations) {
    return here.kind == kernels::expansion_kind::match && relations[here.source]->matrix() != nullptr;
  }
  void match_kept_rows(running& run, std::size_t number, const input_rows& input,
                       kernels::gpu::expand_arguments& arguments);
  void find_kept_degrees(running& run, std::size_t number, const input_rows& input,
                         kernels::gpu::expand_arguments& arguments);
  [[nodiscard]] kernels::gpu::asked_number asked_number_of(running& run, const kernels::segment& here,
                                                           const input_rows& input,
                                                           const kernels::gpu::expand_arguments& arguments);
  /// Returns how many factorized rows to materialize at once.
  /// @param columns number of columns per row
  [[nodiscard]] std::uint64_t asked_rows_at_once(std::uint64_t columns) const;
  /// Converts a semi-join by key to a lookup of tuples.
  static void ask_by_key(kernels::gpu::hash_step& made, const kernels::step& one, const relation& source,
                         array_store& store);
  /// Runs a pipeline whose first scan reads all factorized rows.
  void scan_kept_rows(running& run);
  /// Computes the start of each input row's candidates from known degrees.
  void sum_degrees(running& run, std::size_t number, kernels::gpu::expand_arguments& arguments);
  segment_memory& make_room_for_degrees(running& run, std::size_t number, kernels::gpu::expand_arguments& arguments);
  /// Computes the number of matching rows per binding.
  void find_degrees(running& run, std::size_t number, const input_rows& input,
                    kernels::gpu::expand_arguments& arguments);
  /// Computes degrees and their sums; with several searches, uses the search with the fewest matches per row.
  void find_matches(running& run, std::size_t number, const input_rows& input,
                    kernels::gpu::expand_arguments& arguments);
  /// @param candidates all_candidates if only the device knows the sum of the matches
  void expand(running& run, std::size_t number, kernels::gpu::expand_arguments& arguments, std::uint64_t candidates);
  void insert_candidates(running& run, kernels::gpu::expand_arguments& arguments, std::uint64_t candidates);
  /// Appends to a relation without a tuple set. A run with a budget appends in pieces that the budget pays for.
  void append_candidates(running& run, kernels::gpu::expand_arguments& arguments, std::uint64_t candidates);
  /// Inserts a range of the candidates and counts the results, unless the kernel refused.
  backend::gpu::kernel_report insert_piece(running& run, kernels::gpu::expand_arguments& arguments, std::uint64_t first,
                                           std::uint64_t last);
  std::uint64_t launch_insertion(const running& run, kernels::gpu::expand_arguments& arguments, std::uint64_t first,
                                 std::uint64_t last);
  void table_candidates(running& run, std::size_t number, kernels::gpu::expand_arguments& arguments,
                        std::uint64_t candidates, const std::vector<kernels::register_number>& outputs);
  void use_table(running& run, std::size_t number, const std::vector<kernels::register_number>& outputs,
                 std::uint64_t capacity, std::uint64_t rows);
  void make_space(const kernels::pipeline& program, relation& target, std::uint64_t candidates);
  /// Runs the kernel on candidates [first, last).
  /// @return the number of its report
  template <kernels::gpu::sink Sink>
  std::uint64_t launch(const running& run, kernels::gpu::expand_arguments& arguments, std::uint64_t first,
                       std::uint64_t last);
  /// @throws kernels::arithmetic_fault
  [[nodiscard]] backend::gpu::kernel_report report_of(std::uint64_t number);
  /// Takes the work of a kernel from the budget of the run.
  /// @throws kernels::over_budget
  static void spend(const running& run, std::uint64_t bindings, std::uint64_t candidates, std::uint64_t fresh) {
    kernels::work_budget* const budget = run.program.budget;
    if (budget != nullptr) budget->spend(static_cast<double>(bindings) + budget->cost_of_results(candidates, fresh));
  }

  backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  cut_offs cut_;
  device_record_tables* records_;
  backend::cpu::tbb_backend host_;
  std::vector<std::unique_ptr<segment_memory>> segments_;
  /// Collects refreshes of small indexes between phases; the next phase builds all in one launch.
  storage::gpu::small_run_builder small_runs_;
  parameter_store parameters_;
  backend::gpu::running_sums sums_;
  backend::array<std::uint32_t> fault_;
  backend::array<std::uint32_t> finished_blocks_;
  backend::array<std::uint64_t> looked_at_;     // counted by first matches
  backend::array<std::uint64_t> wraps_around_;  // one counter for all aggregates
  backend::array<kernels::gpu::lookup_counters> lookup_counters_;
  // State of batches.
  std::unique_ptr<pinned_reports> batch_reports_;
  backend::array<kernels::gpu::batch_outcome> batch_outcomes_;
  std::vector<std::unique_ptr<launched>> launched_;  // versions of a phase, reused from phase to phase
  /// By pipeline: the maximum number of rows for a batch, lowered after a batch refused the pipeline.
  std::unordered_map<const kernels::pipeline*, std::uint64_t> batch_rows_;
  row_refusals refusals_;
};

static_assert(fixpoint_machine<gpu_machine>);

}  // namespace gpulog::exec
