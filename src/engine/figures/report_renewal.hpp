#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gpulog::detail {

struct engine_state;

/// Rewrites the report files of a run at intervals, in a separate thread. Each time, a complete new file replaces the
/// old file.
class report_renewal {
 public:
  /// @param run outlives this object
  report_renewal(engine_state& run, double seconds);

 private:
  void run(const std::stop_token& cancelled);
  void renew();

  engine_state& run_;
  std::vector<std::string> paths_;
  std::chrono::duration<double> interval_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last member: uses all other members
};

}  // namespace gpulog::detail
