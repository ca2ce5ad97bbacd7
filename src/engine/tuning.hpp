#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "exec/executor.hpp"
#include "gpulog/options.hpp"
#include "plan/planner.hpp"

/// What `run_options::tuning` says, for those who act on it.
namespace gpulog::detail {

/// Where something is done that changes no result.
enum class tuning_mode : std::uint8_t {
  off,        ///< nowhere
  automatic,  ///< where it pays
  on          ///< wherever it is right
};

struct tuning {
  plan::options planning;                                  ///< chosen_planning() completes them
  std::map<std::string, tuning_mode, std::less<>> passes;  ///< those with modes; the others: automatic
  tuning_mode dense_domain_encoding = tuning_mode::automatic;
  tuning_mode reoptimization = tuning_mode::automatic;
  tuning_mode condensation = tuning_mode::automatic;
  tuning_mode continuation = tuning_mode::automatic;
  tuning_mode row_takeover = tuning_mode::automatic;
  bool priority_delta = true;
  double buffer_factor = 8;  ///< a merge buffer that grows gets room for full + this times delta; 0: exact
  exec::join_mode joins = exec::join_mode::materialized;

  [[nodiscard]] tuning_mode mode_of(std::string_view pass) const {
    const auto found = passes.find(pass);
    return found == passes.end() ? tuning_mode::automatic : found->second;
  }
  [[nodiscard]] bool runs(std::string_view pass) const { return !planning.off.contains(pass); }
  /// What a plan is made by.
  [[nodiscard]] plan::options chosen_planning() const;
};

/// @throws input_error for a name or a value that there is not
[[nodiscard]] tuning tuning_of(const run_options& options);

}  // namespace gpulog::detail
