#include "backend/cuda/phase_clock.hpp"

#include <utility>

#include "backend/cuda/error.hpp"

namespace gpulog::backend::cuda {

namespace {
constexpr std::size_t most_events = 8192;
constexpr double seconds_per_millisecond = 1e-3;
}  // namespace

phase_clock::~phase_clock() {
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
}

void phase_clock::record() {
  const std::size_t number = entered_.size();
  if (number == events_.size()) {
    cudaEvent_t event = nullptr;
    GPULOG_CUDA_TRY(cudaEventCreate(&event));
    events_.push_back(event);
  }
  GPULOG_CUDA_TRY(cudaEventRecord(events_[number], context_->stream()));
  entered_.push_back(current_);
}

void phase_clock::collect() {
  if (entered_.empty()) return;
  GPULOG_CUDA_TRY(cudaEventSynchronize(events_[entered_.size() - 1]));
  for (std::size_t i = 0; i + 1 < entered_.size(); ++i) {
    float milliseconds = 0;
    GPULOG_CUDA_TRY(cudaEventElapsedTime(&milliseconds, events_[i], events_[i + 1]));
    seconds_[static_cast<std::size_t>(entered_[i])] += milliseconds * seconds_per_millisecond;
  }
  // The last event begins what is still running.
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

}  // namespace gpulog::backend::cuda
