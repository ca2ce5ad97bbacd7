#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gpulog::exec {

/// Sets a flag when a device is ready or the run is cancelled: what runs on the host then stops.
class ready_watch {
 public:
  /// @param is_ready whether the device can be used; asked from another thread @param cancelled may be nullptr
  ready_watch(std::function<bool()> is_ready, const std::atomic<bool>* cancelled);
  ready_watch(const ready_watch&) = delete;
  ready_watch& operator=(const ready_watch&) = delete;
  ~ready_watch() = default;

  /// Watches from now on. The device is not asked for so many seconds. @return the flag, which is not set
  [[nodiscard]] const std::atomic<bool>* begin(double least);
  /// From now on watches only whether the run is cancelled.
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
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace gpulog::exec
