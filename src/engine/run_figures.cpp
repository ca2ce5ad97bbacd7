#include "engine/run_figures.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine_state.hpp"
#include "plan/explain.hpp"

namespace gpulog::detail {

namespace {

/// Without the indentation that all of them have.
std::vector<std::string> lines_of(const std::string& text) {
  const std::size_t indentation = text.find_first_not_of(' ');
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(std::min(indentation, line.size())));
  return lines;
}

}  // namespace

std::uint64_t peak_process_bytes() {
  constexpr std::uint64_t bytes_per_unit = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * bytes_per_unit;
}

void engine_state::collect_figures() {
  const exec::statistics& measured = executor->figures();
  if (wide) figures.wide_values = wide->size();
  figures.peak_relation_bytes = measured.peak_memory_bytes;
  figures.peak_process_bytes = peak_process_bytes();
  std::vector<std::uint64_t> bytes(planned().relations.size(), 0);
  std::vector<std::string> sets(planned().relations.size());
  for (std::size_t s = 0; s < measured.strata.size() && s < planned().strata.size(); ++s) {
    const exec::stratum_statistics& from = measured.strata[s];
    const plan::stratum& stratum = planned().strata[s];
    stratum_statistics& to = figures.strata.emplace_back();
    for (relation_id relation : stratum.relations) to.relations.push_back(planned().relations[relation.value].name);
    to.recursive = stratum.recursive;
    to.backend = from.backend.empty() ? figures.backend : from.backend;
    to.reason = from.reason;
    to.strategies = from.strategies;
    to.was_run = from.was_run;
    to.given_up = from.given_up;
    to.iterations = from.iterations;
    to.iterations_before_move = from.iterations_before_move;
    to.seconds = from.seconds;
    to.phases = {{"join", from.join_seconds},   {"populate_delta", from.populate_delta_seconds},
                 {"merge", from.merge_seconds}, {"index", from.index_seconds},
                 {"clear", from.clear_seconds}, {"allocation", from.allocation_seconds}};
    to.tail_iterations = from.tail_iterations;
    to.looped_iterations = from.looped_iterations;
    // The executor numbers versions as the plan lists them: once, then the phases of the loop, then subsumptions.
    std::vector<const plan::rule_version*> versions;
    for (const plan::rule_version& version : stratum.once.versions) versions.push_back(&version);
    for (const plan::phase& phase : stratum.loop) {
      for (const plan::rule_version& version : phase.versions) versions.push_back(&version);
    }
    for (const plan::subsumption& made : stratum.subsumptions) versions.push_back(&made.version);
    for (std::size_t v = 0; v < from.versions.size(); ++v) {
      const exec::version_statistics& version = from.versions[v];
      rule_statistics& rule = to.rules.emplace_back();
      rule = {version.text,
              "",
              version.delta_atom,
              version.runs,
              version.candidates,
              version.tuples,
              version.seconds,
              version.runs_by_rows,
              {}};
      if (v >= versions.size()) continue;
      rule.location = versions[v]->location;
      rule.plan = lines_of(plan::explain(planned(), *versions[v]));
    }
    for (const exec::relation_statistics& relation : from.relations) {
      bytes[relation.relation.value] = relation.bytes;
      sets[relation.relation.value] = relation.set;
    }
  }
  const auto& strata = figures.strata;
  if (figures.backend != "cpu" && std::all_of(strata.begin(), strata.end(), [](const stratum_statistics& stratum) {
        return stratum.rules.empty() || stratum.backend == "cpu";
      })) {
    figures.backend = "cpu";
    const bool is_none = device && std::isinf(device->ready_in());
    figures.fallback_reason =
        is_none ? device->wait() : "no stratum that a device can run was expected to be faster there";
  }
  for (std::uint32_t number = 0; number < planned().relations.size(); ++number) {
    figures.relations.push_back(
        {planned().relations[number].name, executor->rows(relation_id(number)), bytes[number], sets[number]});
  }
}

}  // namespace gpulog::detail
