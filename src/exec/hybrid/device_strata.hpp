#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// Whether a stratum can run on a device.
struct device_stratum {
  std::string why_not;     ///< the reason, with the rule, why the device cannot run the stratum; empty: it can
  std::string host_steps;  ///< what the host would do for the device, with the first such rule; empty: nothing
};
[[nodiscard]] device_stratum find_device_stratum(const plan::program& program, std::size_t number,
                                                 const options& chosen);
/// The same for all strata.
[[nodiscard]] std::vector<device_stratum> find_device_strata(const plan::program& program, const options& chosen);

/// Describes what a device would leave to the host, and why, for --show. Empty: nothing.
[[nodiscard]] std::string explain_device_strata(const plan::program& program);

}  // namespace gpulog::exec
