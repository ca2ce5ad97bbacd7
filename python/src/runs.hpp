#pragma once

#include <atomic>
#include <chrono>

/// Active runs of this process: an interpreter that ends waits for these runs.
namespace gpulog_python {

/// Interval at which a run checks for signals and reports progress.
constexpr auto between_looks = std::chrono::milliseconds(50);

/// Registers an active run by its cancellation flag.
class going_on {
 public:
  explicit going_on(std::atomic<bool>& cancelled);
  ~going_on();
  going_on(const going_on&) = delete;
  going_on& operator=(const going_on&) = delete;

 private:
  std::atomic<bool>* cancelled_;
};

/// Cancels all runs, and waits until they end.
void end_all_runs();

/// Returns the number of threads for an engine of this process: one in a forked child of a process with workers,
/// because the workers do not exist in the child and their locks stay locked.
[[nodiscard]] unsigned jobs_here(unsigned wanted);

}  // namespace gpulog_python
