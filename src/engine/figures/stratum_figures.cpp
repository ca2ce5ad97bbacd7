#include "engine/figures/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/figures/plan_figures.hpp"
#include "plan/reads.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::detail {
namespace {

/// Workers are still counting the rows of a running stratum.
exec::stratum_statistics without_counts(exec::stratum_statistics stratum) {
  for (exec::version_statistics& version : stratum.versions) version.counted = nullptr;
  return stratum;
}

/// Adds the running version's time and candidates, which no statistics contain yet.
void add_running_step(const exec::run_monitor& monitor, const plan::stratum& planned, stratum_statistics& stratum) {
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
stratum_statistics figures_of(const run_context& run, const evaluation& measured, const exec::stratum_statistics& from,
                              std::size_t number, const std::string& backend, bool is_live) {
  const plan::program& plan = measured.plan();
  const plan::stratum& stratum = plan.strata[number];
  stratum_statistics to;
  for (relation_id relation : stratum.relations) to.relations.push_back(plan.relations[relation.value].name);
  to.recursive = stratum.recursive;
  to.backend = from.backend.empty() ? backend : from.backend;
  to.reason = from.reason;
  to.strategies = from.strategies;
  to.continued = from.continued;
  to.iterations = from.iterations;
  to.iterations_before_move = from.iterations_before_move;
  to.is_complete = from.is_complete;
  to.begin = from.begin - run.zero;
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
  if (!from.is_complete) add_running_step(run.monitor, stratum, to);
  add_plan_figures(measured.planner(), measured.record(), number,
                   is_live && !from.is_complete ? without_counts(from) : from, to);
  return to;
}

}  // namespace

void run_report::add_strata(bool is_live, statistics& into) const {
  const evaluation& current = *results_.current();
  const std::vector<plan::relation>& relations = current.plan().relations;
  into.strata.clear();
  into.relations.clear();
  into.pass_seconds.clear();
  into.stratum_count = into.reordered_versions = into.peak_relation_bytes = 0;
  // after the last stratum that extended the relation
  std::vector<relation_statistics> last(relations.size());
  for (const std::shared_ptr<evaluation>& one : results_.latest()) {
    if (!one->has_executor()) continue;
    const plan::program& plan = one->plan();
    const exec::statistics& measured = one->executor().figures();
    into.stratum_count += plan.strata.size();
    for (const auto& [pass, seconds] : plan.pass_times) into.pass_seconds[pass] += seconds;
    into.reordered_versions += one->planner().reordered();
    into.peak_relation_bytes = std::max(into.peak_relation_bytes, measured.peak_memory_bytes);
    const std::size_t first = into.strata.size();
    for (std::size_t s = 0; s < measured.strata.size() && s < plan.strata.size(); ++s) {
      into.strata.push_back(figures_of(run_, *one, measured.strata[s], s, into.backend, is_live));
      for (const exec::relation_statistics& relation : measured.strata[s].relations) {
        if (relation.relation.value < last.size())
          last[relation.relation.value] = {{}, relation.rows, relation.bytes, relation.set};
      }
    }
    count_index_rules(plan, into.strata, first);
  }
  if (run_.values.wide && !is_live) into.wide_values = run_.values.wide->size();
  // During a run, the size of a relation is known after its stratum.
  for (std::uint32_t number = 0; number < last.size(); ++number) {
    // Auxiliary relations of the planner have no home.
    const std::shared_ptr<evaluation> home = results_.home(number);
    const evaluation& holder = home ? *home : current;
    relation_statistics& relation = into.relations.emplace_back(std::move(last[number]));
    relation.name = relations[number].name;
    const relation_id id(number);
    if ((!is_live || &holder != &current) && !holder.executor().has_freed(id))
      relation.tuples = holder.executor().rows(id);
  }
  const auto& strata = into.strata;
  if (is_live || into.backend == "cpu") return;
  if (std::all_of(strata.begin(), strata.end(), [](const stratum_statistics& stratum) {
        return stratum.rules.empty() || stratum.backend == "cpu";
      })) {
    into.backend = "cpu";
    const bool is_none = run_.device && std::isinf(run_.device->ready_in());
    into.fallback_reason = is_none ? run_.device->wait() : "no stratum was expected to be faster on the device";
  }
}

}  // namespace gpulog::detail
