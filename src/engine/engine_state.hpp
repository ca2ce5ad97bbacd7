#pragma once

#include <tbb/global_control.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/memory_resource.hpp"
#include "engine/column_statistics.hpp"
#include "engine/dense_domain_encoding.hpp"
#include "engine/device_start.hpp"
#include "engine/functor_libraries.hpp"
#include "engine/membership.hpp"
#include "engine/program_state.hpp"
#include "engine/run_measures.hpp"
#include "engine/staged_rows.hpp"
#include "engine/tuning.hpp"
#include "exec/executor.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "gpulog/statistics.hpp"
#include "io/output_files.hpp"
#include "io/prefetched_files.hpp"
#include "io/relation_writer.hpp"
#include "plan/plan.hpp"
#include "plan/reoptimizer.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::detail {

/// A run of a program. Loading comes before planning: the plan needs the sizes of the inputs. Its functions stand by
/// what they are about: backend_choice.cpp, loading_and_writing.cpp (files), run_figures.cpp (--stats), and the run
/// itself.
struct engine_state {
  enum class step : std::uint8_t { loading, failed, evaluated, written };

  engine_state(std::shared_ptr<const program_state> source, run_options chosen);

  [[nodiscard]] bool has_results() const { return done == step::evaluated || done == step::written; }
  [[nodiscard]] const sema::program& analysed() const { return *source->analysed; }
  /// From evaluate() on.
  [[nodiscard]] const plan::program& planned() const { return planner->plan(); }
  /// What the executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return numbers ? numbers->plan() : planned(); }
  [[nodiscard]] std::uint64_t rows(std::uint32_t relation) const;
  /// By column, of the rows that were loaded; empty when there are none.
  [[nodiscard]] std::vector<std::uint64_t> distinct_values(std::uint32_t relation) const;
  /// The word of a row that was staged or, after evaluation, derived.
  [[nodiscard]] word at(std::uint32_t relation, std::uint64_t row, std::size_t column) const;
  /// Whether one of the rows is this one. @throws memory_limit_error
  [[nodiscard]] bool contains(std::uint32_t relation, std::span<const word> row);
  /// nullptr when words have 32 bits.
  [[nodiscard]] storage::wide_values* wide_or_none() const { return wide ? &*wide : nullptr; }

  /// @throws input_error after the evaluation
  void require_changeable(std::uint32_t relation) const;
  /// Adds a row to those of the relation that were staged. @throws backend::memory_exceeded, and nothing is added
  void stage(std::uint32_t relation, const std::vector<word>& row);
  void load();
  void evaluate();
  void write();

  std::shared_ptr<const program_state> source;
  run_options options;
  tuning tuned;
  /// More threads than processors: oneTBB has to be told, else it warns and takes fewer.
  std::optional<tbb::global_control> more_threads;
  statistics figures;
  backend::host_memory memory;
  backend::named_memory symbol_memory{memory, "symbols"};
  backend::named_memory record_memory{memory, "records"};
  backend::named_memory wide_memory{memory, "values of 64 bits"};
  storage::symbol_table symbols;
  mutable storage::record_tables records;  ///< reading makes tables that are not there yet
  /// Of a program with words of 64 bits. Reading a record of a result may make codes.
  mutable std::optional<storage::wide_values> wide;
  functor_libraries libraries;
  std::vector<bool> needed;  ///< by relation: it is loaded and computed
  std::optional<kernels::functor_table> functors;
  staged_facts staged;                       ///< insert() extends the last block
  std::optional<plan::reoptimizer> planner;  ///< from evaluate() on
  std::optional<run_measures> measures;      ///< of the executor
  /// Whether a stratum that a device can run can be run there still; empty: there is none.
  std::function<bool(std::size_t stratum)> suits_device;
  /// While it runs, some values may be numbers. Reading results may keep some of them with values.
  mutable std::optional<dense_domain_encoding> numbers;
  std::atomic<wide_word> counter = 0;  ///< of autoinc()
  std::unique_ptr<exec::executor> executor;
  /// By relation, after evaluation: fetched when they are asked for, as rows may have to come from a device.
  mutable std::vector<std::optional<std::vector<const word*>>> results;
  std::vector<io::output_file> reports;  ///< begun, not written
  /// After evaluation, of relations that contains() was asked of; of equivalence relations, their classes.
  std::map<std::uint32_t, row_index> row_indexes;
  std::map<std::uint32_t, element_classes> classes;
  step done = step::loading;
  /// Starts the device while facts are read; nullptr: none is asked for, or there is none.
  std::unique_ptr<device_start> device;
  /// Makes the executor in place of the chosen backend; for tests.
  std::function<std::unique_ptr<exec::executor>(const exec::options& chosen)> make_other_executor;

 private:
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation) const;
  void choose_backend();
  /// Where it must be known before the evaluation whether there is a device.
  void wait_for_device();
  /// @throws input_error for options that only a device has
  void require_cpu_options() const;
  void find_functors();
  [[nodiscard]] std::unique_ptr<exec::executor> make_executor(const exec::options& chosen);
  [[nodiscard]] std::unique_ptr<exec::executor> make_device_executor(const exec::options& chosen);
  /// Checks what --place asks for. @throws input_error
  void require_places() const;
  [[nodiscard]] std::vector<value_range> values_in(const std::vector<plan::column_place>& columns) const;
  /// What an .output or .input directive is about.
  [[nodiscard]] io::write_request request_of(const sema::io_directive& directive) const;
  [[nodiscard]] bool is_written(const sema::io_directive& directive) const;
  /// Whatever makes writing impossible is found before the run. @throws input_error, output_error
  void prepare_outputs();
  void write_outputs(io::output_files& files);
  void load_directive(std::uint32_t relation, const sema::io_directive& directive, io::prefetched_files* ahead);
  [[nodiscard]] std::vector<std::filesystem::path> text_files() const;
  /// Where values are numbered while the program runs.
  void encode_values(const plan::statistics& known);
  /// Orders the joins of a stratum again, which comes next. @return whether anything was planned again
  [[nodiscard]] bool reoptimize(std::size_t stratum);
  void hand_over_staged_rows();
  [[nodiscard]] bool may_load_pieces(std::uint32_t relation) const;
  void collect_figures();
};

/// @param doing for instance "loading relation a" @param memory the run's
[[nodiscard]] memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                               const backend::memory_resource& memory);

}  // namespace gpulog::detail
