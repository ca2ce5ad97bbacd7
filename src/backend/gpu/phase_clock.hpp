#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "backend/gpu/vendor.hpp"

namespace gpulog::backend::gpu {

/// Kind of work on a stream: the phases of section 5 of the GPUlog article.
enum class phase : std::uint8_t { other, join, populate_delta, merge, index, allocation };
constexpr std::size_t phase_count = 6;

/// Divides a stream's time into phases by events: the time between two events belongs to the phase entered at the first
/// event, so the phases add up to the total. Events are read on request and once per few thousand events; measuring
/// never waits otherwise.
class phase_clock {
 public:
  explicit phase_clock(const device_context& context) : context_(&context) {}
  ~phase_clock();
  phase_clock(const phase_clock&) = delete;
  phase_clock& operator=(const phase_clock&) = delete;

  /// Assigns all work enqueued from now on to phase `next`.
  /// @return the previous phase
  /// @throws device_error
  phase enter(phase next);
  /// Returns the seconds per phase so far. Waits for the stream.
  /// @throws device_error
  std::array<double, phase_count> seconds();

 private:
  void record();
  void collect();

  const device_context* context_;
  std::vector<event_handle> events_;  // created once and reused
  std::vector<phase> entered_;        // by event
  phase current_ = phase::other;
  std::array<double, phase_count> seconds_{};
};

/// Enters a phase during the lifetime of this object.
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
