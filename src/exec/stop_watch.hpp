#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gpulog::exec {

/// Sets a flag that stops a stratum once an event has occurred or the run is cancelled.
class stop_watch {
 public:
  /// @param has_occurred whether the stratum must stop; called from a different thread between begin() and end()
  /// @param cancelled may be nullptr
  stop_watch(std::function<bool()> has_occurred, const std::atomic<bool>* cancelled);
  stop_watch(const stop_watch&) = delete;
  stop_watch& operator=(const stop_watch&) = delete;
  ~stop_watch() = default;

  /// Starts watching; does not poll for the first `least` seconds.
  /// @return the flag, initially false
  [[nodiscard]] const std::atomic<bool>* begin(double least);
  /// Keeps watching only for cancellation. Waits for the end of a call of has_occurred().
  void end();

 private:
  static constexpr double never = 1e300;

  void run(const std::stop_token& over);

  std::function<bool()> has_occurred_;
  const std::atomic<bool>* cancelled_;
  std::atomic<bool> is_set_ = false;
  double deadline_ = never;  // seconds of the steady clock
  std::mutex guard_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last member: the thread uses all members above
};

}  // namespace gpulog::exec
