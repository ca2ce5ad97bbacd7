#include "cli/lsp/engine_answers.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

namespace gpulog::cli {

namespace {

constexpr std::chrono::seconds longest_run{10};
constexpr std::uint64_t most_memory = std::uint64_t{2} << 30;
constexpr std::size_t proof_depth = 8;
constexpr std::size_t shown_proofs = 3;
constexpr std::size_t answer_columns = 120;

program read(const lsp::asked_program& asked) {
  std::vector<source_text> sources;
  for (const lsp::program_file& file : asked.files) sources.push_back({file.path, file.identity, file.text});
  compile_options options;
  options.include_directories = asked.include_directories;
  options.macros = asked.macros;
  options.warnings = false;
  program result = program::from_sources(sources, options);
  if (!result.ok()) throw input_error(result.report());
  return result;
}

/// Sets a flag after a time, unless it is destroyed before.
class alarm_clock {
 public:
  alarm_clock(std::chrono::seconds time, std::atomic<bool>& flag)
      : thread_([this, time, &flag](const std::stop_token& stopped) {
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, stopped, time, [] { return false; });
          if (!stopped.stop_requested()) has_rung_ = flag = true;
        }) {}
  [[nodiscard]] bool has_rung() const { return has_rung_; }

 private:
  std::atomic<bool> has_rung_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: ends before the other members
};

std::string proof_text(engine& run, const std::string& tuple) {
  const auto shown = run.why(tuple, proof_depth);
  return shown ? to_text(*shown, {}, answer_columns) : tuple + " does not exist.\n";
}

std::string reasons(engine& run, const std::string& tuple) {
  std::string text = tuple + " does not exist.\n";
  for (const failed_rule& rule : run.why_not(tuple)) text += "\n" + to_text(rule, tuple);
  return text;
}

std::string explanation(engine& run, const std::string& atom) {
  const tuple_matches found = run.matches(atom, shown_proofs);
  if (found.tuples.empty()) return found.is_ground ? reasons(run, atom) : "No tuple matches " + atom + ".\n";
  std::string text;
  for (const std::string& tuple : found.tuples) text += (text.empty() ? "" : "\n") + proof_text(run, tuple);
  if (!found.is_all && !found.is_ground) text += "\nFurther tuples match " + atom + ".\n";
  return text;
}

std::string explain(const lsp::asked_program& asked, const std::string& atom, std::atomic<bool>& cancelled) {
  const program source = read(asked);
  const alarm_clock limit(longest_run, cancelled);
  run_options options;
  options.fact_directory = asked.fact_folder;
  options.functor_base = asked.fact_folder;
  options.output_directory = "";
  options.backend = backend_kind::cpu;
  options.memory_limit = most_memory;
  options.proofs = true;
  options.cancelled = &cancelled;
  try {
    engine run(source, std::move(options));
    run.load();
    run.evaluate();
    return explanation(run, atom);
  } catch (const cancelled_error&) {
    if (!limit.has_rung()) throw;
    throw input_error("the run takes more than " + std::to_string(longest_run.count()) + " s");
  }
}

}  // namespace

lsp::engine_questions engine_answers() {
  return {[](const lsp::asked_program& asked) { return read(asked).show("transformed-ram"); }, explain};
}

}  // namespace gpulog::cli
