#include "cli/repl/repl.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/repl/line_editor.hpp"
#include "cli/repl/session.hpp"

namespace gpulog::cli {

bool is_interactive() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

int run_repl(arguments given) {
  watch_signals(interrupt::ends_the_query);
  session entered(std::move(given));
  line_editor editor(history_file("history"), [&](std::string_view text) { return entered.candidates_after(text); });
  fmt::print("gpulog {}. Rules and facts end with a dot, ?- asks, .help lists commands, Ctrl-D leaves.\n", version());
  std::string entry;
  while (cancelling_signal() == 0) {
    std::fflush(stdout);
    const line_editor::input line = editor.read(entry.empty() ? "gpulog> " : "   ...> ");
    if (line.what == line_editor::event::end) {
      fmt::print("\n");
      break;
    }
    if (line.what == line_editor::event::abandoned) {
      entry.clear();
      continue;
    }
    entry += line.text;
    const session::reply answer = entered.take(entry);
    if (answer == session::reply::leave) break;
    if (answer == session::reply::done) entry.clear();
  }
  return cancelling_signal() == 0 ? 0 : signal_exit_base + cancelling_signal();
}

}  // namespace gpulog::cli
