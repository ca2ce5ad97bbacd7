#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/cpu/matrix_scan.hpp"
#include "exec/cpu/pipeline_run.hpp"
#include "exec/cpu/row_inserter.hpp"
#include "exec/cpu/run_memory.hpp"
#include "exec/executor.hpp"
#include "exec/fixpoint/machine.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "exec/fixpoint/subsumption.hpp"
#include "exec/matrix_stream.hpp"
#include "kernels/join/copied_columns.hpp"
#include "kernels/join/searched_indexes.hpp"
#include "kernels/join/tile_runner.hpp"
#include "kernels/products/host_products.hpp"
#include "kernels/row_wise/row_wise.hpp"
#include "kernels/search/condensed.hpp"
#include "kernels/search/numbered.hpp"
#include "kernels/steps/functor_table.hpp"
#include "storage/calibration.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Runs pipelines on the host's processors: the backend's workers process tiles of bindings.
template <class Backend>
class cpu_machine {
 public:
  using relation = storage::relation;
  static constexpr machine_abilities abilities = {.choices = true,
                                                  .equivalences = true,
                                                  .subsumptions = true,
                                                  .lattices = true,
                                                  .priority_delta = true,
                                                  .set_kinds = true,
                                                  .present_bounds = true,
                                                  .full_relations = true,
                                                  .row_matrices = true,
                                                  .rows = true,
                                                  .orders_rows = true,
                                                  .batches = true,
                                                  .memories = true,
                                                  .several_indexes = true,
                                                  .late_indexes = true,
                                                  .keeps_runs = true,
                                                  .timed_candidates = true,
                                                  .streams = true};
  static constexpr bool leaves_steps_to_host = false;
  /// Whether runs that exceed a budget end early, so that no estimate is necessary.
  static constexpr bool ends_costly_runs = true;
  /// Whether row products end early if they cost more than the loop.
  static constexpr bool ends_costly_products = true;
  static constexpr bool makes_other_searches = true;
  struct column_values {
    const word* values = nullptr;
    std::uint64_t rows = 0;
  };
  /// A named range in a profiler's timeline; only devices have an implementation.
  struct trace_range {
    explicit trace_range(const std::string&) {}
  };

  template <class... Arguments>
  explicit cpu_machine(backend::memory_resource& resource, const cut_offs& cut, Arguments&&... backend)
      : backend_(std::forward<Arguments>(backend)...),
        resource_(&resource),
        cut_(cut),
        scratch_(backend_.workers()),
        row_store_(backend_, resource) {
    for (auto& one : scratch_) one = std::make_unique<kernels::tile_scratch>(resource);
  }

  [[nodiscard]] std::unique_ptr<relation> make_relation(std::uint32_t arity, const options& chosen) {
    storage::relation_options options_of_relation;
    options_of_relation.mode = chosen.storage;
    options_of_relation.buffers = chosen.buffers;
    options_of_relation.sets = chosen.sets;
    options_of_relation.workers = backend_.workers();
    options_of_relation.wide = chosen.wide;
    if (cut_.candidate_rows != 0) {
      options_of_relation.candidate_rows = cut_.candidate_rows;
    } else if (resource_->limit() != 0) {
      // Candidates and sort buffers may take an eighth of the memory.
      constexpr std::uint64_t bytes_per_candidate = 64;
      options_of_relation.candidate_rows = std::clamp<std::uint64_t>(resource_->limit() / 8 / bytes_per_candidate,
                                                                     1u << 12, options_of_relation.candidate_rows);
    }
    return std::make_unique<relation>(*resource_, arity, options_of_relation);
  }

