#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "gpulog/engine.hpp"

namespace gpulog::cli {

/// What a run is doing, in short: loading, planning, the stratum and its rule.
[[nodiscard]] std::string progress_text(const run_step& step);

/// Tells what a run is doing, from a thread of its own: on a terminal in one line that is written over again and again,
/// ten times a second; else in a line every ten seconds.
class progress_line {
 public:
  /// @param run outlives this, and is watched
  explicit progress_line(const engine& run);

  /// Whether standard error is a terminal, so that a line there disturbs nobody.
  [[nodiscard]] static bool is_terminal();

 private:
  void run(const std::stop_token& cancelled);

  const engine& run_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // the last member: it uses the others
};

/// For -v: a line for a stratum or rule that begins or ends.
void print_event(const run_event& event);

}  // namespace gpulog::cli
