#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/figures/plan_figures.hpp"
#include "engine/figures/run_figures.hpp"
#include "io/files/output_files.hpp"
#include "storage/relation/relation.hpp"
#include "support/error.hpp"

/// Maintains the record of a run, including runs that end without a result.
namespace gpulog::detail {
namespace {

/// The unfinished runs of this process, for an end without stack unwinding.
struct running_engines {
  std::mutex guard;
  std::set<engine_state*> engines;
};

running_engines& running() {
  static auto& all = *new running_engines;  // never destroyed: threads may outlive main
  return all;
}

/// The relations of the program in a stratum: the first few, and how many more there are.
std::string names_of(const plan::program& planned, const plan::stratum& stratum) {
  constexpr std::size_t most_names = 4;
  std::string names;
  std::size_t count = 0;
  for (const relation_id relation : stratum.relations) {
    const plan::relation& one = planned.relations[relation.value];
    if (one.supplementary && stratum.relations.size() > 1) continue;
    if (++count <= most_names) names += (names.empty() ? "" : ", ") + one.name;
  }
  if (count > most_names) names += fmt::format(" and {} more", count - most_names);
  return names;
}

/// Reports strata and rules to run_options::on_event.
class event_listener final : public exec::run_listener {
 public:
  explicit event_listener(engine_state& run) : run_(run) {}

  void begin_stratum(std::size_t number) override {
    begun_.clear();
    ended_.clear();
    done_ = nullptr;
    if (has_rules(number)) tell(event_of(number, run_event::kind::stratum_begins));
  }
  void end_stratum(std::size_t number) override {
    if (!has_rules(number)) return;
    const exec::statistics& measured = run_.current->executor->figures();
    if (measured.strata.empty()) return;
    const exec::stratum_statistics& stratum = measured.strata.back();
    for (const plan::rule_version* version : versions_of(run_.planned().strata[number])) tell_end(number, version);
    run_event event = event_of(number, run_event::kind::stratum_ends);
    event.iterations = stratum.iterations;
    event.seconds = stratum.seconds;
    for (const relation_id relation : run_.planned().strata[number].relations)
      event.tuples += run_.current->executor->rows(relation);
    tell(event);
  }
  void begin_step(const exec::running_step& now) override {
    if (now.stratum == exec::running_step::no_stratum) return;
    if (done_ != nullptr) tell_end(now.stratum, done_);
    done_ = nullptr;
    if (now.version == nullptr || !begun_.insert(now.version).second) return;
    run_event event = event_of(now.stratum, run_event::kind::rule_begins);
    event.subject = now.version->text;
    event.location = now.version->location;
    tell(event);
  }
  /// Before a loop a rule runs once, and its figures are known when the next step begins.
  void end_step(const exec::running_step& now) override {
    if (now.iteration == 0) done_ = now.version;
  }

 private:
  [[nodiscard]] bool has_rules(std::size_t number) const { return !versions_of(run_.planned().strata[number]).empty(); }
  [[nodiscard]] run_event event_of(std::size_t number, run_event::kind what) const {
    run_event event;
    event.what = what;
    event.stratum = number;
    event.stratum_count = run_.planned().strata.size();
    event.subject = names_of(run_.planned(), run_.planned().strata[number]);
    return event;
  }
  void tell(const run_event& event) const { run_.options.on_event(event); }
  void tell_end(std::size_t number, const plan::rule_version* ended) {
    const exec::statistics& measured = run_.current->executor->figures();
    const std::vector<const plan::rule_version*> versions = versions_of(run_.planned().strata[number]);
    const auto place = static_cast<std::size_t>(std::find(versions.begin(), versions.end(), ended) - versions.begin());
    if (measured.strata.empty() || place >= measured.strata.back().versions.size()) return;
    const exec::version_statistics& version = measured.strata.back().versions[place];
    if (version.runs == 0 || !ended_.insert(ended).second) return;
    run_event event = event_of(number, run_event::kind::rule_ends);
    event.subject = version.text;
    event.location = ended->location;
    event.iterations = version.runs;
    event.candidates = version.candidates;
    event.tuples = version.tuples;
    event.seconds = version.seconds;
    tell(event);
  }

