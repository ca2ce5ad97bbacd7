#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/executor.hpp"
#include "exec/fixpoint/iteration_runner.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "storage/factorized/row_matrix.hpp"
#include "support/row_equations.hpp"

/// The requirements of a fixpoint on its machine. A machine declares optional abilities in `abilities`, and
/// fixpoint_machine checks the declarations.
namespace gpulog::exec {

struct machine_abilities {
  // Kinds of relations.
  bool choices = false;         ///< with choice-domains
  bool equivalences = false;    ///< stored as classes
  bool subsumptions = false;    ///< that lose rows
  bool lattices = false;        ///< that keep a bound per key
  bool priority_delta = false;  ///< with iterations that take the best rows first
  bool set_kinds = false;       ///< with one of several tuple sets, or without a set
  bool present_bounds = false;  ///< sets of complete relations may depend on their values
  bool full_relations = false;  ///< that detect when no new row is possible
  bool row_matrices = false;    ///< that may be a matrix, in which rules look up rows, until materialize()
  bool matrix_views = false;    ///< lookups in a matrix need a prepared view, and are possible in a recursion
  // Strategies (exec/strategies).
  bool rows = false;         ///< row equations
  bool orders_rows = false;  ///< with comparisons by the order of values of 64 bits, too
  bool batches = false;      ///< concurrent versions of a phase
  bool loops = false;        ///< iterations without returning to the host
  // How the machine works.
  bool memories = false;          ///< keeps results of aggregates and windows between runs
  bool several_indexes = false;   ///< refreshes several indexes concurrently
  bool late_indexes = false;      ///< refreshes an index on search if few rows are missing
  bool keeps_runs = false;        ///< a version's run prepares its further runs
  bool timed_candidates = false;  ///< the time of a run indicates its number of candidates
  bool streams = false;           ///< copies rows to the host piece by piece
  bool device_columns = false;    ///< columns are in device memory
  bool own_clock = false;         ///< measures phases itself
};

/// Runs pipelines over its relations.
template <class Machine>
concept pipeline_machine = requires(Machine& on, typename Machine::relation& target, const options& chosen,
                                    const std::vector<const word*>& columns, const kernels::pipeline& program,
                                    kernels::relation_list<typename Machine::relation>& all,
                                    const std::atomic<bool>* stop) {
  { Machine::abilities } -> std::convertible_to<machine_abilities>;
  { Machine::leaves_steps_to_host } -> std::convertible_to<bool>;
  { Machine::makes_other_searches } -> std::convertible_to<bool>;
  { Machine::ends_costly_runs } -> std::convertible_to<bool>;
  typename Machine::trace_range;
  { on.make_relation(std::uint32_t{}, chosen) } -> std::same_as<std::unique_ptr<typename Machine::relation>>;
  on.load_rows(target, columns, std::uint64_t{});
  on.adopt_rows(target, columns, std::uint64_t{});
  on.settle(target);
  on.refresh_index(target, std::size_t{});
  { on.host_columns(target) } -> std::same_as<std::vector<const word*>>;
  on.forget_host_columns(target);
  {
    on.sample_rows(std::vector<storage::sampled_columns>{}, std::uint64_t{})
    } -> std::same_as<std::vector<storage::sampled_rows>>;
  { on.run(program, all, std::uint64_t{}, double{}, stop) } -> std::same_as<pipeline_counts>;
};

/// Finds the largest values of columns, and builds tuple sets for them.
template <class Machine>
concept set_choosing_machine = requires(Machine& on, typename Machine::relation& target,
                                        std::vector<typename Machine::column_values> columns) {
  { on.largest_values(columns) } -> std::same_as<std::vector<word>>;
  { on.machine_bytes() } -> std::convertible_to<std::uint64_t>;
  on.make_set(target);
  target.bound_values(std::vector<std::uint64_t>(), std::uint64_t{});
  target.skip_set();
  { target.set_name() } -> std::convertible_to<std::string>;
};

/// Solves row equations (exec/strategies/rows/row_schedules.hpp).
template <class Machine>
concept row_machine = requires(Machine& on, const row_equations& task, const kernels::row_wise_task& joins,
                               const std::optional<kernels::value_steps>& values,
                               kernels::relation_list<typename Machine::relation>& all, const std::atomic<bool>* stop,
                               const options& chosen, std::uint64_t (*bound)()) {
  { Machine::reusing_schedule } -> std::convertible_to<std::string_view>;
  { on.least_reused_rows() } -> std::convertible_to<std::uint64_t>;
  { on.run_reusing(task, bound, all, bool{}, chosen) } -> std::same_as<std::optional<kernels::row_counts>>;
  { on.bitmap_values() } -> std::convertible_to<std::uint64_t>;
  { on.has_numbers() } -> std::same_as<bool>;
  { on.run_search(task, values, all, stop) } -> std::same_as<std::optional<kernels::row_counts>>;
  { Machine::least_product_tuples } -> std::convertible_to<std::uint64_t>;
  { Machine::ends_costly_products } -> std::convertible_to<bool>;
  { on.run_products(task, std::uint64_t{}, all, bool{}, stop) } -> std::same_as<std::optional<kernels::row_counts>>;
  {
    on.run_row_wise(joins, all, Machine::row_wise_pays, stop)
    } -> std::same_as<std::optional<std::vector<std::uint64_t>>>;
  { on.add_rows(joins, all, stop) } -> std::same_as<std::vector<std::optional<std::uint64_t>>>;
  on.forget_rows();
  { Machine::added_row_wise_pays } -> std::convertible_to<kernels::row_wise_cut_offs>;
};

/// Relations may be matrices until materialize().
template <class Machine>
concept matrix_machine = requires(Machine& on, typename Machine::relation& target) {
  { target.matrix() } -> std::convertible_to<storage::row_matrix*>;
  { Machine::matrix_work_of_row } -> std::convertible_to<double>;
  on.materialize(target);
};
template <class Machine>
concept matrix_view_machine = requires(Machine& on, typename Machine::relation& target,
                                       const std::vector<std::uint32_t>& key) {
  on.make_lookup(target, key);
};

template <class Machine>
concept batching_machine = requires(Machine& on, std::vector<phase_version>& versions,
                                    kernels::relation_list<typename Machine::relation>& all,
                                    const std::atomic<bool>* stop) {
  on.run_together(versions, all, stop);
  { on.least_candidates_together() } -> std::same_as<double>;
};

template <class Machine>
concept looping_machine = requires(Machine& on, kernels::relation_list<typename Machine::relation>& all) {
  { on.make_iteration_runner(looped_stratum(), all) } -> std::same_as<std::unique_ptr<iteration_runner>>;
};

template <class Machine>
concept remembering_machine = requires(Machine& on, kernels::pipeline& program) {
  on.remember_folds(program);
  on.remember_windows(program);
};

template <class Machine>
concept run_keeping_machine = requires(Machine& on, const kernels::pipeline& program,
                                       kernels::relation_list<typename Machine::relation>& all,
                                       const std::atomic<bool>* stop, std::shared_ptr<void>& kept) {
  { on.run(program, all, std::uint64_t{}, double{}, stop, kept) } -> std::same_as<pipeline_counts>;
};

template <class Machine>
concept fixpoint_machine =
    pipeline_machine<Machine> &&(!Machine::abilities.set_kinds || set_choosing_machine<Machine>)&&(
        !Machine::abilities.row_matrices ||
        matrix_machine<Machine>)&&(!Machine::abilities.matrix_views ||
                                   (Machine::abilities.row_matrices && matrix_view_machine<Machine>)) &&
    (!Machine::abilities.rows ||
     (Machine::abilities.row_matrices && row_machine<Machine> && set_choosing_machine<Machine>)) &&
    (!Machine::abilities.batches || batching_machine<Machine>)&&(
        !Machine::abilities.loops ||
        looping_machine<Machine>)&&(!Machine::abilities.memories ||
                                    remembering_machine<Machine>)&&(!Machine::abilities.subsumptions ||
                                                                    requires { typename Machine::subsumptions; }) &&
    (!Machine::abilities.keeps_runs ||
     run_keeping_machine<Machine>)&&(!Machine::abilities.timed_candidates ||
                                     requires { double{Machine::candidates_a_second}; }) &&
    (!Machine::abilities.own_clock ||
     requires(Machine & on) {
       { on.phases() } -> std::same_as<machine_phases>;
     }) &&
    (!Machine::abilities.streams ||
     requires(Machine & on, typename Machine::relation& source) {
       { on.stream_rows(source) } -> std::same_as<std::unique_ptr<row_stream>>;
     }) &&
    (!Machine::abilities.device_columns || requires(Machine & on, typename Machine::relation& source) {
      { on.device_columns(source) } -> std::same_as<std::optional<columns_on_device>>;
    });

}  // namespace gpulog::exec
