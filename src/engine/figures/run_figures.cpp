#include "engine/figures/run_figures.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/figures/plan_figures.hpp"
#include "gpulog/options.hpp"
#include "plan/reads.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::detail {

namespace {

/// Workers are still counting the rows of a running stratum.
exec::stratum_statistics without_counts(exec::stratum_statistics stratum) {
  for (exec::version_statistics& version : stratum.versions) version.counted = nullptr;
  return stratum;
}

}  // namespace

span_scope::span_scope(statistics& figures, double zero, std::string name, std::string subject)
    : figures_(figures), zero_(zero), number_(figures.spans.size()) {
  figures.spans.push_back({std::move(name), std::move(subject), storage::seconds_now() - zero, 0, false});
}

span_scope::~span_scope() {
  span_statistics& span = figures_.spans[number_];
  span.seconds = storage::seconds_now() - zero_ - span.begin;
  span.is_complete = std::uncaught_exceptions() == exceptions_;
}

std::map<std::string, std::string> describe_machine() {
  std::map<std::string, std::string> machine;
  machine["processors"] = std::to_string(std::thread::hardware_concurrency());
  machine["memory_bytes"] = std::to_string(machine_bytes());
  utsname system{};
  if (uname(&system) == 0) machine["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name") || line.find(": ") == std::string::npos) continue;
    machine["processor"] = line.substr(line.find(": ") + 2);
    break;
  }
  if (const std::string gpu = built_gpu(); !gpu.empty()) machine["gpu"] = gpu;
  return machine;
}

std::uint64_t machine_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_process_bytes() {
  constexpr std::uint64_t bytes_per_unit = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * bytes_per_unit;
}

void engine_state::collect_figures() { figures = snapshot(false); }

void engine_state::forget_evaluation() {
  latest.clear();
  figures.backend = "cpu";
  figures.fallback_reason.clear();
  figures.dense_columns.clear();
  figures.strata.clear();
  figures.relations.clear();
}

statistics engine_state::snapshot(bool is_live) {
  statistics result = figures;
  const double now = storage::seconds_now() - zero;
  for (span_statistics& span : result.spans) {
    if (!span.is_complete) span.seconds = now - span.begin;
  }
  add_device_start(result, now);
  if (result.outcome.state != "complete") {
    result.total_seconds = now;
    if (!result.outcome.step) result.outcome.step = step_now();
  }
  if (timeline) result.samples = timeline->samples();
  result.peak_process_bytes = peak_process_bytes();
  if (current && current->executor) collect_strata(result, is_live);
  return result;
}

/// @param now seconds since the run began
void engine_state::add_device_start(statistics& into, double now) const {
  if (!device || device->began() <= zero) return;  // began before an engine reset
  const auto found = std::find_if(into.spans.begin(), into.spans.end(),
                                  [](const span_statistics& span) { return span.name == "device start"; });
  span_statistics& span = found == into.spans.end() ? into.spans.emplace_back() : *found;
  const double begin = device->began() - zero;
  const double end = device->ended() > 0 ? device->ended() - zero : now;
  span = {"device start", "", begin, end - begin, device->ended() > 0};
}

/// Adds the running version's time and candidates, which no statistics contain yet.
void engine_state::add_running_step(const plan::stratum& planned, stratum_statistics& stratum) const {
  const exec::running_step now = monitor.now();
  if (now.version == nullptr || now.begin == 0) return;
  std::size_t number = 0;
  plan::for_each_version(planned, [&](const plan::rule_version& version) {
    if (&version == now.version && number < stratum.rules.size()) {
      stratum.rules[number].seconds += std::max(0.0, storage::seconds_now() - now.begin);
      stratum.rules[number].candidates += monitor.progress().candidates.load(std::memory_order_relaxed);
    }
    ++number;
  });
}

