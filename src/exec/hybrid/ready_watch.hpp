#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gpulog::exec {

/// Sets a flag once a device is ready or the run is cancelled, so that the host stops.
class ready_watch {
 public:
  /// @param is_ready whether the device is usable; called from a different thread
  /// @param cancelled may be nullptr
  ready_watch(std::function<bool()> is_ready, const std::atomic<bool>* cancelled);
  ready_watch(const ready_watch&) = delete;
  ready_watch& operator=(const ready_watch&) = delete;
  ~ready_watch() = default;

  /// Starts watching; does not poll the device for the first `least` seconds.
  /// @return the flag, initially false
  [[nodiscard]] const std::atomic<bool>* begin(double least);
  /// Keeps watching only for cancellation.
  void end() { deadline_ = never; }

 private:
  static constexpr double never = 1e300;

  void run(const std::stop_token& over);

  std::function<bool()> is_ready_;
  const std::atomic<bool>* cancelled_;
  std::atomic<bool> is_set_ = false;
  std::atomic<double> deadline_ = never;  // seconds of the steady clock
  std::mutex guard_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last member: its thread uses all members above
};

}  // namespace gpulog::exec
