#include "cli/messages.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace gpulog::cli {

void print_message(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void prepare_standard_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  struct stream {
    int number, mode;
  };
  // Open for the other direction, so that a use is the error that it would be.
  constexpr stream streams[] = {{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}};
  for (const stream& one : streams) {
    // The lowest number that is free is this one.
    if (::fcntl(one.number, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", one.mode));
  }
}

}  // namespace gpulog::cli
