#pragma once

#include "exec/calibration.hpp"
#include "storage/representation/hisa_rows.hpp"

/// Times of the steps of an iteration. Reading the clock takes as long as a step with few rows, so only some of the
/// steps with few rows are measured.
namespace gpulog::exec {

/// The clock of a run, which keeps its last reading.
class step_clock {
 public:
  double read() { return last_ = storage::seconds_now(); }
  [[nodiscard]] double last() const { return last_; }

 private:
  double last_ = storage::seconds_now();
};

/// Measures the runs of a repeated step: every long run, and one short run after calibration::unmeasured_steps short
/// runs. The other short runs count as long as the last measured run.
class step_timer {
 public:
  /// @param is_short whether the run is expected to be short
  void begin(step_clock& clock, bool is_short) {
    is_measured_ = !is_short || left_ == 0;
    left_ = is_measured_ ? calibration::unmeasured_steps : left_ - 1;
    start_ = is_measured_ ? clock.read() : clock.last();
  }
  /// @param is_short whether the run was short. A long run that was expected to be short began at the last reading, or
  /// little later.
  /// @return seconds
  double end(step_clock& clock, bool is_short) {
    if (!is_estimated(is_short)) seconds_ = clock.read() - start_;
    return seconds_;
  }
  /// Returns whether end() gives the seconds of an earlier run.
  [[nodiscard]] bool is_estimated(bool is_short) const { return is_short && !is_measured_; }

 private:
  unsigned left_ = 0;  ///< short runs that are not measured
  bool is_measured_ = false;
  double start_ = 0;
  double seconds_ = 0;  ///< of the last run that was measured
};

}  // namespace gpulog::exec
