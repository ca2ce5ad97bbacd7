#include "exec/hybrid/ready_watch.hpp"

#include <chrono>
#include <utility>

#include "exec/calibration.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

ready_watch::ready_watch(std::function<bool()> is_ready, const std::atomic<bool>* cancelled)
    : is_ready_(std::move(is_ready)),
      cancelled_(cancelled),
      thread_([this](const std::stop_token& over) { run(over); }) {}

const std::atomic<bool>* ready_watch::begin(double least) {
  is_set_ = false;
  deadline_ = storage::seconds_now() + least;
  return &is_set_;
}

/// Polls: strata are often so short that waking a thread for each would dominate. Setting the flag late, during the
/// next stratum, is harmless, because the device is still ready then.
void ready_watch::run(const std::stop_token& over) {
  constexpr std::chrono::duration<double> interval(calibration::ready_watch_seconds);
  std::unique_lock lock(guard_);
  while (!over.stop_requested()) {
    const bool is_cancelled = cancelled_ != nullptr && *cancelled_;
    if (is_cancelled || (storage::seconds_now() >= deadline_ && is_ready_())) is_set_ = true;
    wake_.wait_for(lock, over, interval, [] { return false; });
  }
}

}  // namespace gpulog::exec
