#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// Least share of the run's time of a rule or an index with advice.
inline constexpr double advised_share = 0.05;
/// Least share of duplicates among the candidates of a rule with advice.
inline constexpr double advised_duplicates = 0.8;
/// Least factor between expected and actual rows of a step with advice.
inline constexpr double advised_error = 1000;

/// What could make a run faster, by its record.
struct advice {
  std::size_t rule = 0;  ///< in run_record::rules
  double seconds = 0;    ///< of the rule or the index
  std::string text;
};

/// Returns advice for a run, the longest time first. A rule whose versions have equal advice gets it once.
[[nodiscard]] std::vector<advice> advice_for(const run_record& record);

}  // namespace gpulog::cli
