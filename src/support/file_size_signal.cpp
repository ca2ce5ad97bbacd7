#include "support/file_size_signal.hpp"

#include <cerrno>
#include <ctime>

namespace gpulog {

file_size_signal_block::file_size_signal_block() {
  sigemptyset(&limit_);
  sigaddset(&limit_, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit_, &before_);
}

file_size_signal_block::~file_size_signal_block() {
  const int error = errno;
  // Removes a pending signal while it is blocked: unblocking would deliver the signal.
  if (sigismember(&before_, SIGXFSZ) == 0) {
    const timespec at_once{};
    while (sigtimedwait(&limit_, nullptr, &at_once) == SIGXFSZ) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace gpulog
