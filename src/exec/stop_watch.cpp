#include "exec/stop_watch.hpp"

#include <chrono>
#include <utility>

#include "exec/calibration.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

stop_watch::stop_watch(std::function<bool()> has_occurred, const std::atomic<bool>* cancelled)
    : has_occurred_(std::move(has_occurred)),
      cancelled_(cancelled),
      thread_([this](const std::stop_token& over) { run(over); }) {}

const std::atomic<bool>* stop_watch::begin(double least) {
  const std::lock_guard lock(guard_);
  is_set_ = false;
  deadline_ = storage::seconds_now() + least;
  return &is_set_;
}

void stop_watch::end() {
  const std::lock_guard lock(guard_);
  deadline_ = never;
}

/// Polls: strata are often so short that waking a thread for each would dominate.
void stop_watch::run(const std::stop_token& over) {
  constexpr std::chrono::duration<double> interval(calibration::stop_watch_seconds);
  std::unique_lock lock(guard_);
  while (!over.stop_requested()) {
    const bool is_cancelled = cancelled_ != nullptr && *cancelled_;
    if (is_cancelled || (storage::seconds_now() >= deadline_ && has_occurred_())) is_set_ = true;
    wake_.wait_for(lock, over, interval, [] { return false; });
  }
}

}  // namespace gpulog::exec
