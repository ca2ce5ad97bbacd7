#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gpulog::detail {

/// Starts a device in a separate thread while facts are read and small strata run. A very short run never starts the
/// device.
class device_start {
 public:
  /// @param start starts the device and returns why there is no device; empty on success
  explicit device_start(std::function<std::string()> start, std::chrono::milliseconds moment = usual_moment);
  /// Waits for a start that has begun.
  ~device_start() = default;
  device_start(const device_start&) = delete;
  device_start& operator=(const device_start&) = delete;

  /// Starts the device immediately.
  void hurry();
  /// Returns the estimated seconds until the device is usable; 0: now, infinity: never. Thread-safe.
  [[nodiscard]] double ready_in() const;
  /// @return why there is no device; empty if the device has started
  [[nodiscard]] const std::string& wait();
  /// Return when the start began and ended, in seconds of the steady clock; 0: not yet. Thread-safe.
  [[nodiscard]] double began() const { return began_; }
  [[nodiscard]] double ended() const { return ended_; }
  /// Returns whether the process uses a device or is about to.
  [[nodiscard]] bool has_begun() const { return state_ != state::waiting; }

 private:
  enum class state : std::uint8_t { waiting, starting, ready, failed };
  /// Delay before the start. A started device also costs time at the end of the process, 70 to 90 ms in measurements.
  static constexpr std::chrono::milliseconds usual_moment{100};

  void run(const std::stop_token& cancelled);

  std::function<std::string()> start_;
  std::chrono::milliseconds moment_;
  std::string reason_;
  std::atomic<state> state_ = state::waiting;
  std::atomic<double> began_ = 0;  // seconds of the steady clock
  std::atomic<double> ended_ = 0;
  std::mutex guard_;
  std::condition_variable_any changed_;
  bool is_hurried_ = false;
  std::jthread thread_;  // last member: uses all other members
};

}  // namespace gpulog::detail
