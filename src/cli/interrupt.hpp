#pragma once

#include <atomic>
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

/// Takes over SIGINT, SIGTERM and SIGHUP. To be called before any other thread is started. A run that has not ended by
/// itself half a second after the signal is ended here: reports are written as far as the run has come, unfinished
/// output files are removed, and the process exits with 128 + signal.
void watch_signals();

}  // namespace gpulog::cli
