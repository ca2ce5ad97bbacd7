#include "backend/gpu/emulated/fault_handler.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "backend/gpu/emulated/block_runner.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

std::atomic<std::uintptr_t> guarded_begin{0};
std::atomic<std::uintptr_t> guarded_end{0};
struct sigaction previous_action;

// Safe in a signal handler: allocates no memory.
class line {
 public:
  line& operator<<(const char* text) {
    while (*text != '\0' && size_ < sizeof text_) text_[size_++] = *text++;
    return *this;
  }
  line& number(std::uint64_t value, unsigned base) {
    char digits[24];
    unsigned count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count > 0 && size_ < sizeof text_) text_[size_++] = digits[--count];
    return *this;
  }
  void write() const { static_cast<void>(!::write(STDERR_FILENO, text_, size_)); }

 private:
  char text_[512];
  std::size_t size_ = 0;
};

void explain(std::uintptr_t address) {
  constexpr unsigned decimal = 10;
  constexpr unsigned hexadecimal = 16;
  const bool is_guarded = guarded_begin <= address && address < guarded_end;
  const block_runner* const runner = current->block->runner;
  line text;
  if (runner != nullptr && runner->launch() != nullptr) {
    text << "gpulog: kernel " << runner->launch()->name << ", block ";
    text.number(current->block->index.x, decimal) << ", thread ";
    text.number(current->index.x, decimal) << ": ";
    if (is_guarded) {
      text << "it accessed memory of the emulated device at 0x";
      text.number(address, hexadecimal) << " that is not allocated\n";
    } else {
      text << "it accessed 0x";
      text.number(address, hexadecimal) << ", where it has no memory, or its stack is too small\n";
    }
    text.write();
  } else if (is_guarded) {
    text << "gpulog: the host accessed memory of the emulated device at 0x";
    text.number(address, hexadecimal) << " outside of a kernel or copy\n";
    text.write();
  }
}

void handle(int signal, siginfo_t* information, void* context) {
  explain(reinterpret_cast<std::uintptr_t>(information->si_addr));
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, information, context);
    return;
  }
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
    return;
  }
  // Returning repeats the access without this handler.
  ::signal(signal, SIG_DFL);
}

}  // namespace

void guard_device_memory(const void* memory, std::uint64_t bytes) {
  guarded_begin = reinterpret_cast<std::uintptr_t>(memory);
  guarded_end = guarded_begin + bytes;
  static const bool once = [] {
    struct sigaction own {};
    own.sa_sigaction = &handle;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&own.sa_mask);
    return ::sigaction(SIGSEGV, &own, &previous_action) == 0;
  }();
  static_cast<void>(once);
}

}  // namespace gpulog::backend::gpu::emulated
