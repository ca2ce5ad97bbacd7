#pragma once

#include <atomic>
#include <chrono>

/// Runs that are going on in this process: an interpreter that ends waits for them.
namespace gpulog_python {

/// How often a run looks for signals, and tells its progress.
constexpr auto between_looks = std::chrono::milliseconds(50);

/// A run that is going on, by what cancels it.
class going_on {
 public:
  explicit going_on(std::atomic<bool>& cancelled);
  ~going_on();
  going_on(const going_on&) = delete;
  going_on& operator=(const going_on&) = delete;

 private:
  std::atomic<bool>* cancelled_;
};

/// Cancels all runs, and waits for their end.
void end_all_runs();

/// Threads for an engine of this process. The workers of a process are not there behind a fork, and what they held
/// stays held: a child of a process with workers has one thread.
[[nodiscard]] unsigned jobs_here(unsigned wanted);

}  // namespace gpulog_python
