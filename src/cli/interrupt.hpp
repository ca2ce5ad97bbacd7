#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace gpulog::cli {

/// True after the user has requested the end (Ctrl-C, a termination signal); run_options::cancelled points here.
extern const std::atomic<bool>& cancel_requested;

/// The exit status of a process ended by a signal is this number plus the signal's number, as in a shell.
inline constexpr int signal_exit_base = 128;

/// Returns the signal that requested the end; 0: none.
[[nodiscard]] int cancelling_signal();

/// Returns for example "Interrupted by SIGINT", for messages.
[[nodiscard]] std::string interruption();

/// The effect of SIGINT.
enum class interrupt : std::uint8_t {
  ends_the_process,
  ends_the_query,  ///< the running query, if any
};

/// Discards earlier interrupts, so that they do not affect the next query. For processes that SIGINT does not end.
void forget_interrupts();

/// Handles SIGINT, SIGTERM and SIGHUP. Call before starting any thread. If a run has not ended half a second after the
/// signal, the watcher ends the process: it writes the reports with the current state, removes unfinished output files,
/// restores the terminal, and exits with 128 + signal.
void watch_signals(interrupt what = interrupt::ends_the_process);

}  // namespace gpulog::cli
