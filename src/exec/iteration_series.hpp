#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpulog::exec {

/// What the iterations of a loop found and took. Many of them are merged, so that it has a bound.
class iteration_series {
 public:
  static constexpr std::size_t most_parts = 1000;

  struct part {
    std::uint64_t iterations = 0;
    std::uint64_t delta = 0;  ///< rows that they found
    double seconds = 0;
  };

  /// Before the first iteration. @param now seconds of a clock
  void begin(double now) { part_begin_ = now; }
  /// Behind an iteration; the clock is read where a part ends.
  template <class Clock>
  void add(std::uint64_t delta, const Clock& clock) {
    if (missing_ == 0) {
      begin_part();
      missing_ = width_;
    }
    part& last = parts_.back();
    ++last.iterations;
    last.delta += delta;
    if (--missing_ == 0) close(clock());
  }
  /// No iteration follows, or none for now.
  void end(double now) {
    if (missing_ == 0) return;
    missing_ = 0;
    close(now);
  }
  void add_timed(std::uint64_t delta, double seconds) {
    begin_part();
    parts_.back() = {1, delta, seconds};
  }
  void append(const iteration_series& later) {
    for (const part& one : later.parts_) {
      if (parts_.size() == most_parts) merge_pairs();
      parts_.push_back(one);
    }
  }
  [[nodiscard]] const std::vector<part>& parts() const { return parts_; }

 private:
  void begin_part() {
    if (parts_.size() == most_parts) merge_pairs();
    parts_.emplace_back();
  }
  void close(double now) {
    parts_.back().seconds += now - part_begin_;
    part_begin_ = now;
  }
  void merge_pairs() {
    for (std::size_t i = 0; i < parts_.size() / 2; ++i) {
      const part& first = parts_[2 * i];
      const part& second = parts_[2 * i + 1];
      parts_[i] = {first.iterations + second.iterations, first.delta + second.delta, first.seconds + second.seconds};
    }
    parts_.resize(parts_.size() / 2);
    width_ *= 2;
  }

  std::vector<part> parts_;
  std::uint64_t width_ = 1;    ///< iterations that a part has
  std::uint64_t missing_ = 0;  ///< iterations that the last part lacks; until then it has no time
  double part_begin_ = 0;
};

}  // namespace gpulog::exec
