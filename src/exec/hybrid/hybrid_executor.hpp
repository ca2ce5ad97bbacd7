#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "exec/hybrid/placement_costs.hpp"

namespace gpulog::exec {

/// Which of two executors runs a stratum. The choice is made when the stratum begins, as the sizes of what it reads are
/// known then.
struct placement_rules {
  /// By stratum: why it can't run on the device; empty: it can.
  std::vector<std::string> why_not_on_device;
  /// By stratum: what the host does for it on the device, a remark for the figures; empty: nothing is said.
  std::vector<std::string> host_steps = {};
  /// By stratum: whether the user wants it on the device at any cost; empty: none.
  std::vector<bool> wanted_on_device = {};
  /// What is expected of strata on either side; nothing: everything that can runs on the device.
  std::optional<placement_costs> costs = {};
  /// For tests: recursions that can be moved begin on the host, and move in front of the iteration with this number,
  /// from 0, whatever that costs.
  std::optional<std::uint64_t> move_at = {};
  std::function<bool(std::size_t)> reoptimize = {};       ///< as in options; what can run on the device can do so still
  std::function<bool(std::size_t)> reoptimize_loop = {};  ///< the same
  supplementary_planner supplementary = {};               ///< the same
  storage::wide_values* wide = nullptr;                   ///< as in options
  const std::atomic<bool>* stop = nullptr;                ///< as in options
  std::string device_name = "gpu";
  std::string host_name = "cpu";
};

/// A device that may have to be waited for, and that may turn out not to be there.
class device_source {
 public:
  device_source() = default;
  device_source(const device_source&) = delete;
  device_source& operator=(const device_source&) = delete;
  virtual ~device_source() = default;
  /// Seconds until it can be used; 0: it can be, infinity: it never can. Cheap, as it is asked once an iteration, and
  /// from any thread.
  [[nodiscard]] virtual double ready_in() const = 0;
  /// Waits for it. @return nullptr: there is none
  [[nodiscard]] virtual std::unique_ptr<stratum_executor> make() = 0;
  /// Of its memory, once it has been made; 0: not known.
  [[nodiscard]] virtual double bytes_per_second() const { return 0; }
};

/// Strata that the executor on the host may be asked for under these rules, and on the device: options::may_run.
[[nodiscard]] std::vector<bool> strata_of_host(const plan::program& program, const placement_rules& rules);
[[nodiscard]] std::vector<bool> strata_of_device(const plan::program& program, const placement_rules& rules);

/// Whether a recursion that has begun can go on elsewhere: its relations are sets of rows, and nothing else is kept
/// about them.
[[nodiscard]] bool can_be_moved(const plan::program& program, const plan::stratum& stratum);

/// Runs each stratum on one of two executors over the same plan. A complete relation crosses over when a stratum on the
/// other side reads it, at most once; what is no longer needed on the device is freed there. A recursion can begin on
/// the host and go on on the device. Both obey the memory limits of their own resources.
[[nodiscard]] std::unique_ptr<executor> make_hybrid_executor(const plan::program& program,
                                                             std::unique_ptr<device_source> device,
                                                             std::unique_ptr<stratum_executor> host,
                                                             placement_rules rules);
/// The same with a device that is there.
[[nodiscard]] std::unique_ptr<executor> make_hybrid_executor(const plan::program& program,
                                                             std::unique_ptr<stratum_executor> device,
                                                             std::unique_ptr<stratum_executor> host,
                                                             placement_rules rules);

}  // namespace gpulog::exec
