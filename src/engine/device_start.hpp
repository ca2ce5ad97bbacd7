#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gpulog::detail {

/// Starts a device in a thread of its own, while facts are read and small strata run. A run that ends at once never
/// starts it.
class device_start {
 public:
  /// @param start starts the device. @return why there is none; empty: it has been started
  explicit device_start(std::function<std::string()> start, std::chrono::milliseconds moment = usual_moment);
  /// Waits for the end of a start that has begun.
  ~device_start() = default;
  device_start(const device_start&) = delete;
  device_start& operator=(const device_start&) = delete;

  /// It will be needed: begins at once.
  void hurry();
  /// Seconds until the device can be used, as far as that is known; 0: now, infinity: never. From any thread.
  [[nodiscard]] double ready_in() const;
  /// @return why there is no device; empty: it has been started
  [[nodiscard]] const std::string& wait();
  /// When the start began and ended, in seconds of the steady clock; 0: not yet. From any thread.
  [[nodiscard]] double began() const { return began_; }
  [[nodiscard]] double ended() const { return ended_; }
  /// Whether anything of a device is in this process, or about to be.
  [[nodiscard]] bool has_begun() const { return state_ != state::waiting; }

 private:
  enum class state : std::uint8_t { waiting, starting, ready, failed };
  /// What has begun takes time at the end of the process too, 70 to 90 ms where it was measured.
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
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace gpulog::detail