  engine_state& run_;
  std::set<const plan::rule_version*> begun_, ended_;  ///< in the running stratum
  const plan::rule_version* done_ = nullptr;           ///< finished, but not yet reported
};

}  // namespace

void engine_state::begin_record() {
  figures.outcome.state = "unfinished";
  if (!source->sources.files().empty()) figures.program = source->sources.files().front()->path();
  if (!options.report_files.empty()) {
    figures.machine = describe_machine();
    figures.options = {{"fact-dir", options.fact_directory},
                       {"output-dir", options.output_directory},
                       {"jobs", std::to_string(options.jobs)},
                       {"storage", figures.storage},
                       {"memory-limit", std::to_string(options.memory_limit)},
                       {"word-size", std::to_string(figures.word_size)}};
    for (const auto& [name, value] : options.tuning) figures.options["tune " + name] = value;
    std::set<std::string> seen;
    for (const auto& file : source->sources.files()) {
      if (seen.insert(file->path()).second) figures.sources.push_back({file->path(), std::string(file->text())});
    }
    timeline = std::make_unique<resource_timeline>(zero, memory);
    if (options.report_seconds > 0) renewal = std::make_unique<report_renewal>(*this, options.report_seconds);
  }
  if (options.on_event) {
    listener = std::make_unique<event_listener>(*this);
    monitor.listener = listener.get();
  }
}

void engine_state::continue_record() {
  begin_reports();
  if (!renewal && !reports.empty() && options.report_seconds > 0)
    renewal = std::make_unique<report_renewal>(*this, options.report_seconds);
  figures.outcome = {"unfinished", "", std::nullopt};
}

void engine_state::list_as_running() {
  const std::lock_guard lock(running().guard);
  running().engines.insert(this);
}

void engine_state::end_record() {
  renewal.reset();
  const std::lock_guard lock(running().guard);
  running().engines.erase(this);
}

/// Call before the final report, so that a renewal cannot replace it.
void engine_state::end_renewal() {
  const exec::run_monitor::long_step here(&monitor, "", relation_id(), nullptr);
  renewal.reset();
}

bool engine_state::has_watchers() const {
  return options.is_watched || options.on_event || !options.report_files.empty();
}

void engine_state::end_unfinished(const char* state, const std::string& message) {
  end_renewal();
  figures.outcome.state = state;
  figures.outcome.message = message;
  figures.outcome.step = step_now();
  collect_figures();
  io::output_files files;
  for (io::output_file& report : reports) {
    try {
      report.write(to_json(figures));
      report.close();
      report.rename();
    } catch (const user_error&) {
      // The run has already failed, perhaps for the same reason.
    }
  }
  reports.clear();
}

run_step engine_state::step_now() const {
  run_step result;
  result.run_seconds = storage::seconds_now() - zero;
  for (const span_statistics& span : figures.spans) {
    if (span.is_complete) continue;
    result.phase = span.name;
    result.seconds = result.run_seconds - span.begin;
    if (span.name == "load" || span.name == "write") result.file = span.subject;
  }
  for (const file_statistics& file : figures.files) {
    if (file.is_output) continue;
    result.loaded_bytes += file.bytes;
    result.load_seconds += file.seconds;
    ++result.files_done;
  }
  if (result.phase == "load" && result.files_done > 0) {
    --result.files_done;
    result.loaded_bytes -= figures.files.back().bytes;
  }
  result.loaded_tuples = figures.loaded_tuples;
  result.files = fact_files;
  if (result.phase != "evaluate") return result;
  const exec::running_step now = monitor.now();
  result.doing = now.doing;
  if (now.relation.valid() && now.relation.value < analysed().relations.size())
    result.relation = analysed().relations[now.relation.value].name;
  if (!current || !current->executor || now.stratum == exec::running_step::no_stratum) return result;
  const plan::stratum& stratum = planned().strata[now.stratum];
  result.stratum = now.stratum;
  result.stratum_count = planned().strata.size();
  result.relations = names_of(planned(), stratum);
  result.iteration = now.iteration;
  if (now.begin > 0 && !result.doing.empty()) result.seconds = storage::seconds_now() - now.begin;
  if (now.version == nullptr) return result;
  result.rule = now.version->text;
  result.location = now.version->location;
  result.rows = now.rows;
  result.rows_done = std::min<std::uint64_t>(now.rows, monitor.progress().rows.load(std::memory_order_relaxed));
  result.candidates = monitor.progress().candidates.load(std::memory_order_relaxed);
  const std::vector<double>& estimates = now.version->estimates;
  if (!estimates.empty()) result.expected_candidates = estimates.back();
  return result;
}

std::optional<run_step> engine_state::now(double patience) {
  constexpr double milliseconds = 1e3;
  std::optional<run_step> result;
  static_cast<void>(monitor.look(std::chrono::milliseconds(static_cast<long>(patience * milliseconds)),
                                 [&] { result = step_now(); }));
  return result;
}

std::string write_unfinished_reports(const std::string& why) noexcept try {
  constexpr std::chrono::seconds patience{2};
  std::string doing;
  const std::lock_guard lock(running().guard);
  for (engine_state* const run : running().engines) {
    // A running renewal ends first, but a renewal that cannot be written in time must not prevent the end of the
    // process.
    const std::unique_lock renewing(run->renewal_guard, patience);
    if (renewing) run->is_reported = true;
    static_cast<void>(run->monitor.look(patience, [&] {
      if (run->done == engine_state::step::written) return;
      doing = to_text(run->step_now());
      if (run->reports.empty()) return;
      statistics seen = run->snapshot(true);
      seen.outcome.state = "interrupted";
      seen.outcome.message = why;
      const std::string text = to_json(seen);
      for (io::output_file& report : run->reports) {
        report.write(text);
        report.close();
        report.rename();
      }
      run->reports.clear();
    }));
  }
  return doing;
} catch (...) {
  return {};
}

}  // namespace gpulog::detail

namespace gpulog {

std::string to_text(const run_step& step) {
  std::string text = fmt::format("after {:.2f} s", step.run_seconds);
  if (step.stratum) {
    text += fmt::format(", in stratum {} of {} ({})", *step.stratum + 1, step.stratum_count, step.relations);
    if (step.iteration > 0) text += fmt::format(", iteration {}", step.iteration);
  } else if (!step.phase.empty()) {
    text += step.file.empty() ? fmt::format(", {}", step.phase) : fmt::format(", {} {}", step.phase, step.file);
  }
  if (!step.doing.empty() && !step.relation.empty()) text += fmt::format(", {} {}", step.doing, step.relation);
  if (!step.rule.empty()) text += fmt::format("\nin rule:\n{}\nin file {}", step.rule, step.location);
  return text;
}

}  // namespace gpulog
