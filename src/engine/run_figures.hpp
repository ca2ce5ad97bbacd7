#pragma once

#include <chrono>
#include <cstdint>

/// Figures of a run (gpulog/statistics.hpp).
namespace gpulog::detail {

/// Adds the time of a scope to a figure, and to the total.
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

/// The most memory that the process has had so far.
[[nodiscard]] std::uint64_t peak_process_bytes();

}  // namespace gpulog::detail
