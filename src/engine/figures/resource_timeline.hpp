#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/memory_resource.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::detail {

/// Looks at processor time and memory from time to time, in a thread of its own. A long run has as many samples as a
/// short one: whenever there are too many, each second one goes, and they are taken half as often.
class resource_timeline {
 public:
  /// @param zero seconds of the steady clock that count as 0 @param memory outlives this
  resource_timeline(double zero, const backend::memory_resource& memory);

  /// With one of this moment.
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
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace gpulog::detail
