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

/// Rules for placing strata on one of two executors. The choice is made when a stratum starts, because the input sizes
/// are known then.
struct placement_rules {
  /// By stratum: the reason against the device; empty if the device can run the stratum.
  std::vector<std::string> why_not_on_device;
  /// By stratum: host work on behalf of the device, for the figures; may be empty.
  std::vector<std::string> host_steps = {};
  /// By stratum: whether the user forces the device; may be empty.
  std::vector<bool> wanted_on_device = {};
  /// Cost model; without a model, every eligible stratum runs on the device.
  std::optional<placement_costs> costs = {};
  /// For tests: movable recursions start on the host and move to the device before this iteration (from 0), regardless
  /// of costs.
  std::optional<std::uint64_t> move_at = {};
  std::function<bool(std::size_t)> reoptimize = {};       ///< as in options; must keep strata runnable on the device
  std::function<bool(std::size_t)> reoptimize_loop = {};  ///< likewise
  std::function<bool(std::size_t, std::size_t)> put_back = {};  ///< likewise
  supplementary_planner supplementary = {};                     ///< the same
  storage::wide_values* wide = nullptr;                         ///< as in options
  const std::atomic<bool>* stop = nullptr;                      ///< as in options
  std::string device_name = "gpu";
  std::string host_name = "cpu";
};

/// A device that may still be starting, and may turn out to be unavailable.
class device_source {
 public:
  device_source() = default;
  device_source(const device_source&) = delete;
  device_source& operator=(const device_source&) = delete;
  virtual ~device_source() = default;
  /// Returns the seconds until the device is usable; 0: now, infinity: never. Thread-safe and cheap, because each
  /// iteration calls this.
  [[nodiscard]] virtual double ready_in() const = 0;
  /// Waits for the device.
  /// @return nullptr if there is no device
  [[nodiscard]] virtual std::unique_ptr<stratum_executor> make() = 0;
  /// Returns the memory bandwidth once the device is started; 0: unknown.
  [[nodiscard]] virtual double bytes_per_second() const { return 0; }
};

/// Returns the strata that the executor on the host, or on the device, may have to run under these rules:
/// options::may_run.
[[nodiscard]] std::vector<bool> strata_of_host(const plan::program& program, const placement_rules& rules);
[[nodiscard]] std::vector<bool> strata_of_device(const plan::program& program, const placement_rules& rules);

/// Returns whether a running recursion can move to the device: its relations are sets of rows without further state.
[[nodiscard]] bool can_be_moved(const plan::program& program, const plan::stratum& stratum);

/// Creates an executor that runs each stratum on one of two executors over the same plan. A complete relation is copied
/// at most once, when a stratum on the opposite side reads it; copies on the device are freed after their last use. A
/// recursion can start on the host and continue on the device. Each executor obeys the memory limit of its resource.
[[nodiscard]] std::unique_ptr<executor> make_hybrid_executor(const plan::program& program,
                                                             std::unique_ptr<device_source> device,
                                                             std::unique_ptr<stratum_executor> host,
                                                             placement_rules rules);
/// The same with a device that has been started.
[[nodiscard]] std::unique_ptr<executor> make_hybrid_executor(const plan::program& program,
                                                             std::unique_ptr<stratum_executor> device,
                                                             std::unique_ptr<stratum_executor> host,
                                                             placement_rules rules);

}  // namespace gpulog::exec
