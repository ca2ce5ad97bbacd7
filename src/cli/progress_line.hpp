#pragma once

#include <chrono>

#include "gpulog/options.hpp"

namespace gpulog::cli {

/// One line on a terminal that is written over again and again, at most ten times a second.
class progress_line {
 public:
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { clear(); }

  /// Whether standard error is a terminal, so that a line there disturbs nobody.
  [[nodiscard]] static bool wanted();

  void show(const progress& now);
  void clear();

 private:
  std::chrono::steady_clock::time_point last_{};
  bool visible_ = false;
};

}  // namespace gpulog::cli
