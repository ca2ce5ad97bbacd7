#include "lsp/serve.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "lsp/protocol/message_reader.hpp"

namespace gpulog::lsp {

namespace {

/// How often the server checks whether the client's process exists.
constexpr int check_milliseconds = 2000;

/// Waits for input. Returns false after `milliseconds` without input.
bool wait_for_input(int milliseconds) {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) != 0;
}

}  // namespace

int serve(server_options options) {
  bool can_write = true;
  server session(std::move(options), [&can_write](const std::string& content) {
    const std::string message = framed(content);
    can_write = can_write && std::fwrite(message.data(), 1, message.size(), stdout) == message.size() &&
                std::fflush(stdout) == 0;
  });
  message_reader messages([&](char* to, std::size_t size) -> std::size_t {
    for (;;) {
      while (!wait_for_input(check_milliseconds)) {
        // The client's end of the pipe may stay open in another process.
        if (session.has_lost_client()) return 0;
      }
      const ssize_t count = ::read(STDIN_FILENO, to, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return 0;
    }
  });
  while (can_write && !session.has_exited()) {
    // Further messages may make diagnostics outdated.
    if (!messages.has_more() && !wait_for_input(0)) session.publish();
    const std::optional<std::string> content = messages.next();
    if (!content) break;
    session.receive(*content);
  }
  return session.exit_status();
}

}  // namespace gpulog::lsp
