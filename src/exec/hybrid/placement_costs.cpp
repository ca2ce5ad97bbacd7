#include "exec/hybrid/placement_costs.hpp"

#include <algorithm>
#include <cmath>

namespace gpulog::exec {

namespace {

// One processor of the host: rules, with the indexes that they need, searches that a fixpoint falls apart into, and
// loading, which is not parallel.
constexpr double host_candidates = 15e6;
constexpr double host_searched = 150e6;
constexpr double host_loaded_rows = 25e6;
constexpr double host_version = 8e-6;
constexpr double host_stratum = 5e-6;
/// n processors do the work of n to this power: what they wait for is memory, and each other.
constexpr double scaling = 0.4;
constexpr double search_scaling = 0.65;
/// Work is shared where there is enough of it.
constexpr double candidates_of_a_worker = 1u << 16;

// The device that was measured, an H200; others by the rate of their memory, which is what joins wait for.
constexpr double measured_bytes_per_second = 4.8e12;
constexpr double device_candidates = 4e9;
constexpr double device_searched = 20e9;
constexpr double device_version = 45e-6;
constexpr double device_stratum_seconds = 30e-6;
/// An iteration in a loop that the device runs by itself, or one whose kernels the host launches.
constexpr double looped_iteration = 8e-6;
constexpr double launched_iteration = 60e-6;
constexpr double iteration_version = 1e-6;
constexpr std::uint64_t most_looped_rows = 1u << 16;
/// Of the work of a stratum some of whose steps the host makes, its part, and copying there and back.
constexpr double host_step_share = 0.9;

// Between them: a copy, with what the other side needs to have the relation.
constexpr double crossing_of_a_relation = 60e-6;
constexpr double crossing_bytes = 5e9;

double speedup(double candidates, unsigned threads, double exponent) {
  return std::pow(std::clamp(candidates / candidates_of_a_worker, 1.0, static_cast<double>(threads)), exponent);
}

}  // namespace

double placement_costs::host_rate(double candidates) const {
  return host_candidates * speedup(candidates, threads_, scaling) / corrections_[static_cast<std::size_t>(side::host)];
}

double placement_costs::host_search_rate(double candidates) const {
  return host_searched * speedup(candidates, threads_, search_scaling);
}

double placement_costs::host_seconds(const stratum_work& work) const {
  return host_stratum + static_cast<double>(work.versions) * host_version +
         work.candidates / host_rate(work.candidates) + work.searched / host_search_rate(work.searched);
}

double placement_costs::device_seconds(const stratum_work& work) const {
  const double correction = corrections_[static_cast<std::size_t>(side::device)];
  double seconds = device_stratum_seconds + static_cast<double>(work.versions) * device_version +
                   correction / device_speed_ * (work.candidates / device_candidates + work.searched / device_searched);
  if (work.has_host_steps) seconds += host_step_share * work.candidates / host_rate(work.candidates);
  return seconds;
}

double placement_costs::host_iteration_seconds(std::uint64_t delta_rows) const {
  const auto rows = static_cast<double>(delta_rows);
  return rows / host_rate(rows);
}

double placement_costs::device_iteration_seconds(double host_seconds, std::uint64_t delta_rows,
                                                 const iteration_shape& shape) const {
  const double candidates = host_seconds * host_rate(static_cast<double>(delta_rows));
  const double started = shape.may_loop && delta_rows <= most_looped_rows ? looped_iteration : launched_iteration;
  return started + static_cast<double>(shape.versions) * iteration_version +
         corrections_[static_cast<std::size_t>(side::device)] / device_speed_ * candidates / device_candidates;
}

double placement_costs::crossing_seconds(std::size_t relations, std::uint64_t bytes) {
  return static_cast<double>(relations) * crossing_of_a_relation + static_cast<double>(bytes) / crossing_bytes;
}

double placement_costs::loading_seconds(side where, std::uint64_t rows, std::uint64_t bytes) const {
  if (where == side::host) return static_cast<double>(rows) / host_loaded_rows;
  return crossing_seconds(1, rows * bytes) + static_cast<double>(rows) / (device_speed_ * device_candidates);
}

void placement_costs::set_device(double bytes_per_second) {
  if (bytes_per_second > 0) device_speed_ = bytes_per_second / measured_bytes_per_second;
}

void placement_costs::learn(side where, const stratum_work& done, double seconds) {
  constexpr double least_seconds = 1e-3;  // below, it is not the candidates that take the time
  constexpr double most = 4;
  if (seconds < least_seconds || done.candidates == 0 || done.searched != 0) return;
  const double expected = this->seconds(where, done);
  double& correction = corrections_[static_cast<std::size_t>(where)];
  correction = std::clamp(correction * std::sqrt(seconds / expected), 1 / most, most);
}

bool recursion_watch::should_move(const situation& current, const std::function<double()>& crossing) {
  if (!has_begun_) {
    has_begun_ = true;
    next_host_seconds_ = costs_->host_iteration_seconds(current.delta_rows);
  } else {
    const double last = current.now - last_begin_;
    lost_ = std::max(0.0, lost_ + last - costs_->device_iteration_seconds(last, last_delta_rows_, shape_));
    // A step from a few rows to many says little about the many.
    constexpr double most_growth = 64;
    const double growth =
        static_cast<double>(current.delta_rows) / static_cast<double>(std::max<std::uint64_t>(last_delta_rows_, 1));
    next_host_seconds_ =
        std::max(last * std::min(growth, most_growth), costs_->host_iteration_seconds(current.delta_rows) / 4);
  }
  last_begin_ = current.now;
  last_delta_rows_ = current.delta_rows;
  next_device_seconds_ = costs_->device_iteration_seconds(next_host_seconds_, current.delta_rows, shape_);
  const double to_lose = lost_ + next_host_seconds_ - next_device_seconds_;
  return to_lose > current.ready_in && to_lose > current.ready_in + crossing();
}

}  // namespace gpulog::exec