/// Returns the measurements of a stratum of an evaluation.
/// @param number of the stratum in the evaluation's plan
stratum_statistics engine_state::figures_of(const evaluation& measured, const exec::stratum_statistics& from,
                                            std::size_t number, const std::string& backend, bool is_live) const {
  const plan::program& plan = measured.plan();
  const plan::stratum& stratum = plan.strata[number];
  stratum_statistics to;
  for (relation_id relation : stratum.relations) to.relations.push_back(plan.relations[relation.value].name);
  to.recursive = stratum.recursive;
  to.backend = from.backend.empty() ? backend : from.backend;
  to.reason = from.reason;
  to.strategies = from.strategies;
  to.was_run = from.was_run;
  to.continued = from.continued;
  to.given_up = from.given_up;
  to.iterations = from.iterations;
  to.iterations_before_move = from.iterations_before_move;
  to.is_complete = from.is_complete;
  to.begin = from.was_run ? from.begin - zero : 0;
  to.seconds = from.is_complete ? from.seconds : storage::seconds_now() - from.begin;
  for (const exec::iteration_series::part& part : from.deltas.parts())
    to.deltas.push_back({part.iterations, part.delta, part.seconds});
  to.phases = {{"join", from.join_seconds},
               {"populate_delta", from.populate_delta_seconds},
               {"merge", from.merge_seconds},
               {"index", from.index_seconds},
               {"clear", from.clear_seconds},
               {"allocation", from.allocation_seconds},
               {"materialize", from.materialize_seconds}};
  for (const auto& [name, seconds] : from.stages) to.phases.push_back({name, seconds});
  to.tail_iterations = from.tail_iterations;
  to.looped_iterations = from.looped_iterations;
  to.rows_taken_over = from.rows_taken_over;
  to.search_numbers = from.search_numbers;
  for (const exec::version_statistics& version : from.versions) {
    rule_statistics& rule = to.rules.emplace_back();
    rule.rule = version.text;
    rule.delta_atom = version.delta_atom;
    rule.runs = version.runs;
    rule.candidates = version.candidates;
    rule.tuples = version.tuples;
    rule.seconds = version.seconds;
    rule.row_wise_runs = version.row_wise_runs;
    rule.wraps_around = version.wraps_around != nullptr && version.wraps_around->load();
  }
  if (!from.is_complete) add_running_step(stratum, to);
  add_plan_figures(*measured.planner, measured.record, number,
                   is_live && !from.is_complete ? without_counts(from) : from, to);
  return to;
}

void engine_state::collect_strata(statistics& into, bool is_live) {
  into.strata.clear();
  into.relations.clear();
  into.pass_seconds.clear();
  into.stratum_count = into.reordered_versions = into.peak_relation_bytes = 0;
  // after the last stratum that extended the relation
  std::vector<relation_statistics> last(planned().relations.size());
  for (const std::shared_ptr<evaluation>& one : latest) {
    if (!one->executor) continue;
    const plan::program& plan = one->plan();
    const exec::statistics& measured = one->executor->figures();
    into.stratum_count += plan.strata.size();
    for (const auto& [pass, seconds] : plan.pass_times) into.pass_seconds[pass] += seconds;
    into.reordered_versions += one->planner->reordered();
    into.peak_relation_bytes = std::max(into.peak_relation_bytes, measured.peak_memory_bytes);
    for (std::size_t s = 0; s < measured.strata.size() && s < plan.strata.size(); ++s) {
      into.strata.push_back(figures_of(*one, measured.strata[s], s, into.backend, is_live));
      for (const exec::relation_statistics& relation : measured.strata[s].relations) {
        if (relation.relation.value < last.size())
          last[relation.relation.value] = {{}, relation.rows, relation.bytes, relation.set};
      }
    }
  }
  if (wide && !is_live) into.wide_values = wide->size();
  // During a run, the size of a relation is known after its stratum.
  for (std::uint32_t number = 0; number < last.size(); ++number) {
    // Auxiliary relations of the planner have no home.
    const evaluation& home = number < homes.size() && homes[number] ? *homes[number] : *current;
    relation_statistics& relation = into.relations.emplace_back(std::move(last[number]));
    relation.name = planned().relations[number].name;
    if (!is_live || &home != current.get()) relation.tuples = home.executor->rows(relation_id(number));
  }
  const auto& strata = into.strata;
  if (is_live || into.backend == "cpu") return;
  if (std::all_of(strata.begin(), strata.end(), [](const stratum_statistics& stratum) {
        return stratum.rules.empty() || stratum.backend == "cpu";
      })) {
    into.backend = "cpu";
    const bool is_none = device && std::isinf(device->ready_in());
    into.fallback_reason =
        is_none ? device->wait() : "no stratum that a device can run was expected to be faster there";
  }
}

}  // namespace gpulog::detail
