#include "backend/gpu/phase_clock.hpp"

#include <utility>

#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

namespace {
constexpr std::size_t most_events = 8192;
}  // namespace

phase_clock::~phase_clock() {
  for (event_handle event : events_) destroy(event);
}

void phase_clock::record() {
  const std::size_t number = entered_.size();
  if (number == events_.size()) {
    events_.push_back(make_event(event_kind::timed));
  }
  gpu::record(events_[number], context_->stream());
  entered_.push_back(current_);
}

void phase_clock::collect() {
  if (entered_.empty()) return;
  synchronize(events_[entered_.size() - 1]);
  for (std::size_t i = 0; i + 1 < entered_.size(); ++i) {
    seconds_[static_cast<std::size_t>(entered_[i])] += seconds_between(events_[i], events_[i + 1]);
  }
  // The last event starts the phase that is still running.
  std::swap(events_[0], events_[entered_.size() - 1]);
  entered_ = {entered_.back()};
}

phase phase_clock::enter(phase next) {
  if (next == current_) return current_;
  const phase before = std::exchange(current_, next);
  record();
  if (entered_.size() >= most_events) collect();
  return before;
}

std::array<double, phase_count> phase_clock::seconds() {
  record();
  collect();
  return seconds_;
}

}  // namespace gpulog::backend::gpu
