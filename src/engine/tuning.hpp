#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "exec/executor.hpp"
#include "gpulog/options.hpp"
#include "plan/planner.hpp"

/// The settings in `run_options::tuning`, in parsed form.
namespace gpulog::detail {

/// The extent of an optimization that never changes results.
enum class tuning_mode : std::uint8_t {
  off,        ///< never
  automatic,  ///< if likely to be worthwhile
  on          ///< wherever it is correct
};

struct tuning {
  plan::options planning;                                  ///< completed by chosen_planning()
  std::map<std::string, tuning_mode, std::less<>> passes;  ///< passes with modes; all further passes: automatic
  tuning_mode dense_domain_encoding = tuning_mode::automatic;
  tuning_mode reoptimization = tuning_mode::automatic;
  tuning_mode condensation = tuning_mode::automatic;
  tuning_mode continuation = tuning_mode::automatic;
  tuning_mode row_takeover = tuning_mode::automatic;
  bool priority_delta = true;
  double buffer_factor = 8;  ///< a growing merge buffer reserves full + this factor times delta; 0: exact
  exec::join_mode joins = exec::join_mode::materialized;

  [[nodiscard]] tuning_mode mode_of(std::string_view pass) const {
    const auto found = passes.find(pass);
    return found == passes.end() ? tuning_mode::automatic : found->second;
  }
  [[nodiscard]] bool runs(std::string_view pass) const { return !planning.off.contains(pass); }
  /// Returns the options for the planner.
  [[nodiscard]] plan::options chosen_planning() const;
};

/// @throws input_error for an unknown name or an invalid value
[[nodiscard]] tuning tuning_of(const run_options& options);

}  // namespace gpulog::detail
