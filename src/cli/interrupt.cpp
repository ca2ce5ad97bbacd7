#include "cli/interrupt.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "gpulog/engine.hpp"

namespace gpulog::cli {
namespace {

constexpr auto patience = std::chrono::milliseconds(500);

std::atomic<bool> requested = false;
std::atomic<int> received_signal = 0;

}  // namespace

const std::atomic<bool>& cancel_requested = requested;

int cancelling_signal() { return received_signal; }

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
    remove_unfinished_outputs();
    _exit(signal_exit_base + number);
  }).detach();
}

}  // namespace gpulog::cli
