#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "gpulog/engine.hpp"

namespace gpulog::cli {

/// Describes the current step: loading, planning, or the stratum with percent, rule, rate and memory.
/// @param columns the rule is shortened to fit
[[nodiscard]] std::string progress_text(const run_step& step, std::size_t columns);

/// Shows the current step of a run from a separate thread: on a terminal in one line that is rewritten ten times per
/// second, otherwise in a new line every ten seconds.
class progress_line {
 public:
  /// @param run outlives this object; must be started with run_options::is_watched
  explicit progress_line(const engine& run);

  /// Returns whether standard error is a terminal, so that a progress line disturbs no other reader.
  [[nodiscard]] static bool is_terminal();

 private:
  void run(const std::stop_token& cancelled);

  const engine& run_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last member: uses all other members
};

/// Prints a line for each stratum or rule that begins or ends (option -v).
void print_event(const run_event& event);

}  // namespace gpulog::cli
