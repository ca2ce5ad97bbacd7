#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.hpp"

namespace gpulog::exec {

/// Which of two executors runs a stratum. The choice is made when the stratum begins, as the sizes of what it reads are
/// known then.
struct mixing_rules {
  /// By stratum: why it can't run on the device; empty: it can.
  std::vector<std::string> why_not_on_device;
  /// By stratum: what the host does for it on the device, a remark for the figures; empty: nothing is said.
  std::vector<std::string> host_steps = {};
  /// A stratum that is not recursive runs on the host if all that it reads is there and has fewer rows together than
  /// this: kernels and copies would cost more than its work. 0: everything that can runs on the device.
  std::uint64_t small_rows = 0;
  storage::wide_values* wide = nullptr;  ///< as in options
  std::string device_name = "cuda";
  std::string host_name = "cpu";
};

/// Strata that the executor on the host may be asked for under these rules, and on the device: options::may_run.
[[nodiscard]] std::vector<bool> strata_of_host(const plan::program& program, const mixing_rules& rules);
[[nodiscard]] std::vector<bool> strata_of_device(const plan::program& program, const mixing_rules& rules);

/// Runs each stratum on one of two executors over the same plan. A complete relation crosses over when a stratum on the
/// other side reads it, at most once; what is needed no more on the device is freed there. Both obey the memory limits
/// of their own resources.
[[nodiscard]] std::unique_ptr<executor> make_mixed_executor(const plan::program& program,
                                                            std::unique_ptr<stratum_executor> device,
                                                            std::unique_ptr<stratum_executor> host, mixing_rules rules);

}  // namespace gpulog::exec
