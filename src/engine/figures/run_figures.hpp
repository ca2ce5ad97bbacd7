#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>

#include "gpulog/statistics.hpp"

/// Statistics of a run (gpulog/statistics.hpp).
namespace gpulog::detail {

/// Adds the time of a scope to a member and to the total.
class timed_scope {
 public:
  timed_scope(double& seconds, double& total) : seconds_(seconds), total_(total) {}
  timed_scope(const timed_scope&) = delete;
  timed_scope& operator=(const timed_scope&) = delete;
  ~timed_scope() {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    seconds_ += passed;
    total_ += passed;
  }

 private:
  double& seconds_;
  double& total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Records a span of a run for the lifetime of the object.
class span_scope {
 public:
  /// @param zero start of the run, in seconds of the steady clock
  span_scope(statistics& figures, double zero, std::string name, std::string subject = {});
  span_scope(const span_scope&) = delete;
  span_scope& operator=(const span_scope&) = delete;
  ~span_scope();

 private:
  statistics& figures_;
  double zero_;
  std::size_t number_;
  int exceptions_ = std::uncaught_exceptions();
};

/// Returns a description of the machine, for the record of a run.
[[nodiscard]] std::map<std::string, std::string> describe_machine();

/// Returns the peak memory of the process.
[[nodiscard]] std::uint64_t peak_process_bytes();

}  // namespace gpulog::detail
