#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/line_text.hpp"
#include "cli/messages.hpp"

namespace gpulog::cli {
namespace {

using std::chrono::milliseconds;

/// A shorter run shows no line.
constexpr milliseconds first_line{200};
constexpr milliseconds line_interval{100};
constexpr milliseconds message_interval{10000};
constexpr double mega = 1e6;

std::size_t terminal_columns() {
  constexpr std::size_t usual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

/// Formats a number with three significant digits, for example "12.3k".
std::string short_number(double number) {
  constexpr const char* suffixes[] = {"", "k", "M", "G", "T"};
  constexpr double step = 1000;
  std::size_t suffix = 0;
  while (number >= step && suffix + 1 < std::size(suffixes)) {
    number /= step;
    ++suffix;
  }
  return suffix == 0 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}{}", number, suffixes[suffix]);
}
std::string short_number(std::uint64_t number) { return short_number(static_cast<double>(number)); }

std::string loading_text(const run_step& step) {
  std::string text = fmt::format("loading {}: file {} of {}, {} rows", step.file, step.files_done + 1, step.files,
                                 short_number(step.loaded_tuples));
  if (step.load_seconds > 0)
    text += fmt::format(", {:.1f} MB/s", static_cast<double>(step.loaded_bytes) / mega / step.load_seconds);
  return text;
}

/// Truncates to `columns` columns at a character boundary.
std::string cut(std::string text, std::size_t columns) {
  std::size_t length = 0;
  std::size_t seen = 0;
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  while (length < text.size() && (seen < columns || is_inside(text[length]))) {
    if (!is_inside(text[length])) ++seen;
    ++length;
  }
  text.resize(length);
  return text;
}

/// Returns the candidates so far, with the expected number if known.
std::string candidates_text(const run_step& step) {
  std::string text = fmt::format(", {} candidates", short_number(step.candidates));
  if (step.rows_done > 0 && step.rows > step.rows_done) {
    const double share = static_cast<double>(step.rows_done) / static_cast<double>(step.rows);
    text += fmt::format(" of about {}", short_number(static_cast<double>(step.candidates) / share));
  } else if (step.rows_done == 0 && step.expected_candidates > static_cast<double>(step.candidates)) {
    text += fmt::format(" of {} expected", short_number(step.expected_candidates));
  }
  return text;
}

/// Shortens the rule so that rate and memory fit. Candidates come last, because their share is known as a percentage.
std::string evaluation_text(const run_step& step, std::size_t columns) {
  std::string text = fmt::format("stratum {} of {}", *step.stratum + 1, step.stratum_count);
  if (step.iteration > 0) text += fmt::format(", iteration {}", step.iteration);
  std::string figures;
  if (step.candidates > 0 && step.seconds > 0 && !step.doing.empty())
    figures += fmt::format(", {}/s", short_number(static_cast<double>(step.candidates) / step.seconds));
  if (step.relation_bytes > 0) figures += fmt::format(", {}B", short_number(step.relation_bytes));
  if (step.rule.empty())
    return text + ": " + (step.doing.empty() ? step.relations : step.doing + " " + step.relation) + figures;
  if (step.rows > 1)
    text += fmt::format(", {:.0f} %", 100 * static_cast<double>(step.rows_done) / static_cast<double>(step.rows));
  constexpr std::size_t least_rule = 16;
  constexpr std::string_view dots = "...";
  std::string rule = in_one_line(step.rule);
  const std::size_t used = text.size() + 2 + figures.size();
  const std::size_t left = columns > used + least_rule ? columns - used : least_rule;
  if (rule.size() > left) rule = cut(rule, left - dots.size()) + std::string(dots);
  return text + ": " + rule + figures + (step.candidates > 0 ? candidates_text(step) : "");
}

std::string_view name_of(std::string_view phase) {
  if (phase == "measure") return "looking at the facts";
  if (phase == "plan") return "planning";
  if (phase == "encode") return "numbering values";
  if (phase == "take over") return "taking over the facts";
  if (phase == "evaluate") return "starting to evaluate";
  return phase;
}

}  // namespace

std::string progress_text(const run_step& step, std::size_t columns) {
  if (step.phase == "load") return loading_text(step);
  if (step.phase == "write") return fmt::format("writing {}", step.file);
  if (step.stratum) return evaluation_text(step, columns);
  return std::string(name_of(step.phase));
}

bool progress_line::is_terminal() { return isatty(STDERR_FILENO) == 1; }

progress_line::progress_line(const engine& run)
    : run_(run), thread_([this](const std::stop_token& cancelled) { this->run(cancelled); }) {}

void progress_line::run(const std::stop_token& cancelled) {
  constexpr double patience = 0.05;
  const bool is_line = is_terminal();
  std::unique_lock lock(guard_);
  changed_.wait_for(lock, cancelled, is_line ? first_line : message_interval, [] { return false; });
  while (!cancelled.stop_requested()) {
    if (const std::optional<run_step> now = run_.now(patience)) {
      const std::string time = fmt::format("{:.1f} s  ", now->run_seconds);
      const std::size_t columns = is_line ? terminal_columns() - 1 : SIZE_MAX;
      const std::string text = progress_text(*now, columns - std::min(columns, time.size()));
      if (is_line && !text.empty()) {
        print_progress(cut(time + text, columns));
      } else if (!text.empty()) {
        print_message("[{:.1f} s] {}, for {:.1f} s\n", now->run_seconds, text, now->seconds);
      }
    }
    changed_.wait_for(lock, cancelled, is_line ? line_interval : message_interval, [] { return false; });
  }
  erase_progress();
}

void print_event(const run_event& event) {
  switch (event.what) {
    case run_event::kind::stratum_begins:
      print_message("stratum {} of {}: {}\n", event.stratum + 1, event.stratum_count, event.subject);
      break;
    case run_event::kind::stratum_ends:
      print_message("stratum {} of {} done: {} iterations, {} tuples, {:.3f} s\n", event.stratum + 1,
                    event.stratum_count, event.iterations, event.tuples, event.seconds);
      break;
    case run_event::kind::rule_begins:
      print_message("  begin {}   {}\n", in_one_line(event.subject), event.location);
      break;
    case run_event::kind::rule_ends:
      print_message("  end   {}   {} candidates, {} tuples, {:.3f} s{}\n", in_one_line(event.subject), event.candidates,
                    event.tuples, event.seconds,
                    event.iterations > 1 ? fmt::format(" in {} runs", event.iterations) : "");
      break;
  }
}

}  // namespace gpulog::cli
