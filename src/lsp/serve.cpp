#include "lsp/serve.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "lsp/protocol/message_reader.hpp"

namespace gpulog::lsp {

namespace {

/// How often the server checks whether the client's process exists.
constexpr int check_milliseconds = 2000;

/// Waits for input, or for a signal of another thread.
class input_wait {
 public:
  enum class event : std::uint8_t { none, input, signal };

  input_wait() { has_pipe_ = ::pipe(pipe_) == 0; }
  ~input_wait() {
    if (!has_pipe_) return;
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  input_wait(const input_wait&) = delete;
  input_wait& operator=(const input_wait&) = delete;

  /// Returns `none` after `milliseconds` without an event.
  event wait(int milliseconds) {
    pollfd waiting[] = {{STDIN_FILENO, POLLIN, 0}, {has_pipe_ ? pipe_[0] : -1, POLLIN, 0}};
    if (::poll(waiting, 2, milliseconds) == 0) return event::none;
    if ((waiting[1].revents & POLLIN) == 0) return event::input;
    char byte = 0;
    return ::read(pipe_[0], &byte, 1) == 1 ? event::signal : event::none;
  }

  void signal() {
    const char byte = 0;
    while (has_pipe_ && ::write(pipe_[1], &byte, 1) < 0 && errno == EINTR) {
    }
  }

 private:
  int pipe_[2] = {-1, -1};
  bool has_pipe_ = false;
};

}  // namespace

int serve(server_options options) {
  using event = input_wait::event;
  bool can_write = true;
  input_wait input;
  options.on_answer = [&input] { input.signal(); };
  server session(std::move(options), [&can_write](const std::string& content) {
    const std::string message = framed(content);
    can_write = can_write && std::fwrite(message.data(), 1, message.size(), stdout) == message.size() &&
                std::fflush(stdout) == 0;
  });
  message_reader messages([&](char* to, std::size_t size) -> std::size_t {
    for (;;) {
      event last = event::none;
      while ((last = input.wait(check_milliseconds)) != event::input) {
        session.send_answers();
        // The client's end of the pipe may stay open in another process.
        if (last == event::none && session.has_lost_client()) return 0;
      }
      const ssize_t count = ::read(STDIN_FILENO, to, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return 0;
    }
  });
  while (can_write && !session.has_exited()) {
    // Further messages may make diagnostics outdated.
    if (!messages.has_more() && input.wait(0) != event::input) {
      session.send_answers();
      session.publish();
    }
    const std::optional<std::string> content = messages.next();
    if (!content) break;
    session.receive(*content);
  }
  return session.exit_status();
}

}  // namespace gpulog::lsp
