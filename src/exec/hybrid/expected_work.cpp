#include "exec/hybrid/expected_work.hpp"

#include <algorithm>
#include <variant>

#include "exec/calibration.hpp"

namespace gpulog::exec {

namespace {

using rows_of_relation = std::function<std::uint64_t(relation_id)>;

/// Returns the expected candidates of a version: the planner's estimate, scaled to the current number of rows.
double expected_candidates(const plan::rule_version& version, const rows_of_relation& rows_of) {
  if (version.operations.empty() || version.estimates.empty()) return 0;
  double most = *std::max_element(version.estimates.begin(), version.estimates.end());
  const auto* const scan = std::get_if<plan::scan>(&version.operations.front());
  if (scan == nullptr) return most;
  const auto rows = static_cast<double>(rows_of(scan->relation));
  const double planned = version.estimates.front();
  if (planned > 0) most *= rows / planned;
  return std::max(most, rows);
}

}  // namespace

std::size_t versions_in(const std::vector<plan::phase>& loop) {
  std::size_t sum = 0;
  for (const plan::phase& phase : loop) sum += phase.versions.size();
  return sum;
}

stratum_work expected_work(const plan::stratum& stratum, const rows_of_relation& rows_of) {
  stratum_work work;
  const auto add = [&](const plan::rule_version& version) {
    work.candidates += expected_candidates(version, rows_of);
    ++work.versions;
  };
  for (const plan::rule_version& version : stratum.once.versions) add(version);
  for (const plan::subsumption& one : stratum.subsumptions) add(one.version);
  if (!stratum.recursive) return work;
  work.candidates *= 2;  // the loop reads the first tuples again; later iterations are unknown
  work.versions += versions_in(stratum.loop);
  if (!stratum.has_row_steps()) return work;
  // For searches, the number of searches and the maximum result of each are known.
  double steps = 0;
  for (const row_step& step : stratum.rows->steps) {
    if (step.relation.valid()) steps += static_cast<double>(rows_of(step.relation));
  }
  work.searched = work.candidates / 2 * steps * calibration::likely_share_of_steps;
  return work;
}

}  // namespace gpulog::exec
