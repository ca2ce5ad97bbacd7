#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/explain_session.hpp"
#include "cli/interrupt.hpp"
#include "cli/large_stack.hpp"
#include "cli/messages.hpp"
#include "cli/program_image.hpp"
#include "cli/progress_line.hpp"
#include "cli/rank_start.hpp"
#include "cli/repl/repl.hpp"
#include "cli/standard_input.hpp"
#include "cli/subcommands.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"
#include "support/option_names.hpp"

namespace gpulog::cli {
namespace {

void print_timings(const statistics& figures) {
  for (const stratum_statistics& stratum : figures.strata) {
    std::string names;
    for (const std::string& name : stratum.relations) names += (names.empty() ? "" : ", ") + name;
    print_message("{}: {} iterations, {:.6f} s on {}{}{}\n", names, stratum.iterations, stratum.seconds,
                  stratum.backend, stratum.reason.empty() ? "" : ": ", stratum.reason);
  }
  print_message("load {:.6f} s, evaluate {:.6f} s, write {:.6f} s, total {:.6f} s\n", figures.load_seconds,
                figures.evaluate_seconds, figures.write_seconds, figures.total_seconds);
}

/// Prints the requested stages. The exit status for parse-errors is the number of errors, as in Soufflé.
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
  print_remarks(source.diagnostics(), source.report());
  return std::max(status, 1);
}

/// Returns where an incomplete run stopped: one line or, with a rule that `failure` does not name, several lines.
std::string place_of(run_step step, const std::string& failure) {
  if (cancelling_signal() != 0) return fmt::format("{} {}\n", interruption(), to_text(step));
  if (step.phase != "evaluate") return {};
  if (failure.find(step.rule) != std::string::npos) step.rule.clear();
  return fmt::format("The run failed {}\n", to_text(step));
}

/// @param place receives a text to print after the error message if the run fails
int run_program(arguments given, const program& source, std::string& place) {
  given.run.ranks = running_ranks();
  given.run.cancelled = &cancel_requested;
  given.run.report_seconds = given.profile_every;
  given.run.is_watched = given.verbose || progress_line::is_terminal();
  if (given.verbose) given.run.on_event = print_event;
  for (const std::string& path : {given.statistics_file, given.profile_file}) {
    if (!path.empty()) given.run.report_files.push_back(path);
  }
  given.run.count_rows = given.explain;
  given.run.proofs = given.explain_session || !given.why.empty();
  given.run.only_outputs = true;
  if (given.verbose) print_message("Starting work on {}\n", given.program_file);

  require_relations(source, given.why);
  std::optional<progress_line> line;
  given.run.before_printing = [&line] { line.reset(); };
  engine run(source, given.run);
  try {
    if (given.run.is_watched) line.emplace(run);
    run.run();
    line.reset();
  } catch (...) {
    line.reset();
    const outcome_statistics& outcome = run.figures().outcome;
    if (outcome.step) place = place_of(*outcome.step, outcome.message);
    throw;
  }
  if (given.compile.warnings) print_remarks(run.warnings());
  if (given.verbose) print_timings(run.figures());
  if (given.explain) fmt::print("{}", explain(run.figures()));
  const int status = print_proofs(run, given.why) ? 0 : 1;
  if (given.explain_session) run_explain_session(run);
  // The system frees the memory of the device and its driver at once; destructors would take longer.
  if (run.uses_device() && running_ranks() == nullptr && std::fflush(stdout) == 0) std::_Exit(status);
  return status;
}

program read_program(const arguments& given) {
  if (given.program_file == standard_input_name) return program::from_text(standard_input(), given.compile, "stdin");
  return program::from_file(given.program_file, given.compile);
}

int act(int count, char** texts, std::string& place) {
  set_message_form(form_of({texts + 1, texts + count}));
  const std::optional<program_image> image = own_image();
  if (const subcommand* chosen = image || count < 2 ? nullptr : find_subcommand(texts[1]))
    return chosen->run(count, texts);
  parse_result result = parse_arguments(count, texts, image);
  if (!result.parsed) return result.exit_status;
  arguments& given = *result.parsed;
  if (image) {
    given.program_file = image->sources.front().path;
    given.compile.warnings = false;  // printed when the executable was built
  }
  if (!image && given.program_file.empty()) return run_repl(std::move(given));
  start_ranks(given.ranks, {texts + 1, texts + count});
  watch_signals();
  const program source = image ? program::from_sources(image->sources, given.compile) : read_program(given);
  if (given.show.empty()) given.show = source.shown_stages();
  if (!given.show.empty()) return show_stages(source, given);
  print_remarks(source.diagnostics(), source.report());
  if (!source.ok()) return 1;
  if (given.executable_file.empty()) return run_program(std::move(given), source, place);
  write_executable(given.executable_file,
                   {source.sources(), {texts + 1, texts + count}, std::filesystem::current_path().string()});
  return 0;
}

int report_failure(const std::string& message, const std::string& place) {
  if (cancelling_signal() == 0) print_remark(severity::error, message);
  if (!place.empty()) print_message(place);
  return cancelling_signal() == 0 ? 1 : signal_exit_base + cancelling_signal();
}

int guarded_main(int count, char** texts) {
  std::string place;
  try {
    const int status = act(count, texts, place);
    if (std::fflush(stdout) == 0) return status;
    end_without_reader();
    return report_failure("Cannot write to standard output", place);
  } catch (const output_error& failure) {
    end_without_reader();
    return report_failure(failure.what(), place);
  } catch (const std::system_error& failure) {
    end_without_reader();
    return report_failure(failure.what(), place);
  } catch (const std::bad_alloc&) {
    return report_failure("the machine has too little memory for this program on these facts", place);
  } catch (const std::exception& failure) {
    return report_failure(failure.what(), place);
  }
}

}  // namespace
}  // namespace gpulog::cli

int main(int count, char** texts) {
  gpulog::cli::prepare_standard_streams();
  gpulog::set_option_form(gpulog::option_form::flag);
  return gpulog::cli::on_large_stack([&] {
    return gpulog::cli::on_rank_0({texts + 1, texts + count}, [&] { return gpulog::cli::guarded_main(count, texts); });
  });
}
