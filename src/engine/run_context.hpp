#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/memory_resource.hpp"
#include "engine/device_start.hpp"
#include "engine/figures/run_figures.hpp"
#include "engine/program_state.hpp"
#include "engine/run_functors.hpp"
#include "engine/run_values.hpp"
#include "engine/tuning.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/rank_strips.hpp"
#include "exec/run_monitor.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "gpulog/statistics.hpp"
#include "io/values/structured_value.hpp"

namespace gpulog::detail {

/// What the parts of a run share.
struct run_context {
  /// @throws input_error for options that contradict each other or the program
  run_context(std::shared_ptr<const program_state> program, run_options chosen);

  /// Takes over the program, and finds the needed relations and the functors. @throws input_error
  void set_program(std::shared_ptr<const program_state> program);
  [[nodiscard]] const sema::program& analysed() const { return *source->analysed; }
  [[nodiscard]] const sema::relation& relation(std::uint32_t number) const { return analysed().relations[number]; }
  [[nodiscard]] bool is_equivalence(std::uint32_t number) const {
    return relation(number).structure == sema::representation::eqrel;
  }
  /// Returns whether other threads observe the run.
  [[nodiscard]] bool is_watched() const {
    return options.is_watched || options.on_event || !options.report_files.empty();
  }
  /// Describes values with fields to the functions that parse and print values.
  [[nodiscard]] io::structured_columns structured() const {
    return {{}, &analysed().structures, &values.records, values.wide_or_none()};
  }
  /// Waits for the device if options depend on the availability of a device.
  /// @throws input_error for a missing device
  void wait_for_device();
  /// Begins the figures of the run.
  void begin_figures();
  /// Records a span for the lifetime of the result.
  [[nodiscard]] span_scope span(std::string name, std::string subject = {}) {
    return {figures, zero, std::move(name), std::move(subject)};
  }

  std::shared_ptr<const program_state> source;
  run_options options;
  tuning tuned;
  run_values values;
  std::vector<bool> needed;  ///< by relation: whether the relation is loaded and computed
  /// By relation: whether the relation is read after its last stratum. Empty: all relations may be read.
  std::vector<bool> results;
  /// By relation and column: texts of inputs that nobody reads. Empty: all texts may be read.
  std::vector<std::vector<bool>> unread_texts;
  run_functors functors;
  statistics figures;                ///< change only while the monitor is held
  std::vector<std::string> remarks;  ///< warnings of the run, without a place
  double zero = 0;  ///< time at which the run began to read the program, in seconds of the steady clock
  exec::run_monitor monitor;
  std::unique_ptr<exec::rank_strips> strip_counters;  ///< nullptr for one rank
  std::unique_ptr<exec::rank_divider> divider;        ///< nullptr for one rank
  std::unique_ptr<device_start> device;               ///< nullptr if no device is requested or available

 private:
  /// Checks the arguments of --place. @throws input_error
  void require_places(const sema::program& program) const;
  /// Applies the limit and the folder for what exceeds it. @throws input_error
  void limit_memory();
  /// Begins the start of the device while facts are read. @throws input_error for a missing device
  void choose_device();
  /// @throws input_error for options that require a device
  void require_cpu_options() const;
};

/// Returns the error for a run that exceeded its memory.
/// @param doing for instance "loading relation a"
/// @param memory the memory of the run
[[nodiscard]] memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                               const backend::memory_resource& memory);

}  // namespace gpulog::detail