  void load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    row_inserter<Backend>(backend_, scratch_, cut_.range_elements).load(target, columns, rows);
  }

  /// Loads distinct rows into a relation that is only read.
  /// @param lasts whether the columns stay valid and unchanged as long as the relation
  void adopt_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts = false) {
    if (target.as_equivalence() != nullptr) {
      load_rows(target, columns, rows);
      target.settle(backend_);
      return target.complete();
    }
    target.adopt(columns, rows, lasts);
  }

  /// Returns the exclusive bound of values that fit into a bitmap of a decomposed fixpoint.
  [[nodiscard]] static std::uint64_t bitmap_values() { return kernels::most_bitmap_values; }
  /// Returns whether the current stratum has a graph of numbers with enough searches to use it.
  [[nodiscard]] bool has_numbers() const { return numbered_.has_value() && numbered_->sources >= backend_.workers(); }
  std::optional<kernels::row_counts> run_search(const row_equations& task,
                                                const std::optional<kernels::value_steps>& values,
                                                kernels::relation_list<relation>& relations,
                                                const std::atomic<bool>* stop) {
    auto numbered = std::exchange(numbered_, std::nullopt);
    if (values) return kernels::run_decomposed(backend_, *resource_, task, *values, relations, stop);
    return kernels::run_numbered(backend_, *resource_, task, relations,
                                 {cut_.numbered_step_rows, backend_.workers(), cut_.range_elements}, stop,
                                 std::move(numbered));
  }
  static constexpr std::string_view reusing_schedule = "condensation";
  [[nodiscard]] std::uint64_t least_reused_rows() const { return cut_.condensed_rows; }
  /// Runs over the strongly connected components of the graph.
  /// @param always even if searches are expected to be faster
  template <class Bound>
  std::optional<kernels::row_counts> run_reusing(const row_equations& task, const Bound& /*bound*/,
                                                 kernels::relation_list<relation>& relations, bool always,
                                                 const options& chosen) {
    const kernels::condensation_cut_offs cut = {.step_rows = cut_.numbered_step_rows,
                                                .met_by_row = calibration::least_met_by_row,
                                                .row_words = calibration::host_row_words_per_second,
                                                .searched = calibration::host_searched_per_second,
                                                .samples = calibration::sampled_searches,
                                                .sample_share = calibration::sample_share,
                                                .least_sample_values = calibration::least_sample_values,
                                                .range = cut_.range_elements,
                                                .always = always};
    return kernels::run_condensed(backend_, *resource_, task, relations, cut, chosen.strip_counters, chosen.stop,
                                  numbered_);
  }
  void materialize(relation& target) { target.materialize(backend_); }
  static constexpr double matrix_work_of_row = calibration::searched_steps_of_row;
  /// Streams a matrix; returns nullptr for relations with columns.
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(const relation& source) {
    if (source.matrix() == nullptr) return nullptr;
    return std::make_unique<matrix_stream>(*source.matrix());
  }
  static constexpr std::uint64_t least_product_tuples = calibration::least_host_product_tuples;
  /// @param bound exclusive bound of the task's values if values serve directly as row numbers, else 0
  /// @param always even with few results
  std::optional<kernels::row_counts> run_products(const row_equations& task, std::uint64_t bound,
                                                  kernels::relation_list<relation>& relations, bool always,
                                                  const std::atomic<bool>* stop) {
    const std::uint64_t most_bytes = machine_bytes() / calibration::product_table_share;
    kernels::product_steps most;
    if (!always) {
      most = {calibration::steps_of_product_pair, calibration::steps_of_product_tuple,
              calibration::table_bytes_of_product_pair};
    }
    return kernels::run_products(backend_, *resource_, task, bound, most_bytes, most, relations, stop);
  }
  static constexpr kernels::row_wise_cut_offs row_wise_pays = calibration::host_row_wise_pays;
  std::optional<std::vector<std::uint64_t>> run_row_wise(const kernels::row_wise_task& task,
                                                         kernels::relation_list<relation>& relations,
                                                         const kernels::row_wise_cut_offs& cut,
                                                         const std::atomic<bool>* stop) {
    try {
      auto candidates = kernels::run_row_wise(backend_, *resource_, row_store_, task, relations, cut, stop);
      forget_rows();
      return candidates;
    } catch (const backend::memory_exceeded&) {
      forget_rows();
      throw;
    }  // after over_budget, a run with a larger budget needs the same inputs
  }
  static constexpr kernels::row_wise_cut_offs added_row_wise_pays = calibration::host_added_row_wise_pays;
  /// Evaluates rules of versions row by row, in addition to the rows of the head.
  /// @return by rule: the number of candidates, or nothing if the rule was not evaluated
  std::vector<std::optional<std::uint64_t>> add_rows(const kernels::row_wise_task& task,
                                                     kernels::relation_list<relation>& relations,
                                                     const std::atomic<bool>* stop) {
    return kernels::add_rows(backend_, *resource_, row_store_, task, relations, added_row_wise_pays, stop);
  }
  void forget_rows() { row_store_.forget(); }
  /// Adds a tuple set to a relation that was loaded without a set and now needs membership tests.
  void make_set(relation& target) {
    materialize(target);
    const std::uint64_t rows = target.rows();
    const auto taken = target.take_rows();
    std::vector<const word*> columns;
    for (const auto& column : taken) columns.push_back(column.data());
    load_rows(target, columns, rows);
    settle(target);
    target.complete();
  }

  void settle(relation& target) { target.settle(backend_); }
  void refresh_index(relation& target, std::size_t index) { target.refresh_index(backend_, index); }
  /// Calls action(number) for each number below n, on several processors; each call may use all processors.
  template <class Action>
  void each_at_once(std::size_t n, const Action& action) {
    backend_.for_each_tile(
        n, 1, [&](unsigned, std::uint64_t number, std::uint64_t) { action(static_cast<std::size_t>(number)); });
  }
  [[nodiscard]] std::vector<const word*> host_columns(relation& source) {
    materialize(source);
    source.write_out();
    return source.columns();
  }
  void forget_host_columns(relation& source) { source.forget_written(); }

  [[nodiscard]] std::vector<storage::sampled_rows> sample_rows(const std::vector<storage::sampled_columns>& relations,
                                                               std::uint64_t wanted) {
    std::vector<storage::sampled_rows> samples(relations.size());
    backend_.for_each_tile(relations.size(), 1, [&](unsigned, std::uint64_t number, std::uint64_t) {
      const auto place = static_cast<std::size_t>(number);
      samples[place] = storage::sample_rows(relations[place].columns, relations[place].rows, wanted);
    });
    return samples;
  }

  /// Returns the largest value of each column, or 0 for an empty column.
  [[nodiscard]] std::vector<word> largest_values(const std::vector<column_values>& columns) {
    std::vector<word> largest;
    for (const column_values& column : columns) {
      std::vector<word> found(backend_.workers(), 0);
      backend_.for_each_tile(column.rows, 1u << 16, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        word own = found[worker];
        // Compilers vectorize this loop, but not std::max_element.
        for (std::uint64_t row = begin; row < end; ++row) own = std::max(own, column.values[row]);
        found[worker] = own;
      });
      largest.push_back(*std::max_element(found.begin(), found.end()));
    }
    return largest;
  }
  /// Returns how many bytes a run without a limit may use.
  [[nodiscard]] std::uint64_t machine_bytes() const { return backend::machine_bytes(); }

  using subsumptions = subsumption_runner<Backend>;
  [[nodiscard]] std::unique_ptr<subsumptions> make_subsumptions(kernels::relation_list<relation>& relations,
                                                                std::size_t target,
                                                                std::vector<bound_subsumption> bound,
                                                                const std::atomic<bool>* stop) {
    return std::make_unique<subsumptions>(backend_, *resource_, scratch_, relations, target, std::move(bound), stop);
  }

  /// Stores results of aggregates that stay valid with the pipeline.
  void remember_windows(kernels::pipeline& program) {
    program.windows = std::make_shared<kernels::run_windows>(program, *resource_);
  }

  void remember_folds(kernels::pipeline& program) { program.folded = kernels::memory_of_folds(program, *resource_); }

  /// Expected candidates per second of a worker; estimates the work of a version that reads many rows and finds few.
  static constexpr double candidates_a_second = calibration::host_offered_per_second;

  /// Expected candidates of versions below which none are run beside each other.
  [[nodiscard]] double least_candidates_together() const {
    return backend_.workers() == 1 ? std::numeric_limits<double>::infinity() : cut_.together_candidates;
  }
  /// Runs versions at the same time, a small version with one worker. A version with a fault is left, and fails again
  /// in its separate run.
  void run_together(std::vector<phase_version>& versions, kernels::relation_list<relation>& relations,
                    const std::atomic<bool>* stop) {
    std::vector<phase_version*> together;
    double expected = 0;
    for (phase_version& version : versions) {
      if (!can_join(version, versions, relations)) continue;
      together.push_back(&version);
      expected += version.expected_candidates;
    }
    if (together.size() < 2 || expected < cut_.together_candidates) return;
    // The longest versions first, so that workers end together.
    std::sort(together.begin(), together.end(), [](const phase_version* a, const phase_version* b) {
      return a->expected_candidates > b->expected_candidates;
    });
    for (const phase_version* version : together) kernels::refresh_searched(*version->program, relations);
    const bool has_large = together.front()->expected_candidates >= cut_.parallel_candidates;
    const unsigned workers =
        means().workers_for(expected, has_large ? cut_.parallel_candidates : cut_.together_candidates);
    // one gate for all, because versions read relations that further versions extend
    kernels::worker_gate gate(workers);
    auto pool = backend_.make_pool(workers);
    std::vector<std::unique_ptr<pipeline_run<Backend>>> runs;
    for (const phase_version* version : together) {
      runs.push_back(std::make_unique<pipeline_run<Backend>>(means(), *version->program, relations, stop));
      runs.back()->join(pool, gate);
    }
    const double piece = std::min(expected / (workers * 8.0), cut_.parallel_candidates);
    pool.run([&](unsigned) {
      for (std::size_t begin = 0, end = 0; begin < together.size(); begin = end) {
        // Tiny versions share an action.
        for (double filled = 0; end < together.size() && filled <= piece; ++end)
          filled += together[end]->expected_candidates;
        pool.add([&runs, &together, begin, end](unsigned worker) {
          for (std::size_t i = begin; i < end; ++i) runs[i]->run_joined(worker, *together[i]);
        });
      }
    });
    for (std::size_t i = 0; i < together.size(); ++i) runs[i]->end_joined(*together[i]);
  }

  pipeline_counts run(const kernels::pipeline& program, kernels::relation_list<relation>& relations, std::uint64_t rows,
                      double expected_candidates, const std::atomic<bool>* stop) {
    std::shared_ptr<void> kept;
    return run(program, relations, rows, expected_candidates, stop, kept);
  }
  /// @param kept filled by the first run, for later runs with the same arguments except the numbers
  pipeline_counts run(const kernels::pipeline& program, kernels::relation_list<relation>& relations, std::uint64_t rows,
                      double expected_candidates, const std::atomic<bool>* stop, std::shared_ptr<void>& kept) {
    const kernels::segment& first = program.segments.front();
    storage::host_row_matrix* const matrix =
        first.kind == kernels::expansion_kind::scan ? relations[first.source]->matrix() : nullptr;
    if (matrix != nullptr) {
      const matrix_scan scan(*resource_, *matrix, first, !program.observes_order());
      if (!scan.has_columns()) {
        const unsigned workers = workers_of_run(scan.rows(), expected_candidates);
        return pipeline_run<Backend>(means(), program, relations, stop).run_fed(workers, [&](const auto& take) {
          scan.for_each_piece(backend_, workers, [&take](unsigned worker, const word* const* columns, std::uint64_t n) {
            take(worker, 0, n, columns);
          });
        });
      }
      return run_rows(program, relations, scan.rows(), std::min(expected_candidates, static_cast<double>(scan.rows())),
                      stop, scan.columns(), kept);
    }
    return run_rows(program, relations, rows, expected_candidates, stop, nullptr, kept);
  }

 private:
  /// Returns whether a version can run beside other versions of its phase.
  [[nodiscard]] static bool can_join(const phase_version& version, const std::vector<phase_version>& versions,
                                     const kernels::relation_list<relation>& relations) {
    const kernels::pipeline& program = *version.program;
    const relation& target = *relations[program.target];
    if (!target.inserts_at_once() || program.observes_order() || reads_matrix(program, relations)) return false;
    // Without a set, the rows of a version with a fault must be the last rows.
    return target.has_set() || std::count_if(versions.begin(), versions.end(), [&](const phase_version& other) {
                                 return other.program->target == program.target;
                               }) == 1;
  }
  [[nodiscard]] unsigned workers_of_run(std::uint64_t rows, double expected_candidates) {
    if (backend_.workers() == 1 || rows <= 1 || expected_candidates < cut_.parallel_candidates) return 1;
    return means().workers_for(expected_candidates, cut_.parallel_candidates);
  }

  /// @param given columns of the first rows; nullptr: from the relation
  pipeline_counts run_rows(const kernels::pipeline& program, kernels::relation_list<relation>& relations,
                           std::uint64_t rows, double expected_candidates, const std::atomic<bool>* stop,
                           const word* const* given, std::shared_ptr<void>& kept) {
    relation& target = *relations[program.target];
    if (given == nullptr && !target.has_set()) {
      if (const auto copied = kernels::copied_columns(program, relations)) {
        target.append(backend_, *copied, rows);
        count_copy(program, rows);
        return {rows, rows, rows};
      }
    }
    // Results of aggregates and windows that hold for a single run are part of the run.
    auto* runs = static_cast<pipeline_run<Backend>*>(kept.get());
    if (runs == nullptr || program.may_remember || !runs->are_of(program)) {
      auto created = std::make_shared<pipeline_run<Backend>>(means(), program, relations, stop);
      runs = created.get();
      kept = std::move(created);
    }
    return runs->run(rows, workers_of_run(rows, expected_candidates), given);
  }

  static void count_copy(const kernels::pipeline& program, std::uint64_t rows) {
    count_run(program);
    if (program.counted != nullptr) program.counted->counts[program.counted->first[0] + 1] += rows;
  }

  static void count_run(const kernels::pipeline& program) {
    if (program.counted != nullptr) ++program.counted->runs;
  }

  [[nodiscard]] run_means<Backend> means() { return {&backend_, resource_, &scratch_, &cut_}; }

  Backend backend_;
  backend::memory_resource* resource_;
  cut_offs cut_;
  std::vector<std::unique_ptr<kernels::tile_scratch>> scratch_;  // by worker
  kernels::row_store<Backend> row_store_;
  std::optional<kernels::numbered_graph> numbered_;  // of the current stratum, if built and not used
};

}  // namespace gpulog::exec
