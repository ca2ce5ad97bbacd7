#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluation.hpp"
#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#include "exec/hybrid/device_strata.hpp"
#include "exec/hybrid/hybrid_executor.hpp"
#endif

/// Choice of the executor of an evaluation, based on the options and the limits of the device.
namespace gpulog::detail {

#if defined(GPULOG_WITH_GPU)
namespace {

/// The device of a run; creates the executor when the device receives its first stratum.
class starting_device final : public exec::device_source {
 public:
  using maker = std::function<std::unique_ptr<exec::stratum_executor>()>;
  starting_device(device_start& start, int number, maker make)
      : start_(&start), number_(number), make_(std::move(make)) {}
  [[nodiscard]] double ready_in() const override { return start_->ready_in(); }
  [[nodiscard]] std::unique_ptr<exec::stratum_executor> make() override {
    return start_->wait().empty() ? make_() : nullptr;
  }
  [[nodiscard]] double bytes_per_second() const override { return exec::gpu_bytes_per_second(number_); }

 private:
  device_start* start_;
  int number_;
  maker make_;
};

/// Applies --place, which overrides the cost rules but not the limits of the device.
void set_places(const run_options& options, const sema::program& analysed, const plan::program& planned,
                exec::placement_rules& rules) {
  rules.wanted_on_device.assign(planned.strata.size(), false);
  for (const auto& [name, backend] : options.places) {
    const auto relation = analysed.find_relation(name);
    for (std::size_t s = 0; s < planned.strata.size(); ++s) {
      const std::vector<relation_id>& members = planned.strata[s].relations;
      if (std::find(members.begin(), members.end(), *relation) == members.end()) continue;
      rules.wanted_on_device[s] = backend == backend_kind::gpu;
      if (backend == backend_kind::cpu) rules.why_not_on_device[s] = "--place " + name + "=cpu";
    }
  }
}

}  // namespace
#endif

std::unique_ptr<exec::executor> evaluation::make_executor(const exec::options& chosen) {
  if (run_.device) {
    if (auto made = make_device_executor(chosen)) return made;
  }
  return exec::make_cpu_executor(running_plan(), run_.values.symbols, run_.values.memory, chosen);
}

/// Creates the executor for a device. Strata that the device cannot run or, in `auto`, runs more slowly are assigned to
/// the host.
/// @return nullptr if the host would run all strata
std::unique_ptr<exec::executor> evaluation::make_device_executor([[maybe_unused]] const exec::options& chosen) {
#if defined(GPULOG_WITH_GPU)
  const run_options& options = run_.options;
  exec::options on_device = chosen;
  on_device.device_block_bytes = exec::gpu_block_bytes(options.device, run_.device->ready_in() == 0);
  exec::placement_rules rules;
  rules.wide = chosen.wide;
  rules.stop = chosen.stop;
  rules.reoptimize = chosen.reoptimize;
  rules.reoptimize_loop = chosen.reoptimize_loop;
  rules.put_back = chosen.put_back;
  rules.supplementary = chosen.supplementary;
  for (exec::device_stratum& stratum : exec::find_device_strata(plan(), on_device)) {
    rules.why_not_on_device.push_back(std::move(stratum.why_not));
    rules.host_steps.push_back(stratum.host_steps.empty() ? "" : "partly by the cpu: " + stratum.host_steps);
  }
  set_places(options, run_.analysed(), plan(), rules);
  if (options.backend == backend_kind::automatic) rules.costs.emplace(options.jobs, chosen.rows != row_mode::searches);
  const std::size_t none = plan().strata.size();
  std::size_t refused = none;
  bool any_on_device = false;
  for (std::size_t s = 0; s < plan().strata.size(); ++s) {
    const plan::stratum& stratum = plan().strata[s];
    if (stratum.once.versions.empty() && stratum.loop.empty() && stratum.subsumptions.empty()) continue;
    if (rules.why_not_on_device[s].empty()) {
      any_on_device = true;
    } else if (refused == none) {
      refused = s;
    }
  }
  if (!any_on_device) {
    run_.figures.fallback_reason = refused == none ? "there are no rules" : rules.why_not_on_device[refused];
    return nullptr;
  }
  run_.figures.backend = "gpu";
  suits_device_ = [this, on_device, refused = rules.why_not_on_device](std::size_t number) {
    return !refused[number].empty() || exec::find_device_stratum(plan(), number, on_device).why_not.empty();
  };
  const auto make = [this, on_device, strata = exec::strata_of_device(plan(), rules)]() mutable {
    on_device.may_run = strata;
    on_device.backend_name = "gpu";
    return exec::make_gpu_executor(running_plan(), run_.values.symbols, on_device, run_.options.device,
                                   run_.options.memory_limit);
  };
  exec::options on_host = chosen;
  on_host.may_run = exec::strata_of_host(plan(), rules);
  planner_->set_sides({exec::strata_of_device(plan(), rules), on_host.may_run});
  return exec::make_hybrid_executor(
      running_plan(), std::make_unique<starting_device>(*run_.device, options.device, make),
      exec::make_cpu_executor(running_plan(), run_.values.symbols, run_.values.memory, on_host), std::move(rules));
#else
  return nullptr;
#endif
}

}  // namespace gpulog::detail
