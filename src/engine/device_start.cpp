#include "engine/device_start.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exec/calibration.hpp"

namespace gpulog::detail {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

device_start::device_start(std::function<std::string()> start, std::chrono::milliseconds moment)
    : start_(std::move(start)),
      moment_(moment),
      thread_([this](const std::stop_token& cancelled) { run(cancelled); }) {}

void device_start::run(const std::stop_token& cancelled) {
  {
    std::unique_lock lock(guard_);
    changed_.wait_for(lock, cancelled, moment_, [this] { return is_hurried_; });
    if (cancelled.stop_requested()) return;
    began_ = now();
    state_ = state::starting;
  }
  std::string reason = start_();
  ended_ = now();
  const std::lock_guard lock(guard_);
  reason_ = std::move(reason);
  state_ = reason_.empty() ? state::ready : state::failed;
  changed_.notify_all();
}

void device_start::hurry() {
  {
    const std::lock_guard lock(guard_);
    is_hurried_ = true;
  }
  changed_.notify_all();
}

double device_start::ready_in() const {
  constexpr double at_least = 1e-3;
  switch (state_) {
    case state::waiting:
      return exec::calibration::device_start_seconds;
    case state::starting:
      return std::max(at_least, exec::calibration::device_start_seconds - (now() - began_));
    case state::ready:
      return 0;
    case state::failed:
      break;
  }
  return HUGE_VAL;
}

const std::string& device_start::wait() {
  hurry();
  std::unique_lock lock(guard_);
  changed_.wait(lock, [this] { return state_ == state::ready || state_ == state::failed; });
  return reason_;
}

}  // namespace gpulog::detail
