#include "cli/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <string.h>

#include <chrono>
#include <string>
#include <thread>

#include "cli/messages.hpp"
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

void watch_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  // Blocked here and so in all threads to come: only the watcher receives these, outside any signal handler.
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::thread([ending] {
    int number = 0;
    if (sigwait(&ending, &number) != 0) return;
    received_signal = number;
    requested = true;
    std::this_thread::sleep_for(patience);
    if (const std::string doing = write_unfinished_reports(interruption()); !doing.empty())
      print_message("{} {}\n", interruption(), doing);
    remove_unfinished_outputs();
    _exit(signal_exit_base + number);
  }).detach();
}

}  // namespace gpulog::cli
