#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/memory_resource.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::detail {

/// Returns the time of all processors that the process has used.
[[nodiscard]] double processor_seconds();

/// Samples processor time and memory at intervals, in a separate thread. The number of samples is bounded: when the
/// list is full, every second sample is dropped and the interval doubles.
class resource_timeline {
 public:
  /// @param zero origin of times, in seconds of the steady clock
  /// @param memory outlives this object
  resource_timeline(double zero, const backend::memory_resource& memory);

  /// Returns all samples and a current sample.
  [[nodiscard]] std::vector<resource_sample> samples() const;

 private:
  static constexpr std::size_t most_samples = 512;
  static constexpr std::chrono::milliseconds first_interval{10};

  [[nodiscard]] resource_sample take() const;
  void run(const std::stop_token& cancelled);

  double zero_;
  const backend::memory_resource& memory_;
  mutable std::mutex guard_;
  std::condition_variable_any changed_;
  std::vector<resource_sample> samples_;
  std::chrono::milliseconds interval_ = first_interval;
  std::jthread thread_;  // last member: uses all other members
};

}  // namespace gpulog::detail
