#pragma once

#include "exec/calibration.hpp"
#include "storage/representation/hisa_rows.hpp"

/// How long the steps of an iteration take. Reading the clock takes as long as a step with few rows, so that only some
/// of those are measured.
namespace gpulog::exec {

/// The clock of a run, which keeps its last reading.
class step_clock {
 public:
  double read() { return last_ = storage::seconds_now(); }
  [[nodiscard]] double last() const { return last_; }

 private:
  double last_ = storage::seconds_now();
};

/// Times a step that is repeated. Long runs of it are measured; of short runs one in calibration::unmeasured_steps is,
/// and the runs after it count as long.
class step_timer {
 public:
  /// @param is_short whether the run is expected to be
  void begin(step_clock& clock, bool is_short) {
    is_measured_ = !is_short || left_ == 0;
    left_ = is_measured_ ? calibration::unmeasured_steps : left_ - 1;
    start_ = is_measured_ ? clock.read() : clock.last();
  }
  /// @param is_short whether the run was; a long one that is not expected began at the last reading, or little later
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
