#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// Time that belongs to no rule.
struct time_share {
  std::string name;
  std::string meaning;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> parts;  ///< strata or passes, the longest first; may be empty
};

/// Returns the parts of a stratum's time that belong to no rule, by name, without parts of 0 seconds.
[[nodiscard]] std::vector<std::pair<std::string, double>> stratum_shares(const nlohmann::ordered_json& stratum);

/// Returns the times of a run that belong to no rule, the longest first. Rules and these times add up to the time of
/// the run.
[[nodiscard]] std::vector<time_share> shares_outside_rules(const run_record& record);

[[nodiscard]] double seconds_of_rules(const run_record& record);

}  // namespace gpulog::cli
