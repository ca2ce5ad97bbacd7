#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gpulog::detail {

struct engine_state;

/// Writes the report files of a run from time to time while it goes on, in a thread of its own: each time a whole new
/// file takes the place of the old one.
class report_renewal {
 public:
  /// @param run outlives this
  report_renewal(engine_state& run, double seconds);

 private:
  void run(const std::stop_token& cancelled);
  void renew();

  engine_state& run_;
  std::vector<std::string> paths_;
  std::chrono::duration<double> interval_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace gpulog::detail
