#include "cli/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <string.h>

#include <chrono>
#include <string>
#include <thread>

#include "cli/messages.hpp"
#include "cli/rank_start.hpp"
#include "gpulog/engine.hpp"

namespace gpulog::cli {
namespace {

constexpr auto patience = std::chrono::milliseconds(500);

std::atomic<bool> requested = false;
std::atomic<int> received_signal = 0;

}  // namespace

const std::atomic<bool>& cancel_requested = requested;

int cancelling_signal() { return received_signal; }

std::string interruption() {
  const int number = received_signal;
  const char* const name = ::sigabbrev_np(number);
  return "Interrupted by SIG" + std::string(name == nullptr ? "?" : name);
}

void forget_interrupts() {
  if (received_signal == 0) requested = false;
}

void watch_signals(interrupt what) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  // Blocked here and therefore in all later threads: only the watcher receives these signals, outside a signal handler.
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  // A line editor changes the terminal's mode.
  termios settings{};
  const bool is_terminal = ::tcgetattr(STDIN_FILENO, &settings) == 0;
  std::thread([ending, what, settings, is_terminal] {
    int number = 0;
    for (;;) {
      if (sigwait(&ending, &number) != 0) return;
      if (number != SIGINT || what == interrupt::ends_the_process) break;
      requested = true;
    }
    const std::string lost = number == SIGTERM ? lost_rank() : "";
    received_signal = number;
    if (lost.empty()) {
      requested = true;
      std::this_thread::sleep_for(patience);
    } else {
      print_remark(severity::error, lost);
    }
    const std::string doing = write_unfinished_reports(lost.empty() ? interruption() : lost);
    if (lost.empty() && !doing.empty()) print_message("{} {}\n", interruption(), doing);
    remove_unfinished_outputs();
    // The system stops a background process that changes the terminal.
    if (is_terminal && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    _exit(signal_exit_base + number);
  }).detach();
}

}  // namespace gpulog::cli
