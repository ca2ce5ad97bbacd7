#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/large_stack.hpp"
#include "cli/messages.hpp"
#include "cli/program_image.hpp"
#include "cli/progress_line.hpp"
#include "gpulog/engine.hpp"

namespace gpulog::cli {
namespace {

void print_timings(const statistics& figures) {
  for (const stratum_statistics& stratum : figures.strata) {
    if (!stratum.was_run) continue;
    std::string names;
    for (const std::string& name : stratum.relations) names += (names.empty() ? "" : ", ") + name;
    print_message("{}: {} iterations, {:.6f} s on {}{}{}\n", names, stratum.iterations, stratum.seconds,
                  stratum.backend, stratum.reason.empty() ? "" : ": ", stratum.reason);
    if (stratum.given_up) print_message("  given up: {:.0f} % of rows asked for\n", 100 * *stratum.given_up);
  }
  print_message("load {:.6f} s, evaluate {:.6f} s, write {:.6f} s, total {:.6f} s\n", figures.load_seconds,
                figures.evaluate_seconds, figures.write_seconds, figures.total_seconds);
}

/// Prints the stages asked for; the exit status is Soufflé's: the number of errors for parse-errors.
int show_stages(const program& source, const arguments& given) {
  constexpr std::size_t highest_status = 255;
  int status = 0;
  bool parse_errors_only = true;
  for (const std::string& stage : given.show) {
    fmt::print("{}", source.show(stage, given.run));
    if (stage == "parse-errors") {
      status = static_cast<int>(std::min(source.syntax_error_count(), highest_status));
    } else {
      parse_errors_only = false;
    }
  }
  if (source.ok() || parse_errors_only) return status;
  print_message(source.report());
  return std::max(status, 1);
}

int run_program(arguments given, const program& source) {
  progress_line line;
  if (progress_line::wanted()) given.run.on_progress = [&line](const progress& now) { line.show(now); };
  given.run.cancelled = &cancel_requested;
  for (const std::string& path : {given.statistics_file, given.profile_file}) {
    if (!path.empty()) given.run.report_files.push_back(path);
  }
  if (given.verbose) print_message("Starting work on {}\n", given.program_file);

  engine run(source, given.run);
  run.load();
  run.evaluate();
  line.clear();
  run.write();
  if (given.verbose) print_timings(run.figures());
  // What a device and its driver keep is freed by the system at once; destructors would take longer.
  if (run.uses_device() && std::fflush(stdout) == 0) std::_Exit(0);
  return 0;
}

int act(int count, char** texts) {
  const std::optional<program_image> image = own_image();
  parse_result result = parse_arguments(count, texts, image);
  if (!result.parsed) return result.exit_status;
  arguments& given = *result.parsed;
  if (image) {
    given.program_file = image->sources.front().path;
    given.compile.warnings = false;  // they were shown when it was made
  }
  watch_signals();
  const program source = image ? program::from_sources(image->sources, given.compile)
                               : program::from_file(given.program_file, given.compile);
  if (!given.show.empty()) return show_stages(source, given);
  print_message(source.report());
  if (!source.ok()) return 1;
  if (given.executable_file.empty()) return run_program(std::move(given), source);
  write_executable(given.executable_file,
                   {source.sources(), {texts + 1, texts + count}, std::filesystem::current_path().string()});
  return 0;
}

int report_failure(const std::string& message) {
  if (cancelling_signal() != 0) return signal_exit_base + cancelling_signal();
  print_message("{}\n", message.starts_with("Error") ? message : "Error: " + message);
  return 1;
}

int guarded_main(int count, char** texts) {
  try {
    const int status = act(count, texts);
    if (std::fflush(stdout) != 0) return report_failure("Cannot write to standard output");
    return status;
  } catch (const std::bad_alloc&) {
    return report_failure("the machine has too little memory for this program on these facts");
  } catch (const std::exception& failure) {
    return report_failure(failure.what());
  }
}

}  // namespace
}  // namespace gpulog::cli

int main(int count, char** texts) {
  gpulog::cli::prepare_standard_streams();
  return gpulog::cli::on_large_stack([&] { return gpulog::cli::guarded_main(count, texts); });
}
