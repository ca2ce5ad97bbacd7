#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

/// Times consecutive stages of a stream's work with events between the stages.
class stage_clock {
 public:
  /// Starts the first stage.
  /// @throws device_error
  explicit stage_clock(stream_handle stream) : stream_(stream) { record(); }
  ~stage_clock() {
    for (event_handle event : events_) destroy(event);
  }
  stage_clock(const stage_clock&) = delete;
  stage_clock& operator=(const stage_clock&) = delete;

  /// Ends a stage and starts the next.
  /// @param name a string literal
  /// @throws device_error
  void end(const char* name) {
    record();
    names_.push_back(name);
  }
  /// Returns the name and the seconds of each stage. Waits for the last stage.
  /// @throws device_error
  [[nodiscard]] std::vector<std::pair<const char*, double>> seconds() const {
    synchronize(events_.back());
    std::vector<std::pair<const char*, double>> result;
    for (std::size_t i = 0; i < names_.size(); ++i)
      result.emplace_back(names_[i], seconds_between(events_[i], events_[i + 1]));
    return result;
  }

 private:
  void record() {
    events_.push_back(make_event(event_kind::timed));
    gpu::record(events_.back(), stream_);
  }

  stream_handle stream_;
  std::vector<event_handle> events_;
  std::vector<const char*> names_;  // by stage
};

}  // namespace gpulog::backend::gpu
