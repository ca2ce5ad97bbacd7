#include "engine/figures/run_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/figures/plan_figures.hpp"
#include "storage/relation/relation.hpp"
#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// The unfinished runs of this process, for an end without stack unwinding.
struct running_reports {
  std::mutex guard;
  std::set<run_report*> reports;
};

running_reports& running() {
  static auto& all = *new running_reports;  // never destroyed: threads may outlive main
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

void write_now(io::output_file& report, const statistics& figures) {
  report.write(to_json(figures));
  report.close();
  report.rename();
}

/// Reports strata and rules to run_options::on_event.
class event_listener final : public exec::run_listener {
 public:
  event_listener(const run_options& options, const evaluations& results) : options_(options), results_(results) {}

  void begin_stratum(std::size_t number) override {
    begun_.clear();
    ended_.clear();
    done_ = nullptr;
    if (has_rules(number)) tell(event_of(number, run_event::kind::stratum_begins));
  }
  void end_stratum(std::size_t number) override {
    if (!has_rules(number)) return;
    const exec::statistics& measured = executor().figures();
    if (measured.strata.empty()) return;
    const exec::stratum_statistics& stratum = measured.strata.back();
    for (const plan::rule_version* version : versions_of(plan().strata[number])) tell_end(number, version);
    run_event event = event_of(number, run_event::kind::stratum_ends);
    event.iterations = stratum.iterations;
    event.seconds = stratum.seconds;
    for (const relation_id relation : plan().strata[number].relations) event.tuples += executor().rows(relation);
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
  [[nodiscard]] const plan::program& plan() const { return results_.current()->plan(); }
  [[nodiscard]] exec::executor& executor() const { return results_.current()->executor(); }
  [[nodiscard]] bool has_rules(std::size_t number) const { return !versions_of(plan().strata[number]).empty(); }
  [[nodiscard]] run_event event_of(std::size_t number, run_event::kind what) const {
    run_event event;
    event.what = what;
    event.stratum = number;
    event.stratum_count = plan().strata.size();
    event.subject = names_of(plan(), plan().strata[number]);
    return event;
  }
  void tell(const run_event& event) const { options_.on_event(event); }
  void tell_end(std::size_t number, const plan::rule_version* ended) {
    const exec::statistics& measured = executor().figures();
    const std::vector<const plan::rule_version*> versions = versions_of(plan().strata[number]);
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

  const run_options& options_;
  const evaluations& results_;
  std::set<const plan::rule_version*> begun_, ended_;  ///< in the running stratum
  const plan::rule_version* done_ = nullptr;           ///< finished, but not yet reported
};

rank_statistics ranks_of(const ranks::rank_group* group) {
  if (group == nullptr) return {};
  const ranks::rank_traffic& traffic = group->traffic();
  return {group->size(), traffic.sent_bytes, traffic.received_bytes, traffic.waiting_seconds};
}

}  // namespace

run_report::run_report(run_context& run, const evaluations& results) : run_(run), results_(results) {
  begin();
  const std::lock_guard lock(running().guard);
  running().reports.insert(this);
}

run_report::~run_report() {
  end_renewal();
  const std::lock_guard lock(running().guard);
  running().reports.erase(this);
}

void run_report::begin() {
  const run_options& options = run_.options;
  statistics& figures = run_.figures;
  const auto& files = run_.source->sources.files();
  files_ = 0;
  if (!files.empty()) figures.program = files.front()->path();
  if (!options.report_files.empty()) {
    figures.machine = describe_machine();
    figures.options = {{"fact-dir", options.fact_directory},
                       {"output-dir", options.output_directory},
                       {"jobs", std::to_string(options.jobs)},
                       {"storage", figures.storage},
                       {"memory-limit", std::to_string(options.memory_limit)},
                       {"spill", options.spill_directory},
                       {"word-size", std::to_string(figures.word_size)}};
    for (const auto& [name, value] : options.tuning) figures.options["tune " + name] = value;
    std::set<std::string> seen;
    for (const auto& file : files) {
      if (seen.insert(file->path()).second) figures.sources.push_back({file->path(), std::string(file->text())});
    }
    timeline_ = std::make_unique<resource_timeline>(run_.zero, run_.values.memory);
  }
  if (options.on_event) {
    listener_ = std::make_unique<event_listener>(options, results_);
    run_.monitor.listener = listener_.get();
  }
  resume();
}

void run_report::resume() {
  const run_options& options = run_.options;
  if (reports_.empty()) {
    for (const std::string& path : options.report_files) reports_.emplace_back(path);
  }
  if (!renewal_.joinable() && !reports_.empty() && options.report_seconds > 0)
    renewal_ = std::jthread([this](const std::stop_token& cancelled) { renew_until(cancelled); });
  run_.figures.outcome = {"unfinished", "", std::nullopt};
}

void run_report::renew_until(const std::stop_token& cancelled) {
  const std::chrono::duration<double> interval(run_.options.report_seconds);
  std::mutex guard;
  std::condition_variable_any changed;
  std::unique_lock lock(guard);
  while (!changed.wait_for(lock, cancelled, interval, [&] { return cancelled.stop_requested(); })) renew();
}

/// Replaces each report file by a complete new file. Ignores write errors: the next renewal may succeed, and the end of
/// the run reports errors.
void run_report::renew() {
  const std::lock_guard renewing(renewal_guard_);
  if (is_reported_) return;
  statistics seen;
  if (!run_.monitor.look(std::chrono::seconds(1), [&] { seen = snapshot(true); })) return;
  const std::string text = to_json(seen);
  try {
    for (const std::string& path : run_.options.report_files) {
      if (!io::is_written_in_place(path)) io::write_file(path, text);
    }
  } catch (const user_error&) {
  }
}

/// Ends the renewal while the run holds the monitor. A renewal must not replace the last report.
void run_report::await_renewal() {
  const exec::run_monitor::long_step here(&run_.monitor, "", relation_id(), nullptr);
  end_renewal();
}

void run_report::complete(io::output_files& files) {
  await_renewal();
  run_.figures.outcome = {"complete", "", std::nullopt};
  run_.figures.peak_process_bytes = peak_process_bytes();
  run_.figures.peak_spilled_bytes = run_.values.memory.peak_spilled();
  run_.figures.ranks = ranks_of(run_.options.ranks);
  if (timeline_) run_.figures.samples = timeline_->samples();
  for (io::output_file& report : reports_) {
    report.write(to_json(run_.figures));
    report.close();
    files.add(std::move(report));
  }
  reports_.clear();
}

void run_report::end_unfinished(const char* state, const std::string& message) {
  await_renewal();
  run_.figures.outcome = {state, message, step_now()};
  collect();
  for (io::output_file& report : reports_) {
    try {
      write_now(report, run_.figures);
    } catch (const user_error&) {
      // The run has already failed, perhaps for the same reason.
    }
  }
  reports_.clear();
}

statistics run_report::snapshot(bool is_live) const {
  statistics result = run_.figures;
  const double now = storage::seconds_now() - run_.zero;
  for (span_statistics& span : result.spans) {
    if (!span.is_complete) span.seconds = now - span.begin;
  }
  add_device_start(result, now);
  if (result.outcome.state != "complete") {
    result.total_seconds = now;
    if (!result.outcome.step) result.outcome.step = step_now();
  }
  if (timeline_) result.samples = timeline_->samples();
  result.peak_process_bytes = peak_process_bytes();
  result.peak_spilled_bytes = run_.values.memory.peak_spilled();
  result.ranks = ranks_of(run_.options.ranks);
  if (results_.current() != nullptr && results_.current()->has_executor()) add_strata(is_live, result);
  return result;
}

/// @param now seconds since the run began
void run_report::add_device_start(statistics& into, double now) const {
  if (!run_.device || run_.device->began() <= run_.zero) return;  // began before an engine reset
  const auto found = std::find_if(into.spans.begin(), into.spans.end(),
                                  [](const span_statistics& span) { return span.name == "device start"; });
  span_statistics& span = found == into.spans.end() ? into.spans.emplace_back() : *found;
  const double begin = run_.device->began() - run_.zero;
  const double end = run_.device->ended() > 0 ? run_.device->ended() - run_.zero : now;
  span = {"device start", "", begin, end - begin, run_.device->ended() > 0};
}

run_step run_report::step_now() const {
  run_step result;
  result.run_seconds = storage::seconds_now() - run_.zero;
  for (const span_statistics& span : run_.figures.spans) {
    if (span.is_complete) continue;
    result.phase = span.name;
    result.seconds = result.run_seconds - span.begin;
    if (span.name == "load" || span.name == "write") result.file = span.subject;
  }
  for (const file_statistics& file : run_.figures.files) {
    if (file.is_output) continue;
    result.loaded_bytes += file.bytes;
    result.load_seconds += file.seconds;
    ++result.files_done;
  }
  if (result.phase == "load" && result.files_done > 0) {
    --result.files_done;
    result.loaded_bytes -= run_.figures.files.back().bytes;
  }
  result.loaded_tuples = run_.figures.loaded_tuples;
  result.relation_bytes = run_.values.memory.used();
  result.files = files_;
  if (result.phase != "evaluate") return result;
  const exec::running_step now = run_.monitor.now();
  result.doing = now.doing;
  if (now.relation.valid() && now.relation.value < run_.analysed().relations.size())
    result.relation = run_.analysed().relations[now.relation.value].name;
  const evaluation* const current = results_.current();
  if (current == nullptr || !current->has_executor() || now.stratum == exec::running_step::no_stratum) return result;
  const plan::stratum& stratum = current->plan().strata[now.stratum];
  result.stratum = now.stratum;
  result.stratum_count = current->plan().strata.size();
  result.relations = names_of(current->plan(), stratum);
  result.iteration = now.iteration;
  if (now.begin > 0 && !result.doing.empty()) result.seconds = storage::seconds_now() - now.begin;
  if (now.version == nullptr) return result;
  result.rule = now.version->text;
  result.location = now.version->location;
  result.rows = now.rows;
  result.rows_done = std::min<std::uint64_t>(now.rows, run_.monitor.progress()->rows.load(std::memory_order_relaxed));
  result.candidates = run_.monitor.progress()->candidates.load(std::memory_order_relaxed);
  const std::vector<double>& estimates = now.version->estimates;
  if (!estimates.empty()) result.expected_candidates = estimates.back();
  return result;
}

std::optional<run_step> run_report::now(double patience) {
  constexpr double milliseconds = 1e3;
  std::optional<run_step> result;
  static_cast<void>(run_.monitor.look(std::chrono::milliseconds(static_cast<long>(patience * milliseconds)),
                                      [&] { result = step_now(); }));
  return result;
}

std::string run_report::write_unfinished(const std::string& why) noexcept try {
  constexpr std::chrono::seconds patience{2};
  std::string doing;
  const std::lock_guard lock(running().guard);
  for (run_report* const report : running().reports) {
    // A running renewal ends first, but a renewal that cannot be written in time must not prevent the end of the
    // process.
    const std::unique_lock renewing(report->renewal_guard_, patience);
    if (renewing) report->is_reported_ = true;
    run_context& run = report->run_;
    static_cast<void>(run.monitor.look(patience, [&] {
      if (run.figures.outcome.state == "complete") return;
      doing = to_text(report->step_now());
      if (report->reports_.empty()) return;
      statistics seen = report->snapshot(true);
      seen.outcome.state = "interrupted";
      seen.outcome.message = why;
      for (io::output_file& file : report->reports_) write_now(file, seen);
      report->reports_.clear();
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
