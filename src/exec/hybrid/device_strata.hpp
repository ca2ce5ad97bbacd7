#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// Where a stratum would run on a machine with a device.
struct device_stratum {
  std::string why_not;     ///< what keeps it from the device, with the rule; empty: the device can run it
  std::string host_steps;  ///< what the host does for it then, with the first such rule; empty: nothing
};
[[nodiscard]] device_stratum find_device_stratum(const plan::program& program, std::size_t number,
                                                 const options& chosen);
/// Of all strata.
[[nodiscard]] std::vector<device_stratum> find_device_strata(const plan::program& program, const options& chosen);

/// What a device would leave to the host, and why, as text; for --show. Empty: nothing.
[[nodiscard]] std::string explain_device_strata(const plan::program& program);

}  // namespace gpulog::exec
