#include "exec/hybrid/placement_costs.hpp"

#include <algorithm>
#include <cmath>

#include "exec/calibration.hpp"

namespace gpulog::exec {

namespace {

namespace rates = calibration;

double speedup(double candidates, unsigned threads, double exponent) {
  return std::pow(std::clamp(candidates / rates::candidates_of_a_worker, 1.0, static_cast<double>(threads)), exponent);
}

}  // namespace

double placement_costs::host_rate(double candidates) const {
  return rates::host_candidates_per_second * speedup(candidates, threads_, rates::host_scaling) /
         corrections_[static_cast<std::size_t>(side::host)];
}

double placement_costs::host_search_rate(double candidates) const {
  const double rate = condenses_ ? rates::host_condensed_per_second : rates::host_searched_per_second;
  return rate * speedup(candidates, threads_, rates::host_search_scaling);
}

double placement_costs::host_seconds(const stratum_work& work) const {
  return rates::host_stratum_seconds + static_cast<double>(work.versions) * rates::host_version_seconds +
         work.candidates / host_rate(work.candidates) + work.searched / host_search_rate(work.searched);
}

double placement_costs::device_seconds(const stratum_work& work) const {
  const double correction = corrections_[static_cast<std::size_t>(side::device)];
  double seconds =
      rates::device_stratum_seconds + static_cast<double>(work.versions) * rates::device_version_seconds +
      correction / device_speed_ *
          (work.candidates / rates::device_candidates_per_second + work.searched / rates::device_searched_per_second);
  if (work.has_host_steps) seconds += rates::host_step_share * work.candidates / host_rate(work.candidates);
  return seconds;
}

double placement_costs::host_iteration_seconds(std::uint64_t delta_rows) const {
  const auto rows = static_cast<double>(delta_rows);
  return rows / host_rate(rows);
}

double placement_costs::device_iteration_seconds(double host_seconds, std::uint64_t delta_rows,
                                                 const iteration_shape& shape) const {
  const double candidates = host_seconds * host_rate(static_cast<double>(delta_rows));
  const double started = shape.may_loop && delta_rows <= rates::most_looped_rows ? rates::looped_iteration_seconds
                                                                                 : rates::launched_iteration_seconds;
  return started + static_cast<double>(shape.versions) * rates::iteration_version_seconds +
         corrections_[static_cast<std::size_t>(side::device)] / device_speed_ * candidates /
             rates::device_candidates_per_second;
}

double placement_costs::crossing_seconds(std::size_t relations, std::uint64_t bytes) {
  return static_cast<double>(relations) * rates::crossing_seconds_of_a_relation +
         static_cast<double>(bytes) / rates::crossing_bytes_per_second;
}

double placement_costs::loading_seconds(side where, std::uint64_t rows, std::uint64_t bytes) const {
  if (where == side::host) return static_cast<double>(rows) / rates::host_loaded_rows_per_second;
  return crossing_seconds(1, rows * bytes) +
         static_cast<double>(rows) / (device_speed_ * rates::device_candidates_per_second);
}

void placement_costs::set_device(double bytes_per_second) {
  if (bytes_per_second > 0) device_speed_ = bytes_per_second / rates::measured_device_bytes_per_second;
}

void placement_costs::learn(side where, const stratum_work& done, double seconds) {
  constexpr double most = rates::most_correction;
  if (seconds < rates::least_learned_seconds || done.candidates == 0 || done.searched != 0) return;
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
    const double growth =
        static_cast<double>(current.delta_rows) / static_cast<double>(std::max<std::uint64_t>(last_delta_rows_, 1));
    next_host_seconds_ = std::max(last * std::min(growth, rates::most_expected_growth),
                                  costs_->host_iteration_seconds(current.delta_rows) / 4);
  }
  last_begin_ = current.now;
  last_delta_rows_ = current.delta_rows;
  next_device_seconds_ = costs_->device_iteration_seconds(next_host_seconds_, current.delta_rows, shape_);
  const double to_lose = lost_ + next_host_seconds_ - next_device_seconds_;
  return to_lose > current.ready_in && to_lose > current.ready_in + crossing();
}

}  // namespace gpulog::exec
