#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpulog::exec {

/// Figures of a loop's iterations, merged so that their number is bounded.
class iteration_series {
 public:
  static constexpr std::size_t most_parts = 1000;

  struct part {
    std::uint64_t iterations = 0;
    std::uint64_t delta = 0;  ///< new rows
    double seconds = 0;
  };

  /// Call before the first iteration.
  /// @param now seconds of the clock
  void begin(double now) { part_begin_ = now; }
  /// Call after an iteration; reads the clock at the end of a part.
  template <class Clock>
  void add(std::uint64_t delta, const Clock& clock) {
    open_delta_ += delta;
    if (--missing_ == 0) close(clock());
  }
  /// Ends the series, possibly temporarily.
  void end(double now) {
    if (missing_ != width_) close(now);
  }
  void add_timed(std::uint64_t delta, double seconds) { append({1, delta, seconds}); }
  void append(const iteration_series& later) {
    for (const part& one : later.parts()) append(one);
  }
  /// Includes the incomplete part, whose time is unknown.
  [[nodiscard]] std::vector<part> parts() const {
    std::vector<part> all = parts_;
    if (missing_ != width_) all.push_back({width_ - missing_, open_delta_, 0});
    return all;
  }

 private:
  void append(const part& one) {
    if (parts_.size() == most_parts) merge_pairs();
    parts_.push_back(one);
  }
  void close(double now) {
    append({width_ - missing_, open_delta_, now - part_begin_});
    part_begin_ = now;
    open_delta_ = 0;
    missing_ = width_;
  }
  void merge_pairs() {
    for (std::size_t i = 0; i < parts_.size() / 2; ++i) {
      const part& first = parts_[2 * i];
      const part& second = parts_[2 * i + 1];
      parts_[i] = {first.iterations + second.iterations, first.delta + second.delta, first.seconds + second.seconds};
    }
    parts_.resize(parts_.size() / 2);
    missing_ += width_;
    width_ *= 2;
  }

  std::vector<part> parts_;    ///< complete parts
  std::uint64_t width_ = 1;    ///< iterations per part
  std::uint64_t missing_ = 1;  ///< iterations missing in the open part
  std::uint64_t open_delta_ = 0;
  double part_begin_ = 0;
};

}  // namespace gpulog::exec
