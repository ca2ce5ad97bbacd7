#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

/// What a stream works on: the phases of the article's section 5.
enum class phase : std::uint8_t { other, join, populate_delta, merge, index, allocation };
constexpr std::size_t phase_count = 6;

/// How a stream's time divides into phases, by events of the stream: the time between two events belongs to the phase
/// that was entered at the first one, so the phases add up to the whole. Events are read where somebody asks, and once
/// in some thousand events; measuring waits for nothing else.
class phase_clock {
 public:
  explicit phase_clock(const device_context& context) : context_(&context) {}
  ~phase_clock();
  phase_clock(const phase_clock&) = delete;
  phase_clock& operator=(const phase_clock&) = delete;

  /// What is put into the stream from now on belongs to this phase. @return the phase before. @throws device_error
  phase enter(phase next);
  /// Seconds of each phase so far. Waits for the stream. @throws device_error
  std::array<double, phase_count> seconds();

 private:
  void record();
  void collect();

  const device_context* context_;
  std::vector<event_handle> events_;  // created once, used again
  std::vector<phase> entered_;        // with event i
  phase current_ = phase::other;
  std::array<double, phase_count> seconds_{};
};

/// Enters a phase for as long as it lives.
class phase_scope {
 public:
  phase_scope(phase_clock& clock, phase own) : clock_(&clock), before_(clock.enter(own)) {}
  ~phase_scope() {
    try {
      clock_->enter(before_);
    } catch (...) {  // NOLINT: a stream that failed says so at the next call
    }
  }
  phase_scope(const phase_scope&) = delete;
  phase_scope& operator=(const phase_scope&) = delete;

 private:
  phase_clock* clock_;
  phase before_;
};

}  // namespace gpulog::backend::gpu
