#include "cli/messages.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace gpulog::cli {
namespace {

message_form current_form = message_form::plain;

/// Whether the terminal shows a progress line, which the next message replaces.
std::atomic<bool> is_progress_visible = false;

constexpr std::string_view erased_line = "\r\x1b[K";

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

constexpr std::string_view red = "\x1b[1;31m", yellow = "\x1b[1;33m", green = "\x1b[1;32m", plain = "\x1b[0m";

/// Returns whether the line marks a column of the line above: a caret between dashes and tabs only.
bool is_marks(std::string_view line) {
  const std::size_t caret = line.find('^');
  return caret != std::string_view::npos && line.find_first_not_of("-\t") == caret &&
         line.find_first_not_of("-\t", caret + 1) == std::string_view::npos;
}

std::string coloured(std::string_view line) {
  for (const auto& [word, colour] : {std::pair("Error", red), std::pair("Warning", yellow)}) {
    if (!line.starts_with(word)) continue;
    const std::size_t length = std::string_view(word).size();
    return fmt::format("{}{}{}{}", colour, line.substr(0, length), plain, line.substr(length));
  }
  if (!is_marks(line)) return std::string(line);
  const std::size_t caret = line.find('^');
  return fmt::format("{}{}^{}{}", line.substr(0, caret), green, plain, line.substr(caret + 1));
}

/// Prints the text line by line, with colours if enabled.
void print_text(std::string_view text) {
  if (current_form == message_form::plain) return print_message(text);
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    shown += coloured(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  print_message(shown);
}

template <class Remark>
nlohmann::ordered_json object_of(const Remark& remark) {
  nlohmann::ordered_json object;
  object["message"] = remark.message;
  if (remark.file.empty()) return object;
  object["file"] = remark.file;
  object["line"] = remark.line;
  object["column"] = remark.column;
  return object;
}

void print_json(const diagnostic& remark) {
  nlohmann::ordered_json object = {{"severity", remark.level == severity::error ? "error" : "warning"}};
  object.update(object_of(remark));
  nlohmann::ordered_json notes = nlohmann::ordered_json::array();
  for (const diagnostic_note& note : remark.notes) notes.push_back(object_of(note));
  object["notes"] = std::move(notes);
  // Program texts are arbitrary bytes, but JSON requires UTF-8.
  print_message(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool may_colour_terminal() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (refused == nullptr || *refused == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

void set_message_form(message_form form) { current_form = form; }

std::string last_value_of(std::string_view name, const std::vector<std::string>& arguments) {
  std::string value;
  for (std::size_t number = 0; number < arguments.size(); ++number) {
    const std::string_view text = arguments[number];
    if (!text.starts_with(name)) continue;
    if (text.size() == name.size() && number + 1 < arguments.size()) value = arguments[number + 1];
    if (text.size() > name.size() && text[name.size()] == '=') value = text.substr(name.size() + 1);
  }
  return value;
}

message_form form_of(const std::vector<std::string>& arguments) {
  if (last_value_of("--diagnostics", arguments) == "json") return message_form::json;
  const std::string colour = last_value_of("--color", arguments);
  const bool is_coloured = colour == "always" || (colour != "never" && may_colour_terminal());
  return is_coloured ? message_form::coloured : message_form::plain;
}

void print_remark(severity level, std::string_view message) {
  if (current_form == message_form::json) {
    diagnostic remark;
    remark.level = level;
    remark.message = message;
    return print_json(remark);
  }
  const std::string_view word = level == severity::error ? "Error" : "Warning";
  print_text(fmt::format("{}{}\n", message.starts_with(word) ? "" : std::string(word) + ": ", message));
}

void print_remarks(const std::vector<diagnostic>& remarks) {
  std::string report;
  for (const diagnostic& remark : remarks) report += remark.text;
  print_remarks(remarks, report);
}

void print_remarks(const std::vector<diagnostic>& remarks, std::string_view report) {
  if (current_form != message_form::json) return print_text(report);
  for (const diagnostic& remark : remarks) print_json(remark);
}

void print_message(std::string_view text) noexcept {
  erase_progress();
  write_all(text);
}

void print_progress(const std::string& line) {
  write_all(std::string(erased_line) + line);
  is_progress_visible = true;
}

void erase_progress() noexcept {
  if (is_progress_visible.exchange(false)) write_all(erased_line);
}

void end_without_reader() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) != 1 || (output.revents & POLLERR) == 0) return;
  erase_progress();
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

void prepare_standard_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  struct stream {
    int number, mode;
  };
  // Opened for the opposite direction, so that using the stream fails as on a closed stream.
  constexpr stream streams[] = {{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}};
  for (const stream& one : streams) {
    // open() returns the lowest free number, which is this number.
    if (::fcntl(one.number, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", one.mode));
  }
}

}  // namespace gpulog::cli
