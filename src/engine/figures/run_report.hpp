#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/evaluations.hpp"
#include "engine/figures/resource_timeline.hpp"
#include "engine/run_context.hpp"
#include "exec/run_monitor.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"

namespace gpulog::detail {

/// The record of a run, including runs that end without a result: the report files, and the current step. Other threads
/// may read it.
class run_report {
 public:
  run_report(run_context& run, const evaluations& results);
  run_report(const run_report&) = delete;
  run_report& operator=(const run_report&) = delete;
  ~run_report();

  /// Begins the record of a run. No renewal may be active.
  void begin();
  /// Begins another record if the last record was written.
  void resume();
  /// Ends the renewal of the report files.
  void end_renewal() { renewal_ = std::jthread(); }
  /// Runs a part of the run; after a failure writes the reports with the figures up to that point.
  template <class Work>
  void record(const Work& work);
  /// Adds files that will be loaded.
  void expect_files(std::uint64_t files) { files_ += files; }
  /// Takes over the measurements of the executors.
  void collect() { run_.figures = snapshot(false); }
  /// Completes the record, and writes the report files.
  void complete(io::output_files& files);
  /// Returns the current step; empty if the run did not pause in time. Thread-safe.
  [[nodiscard]] std::optional<run_step> now(double patience);

  /// Writes the reports of all unfinished runs of the process (gpulog/engine.hpp).
  [[nodiscard]] static std::string write_unfinished(const std::string& why) noexcept;

 private:
  /// Returns the figures together with the measurements of the executor. The caller holds the monitor.
  /// @param is_live whether the run is still in progress
  [[nodiscard]] statistics snapshot(bool is_live) const;
  [[nodiscard]] run_step step_now() const;
  void renew_until(const std::stop_token& cancelled);
  void renew();
  void await_renewal();
  /// Sets the figures of strata and relations by the measurements of the executors.
  void add_strata(bool is_live, statistics& into) const;
  void add_device_start(statistics& into, double now) const;
  void end_unfinished(const char* state, const std::string& message);

  run_context& run_;
  const evaluations& results_;
  std::uint64_t files_ = 0;               ///< number of files to load
  std::vector<io::output_file> reports_;  ///< started reports that are not yet written
  std::timed_mutex renewal_guard_;        ///< held while a report is renewed
  bool is_reported_ = false;              ///< guarded: renewals must not replace the last report
  std::unique_ptr<exec::run_listener> listener_;
  std::unique_ptr<resource_timeline> timeline_;  ///< for runs with report files
  std::jthread renewal_;                         ///< of report files; declared after all members it uses
};

template <class Work>
void run_report::record(const Work& work) {
  const exec::run_monitor::holding held(run_.monitor);
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

}  // namespace gpulog::detail
