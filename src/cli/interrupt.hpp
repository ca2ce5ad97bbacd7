#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace gpulog::cli {

/// Set once the user has asked to end (Ctrl-C, a termination signal); run_options::cancelled points here.
extern const std::atomic<bool>& cancel_requested;

/// A process that a signal ended has this exit status, plus the signal's number, for the shell.
inline constexpr int signal_exit_base = 128;

/// The signal that asked, 0 when none did.
[[nodiscard]] int cancelling_signal();

/// "Interrupted by SIGINT", for messages.
[[nodiscard]] std::string interruption();

/// What SIGINT is for.
enum class interrupt : std::uint8_t {
  ends_the_process,
  ends_the_query,  ///< that runs, and nothing where none does
};

/// What was asked up to now concerns nothing that comes. Of processes that SIGINT does not end.
void forget_interrupts();

/// Takes over SIGINT, SIGTERM and SIGHUP. To be called before any other thread is started. A run that has not ended by
/// itself half a second after the signal is ended here: reports are written as far as the run has come, unfinished
/// output files are removed, the terminal is as it was, and the process exits with 128 + signal.
void watch_signals(interrupt what = interrupt::ends_the_process);

}  // namespace gpulog::cli
