#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "gpulog/error.hpp"
#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#include "exec/hybrid/device_strata.hpp"
#include "exec/hybrid/hybrid_executor.hpp"
#endif

/// Choice of the backend for a program, based on the options, the machine and the limits of the device.
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

void engine_state::choose_backend() {
#if defined(GPULOG_WITH_GPU)
  const bool is_asked_for = options.backend == backend_kind::gpu;
  if (is_asked_for || (options.backend == backend_kind::automatic && !exec::gpu_is_for_tests())) {
    exec::prepare_gpu_start();
    if (exec::has_gpu_driver()) {
      device = std::make_unique<device_start>([number = options.device] { return exec::start_gpu(number); });
      if (is_asked_for) device->hurry();
      return;
    }
    if (is_asked_for) throw input_error("--backend gpu: " + exec::why_no_gpu(options.device));
  }
#else
  if (options.backend == backend_kind::gpu)
    throw input_error("--backend gpu: this gpulog was built without a GPU backend");
#endif
  require_cpu_options();
}

void engine_state::require_cpu_options() const {
  if (options.device != 0) throw input_error(fmt::format("the cpu backend has no device {}", options.device));
  if (tuned.joins == exec::join_mode::nested) throw input_error("--tune joins=nested is for a GPU, and there is none");
}

void engine_state::require_places() const {
  for (const auto& [name, backend] : options.places) {
    if (!analysed().find_relation(name))
      throw input_error(fmt::format("--place {}: the program has no relation {}", name, name));
    if (backend == backend_kind::gpu && options.backend == backend_kind::cpu)
      throw input_error(fmt::format("--place {}=gpu is not for --backend cpu", name));
  }
}

void engine_state::wait_for_device() {
  if (!device) return;
  const bool is_asked_for =
      options.backend == backend_kind::gpu || options.device != 0 || tuned.joins == exec::join_mode::nested;
  if (!is_asked_for) return;
  const std::string reason = device->wait();
  if (reason.empty()) return;
  device.reset();
  if (options.backend == backend_kind::gpu) throw input_error("--backend gpu: " + reason);
  require_cpu_options();
}

std::unique_ptr<exec::executor> engine_state::make_executor(const exec::options& chosen) {
  if (make_other_executor) return make_other_executor(chosen);
  if (device) {
    if (auto made = make_device_executor(chosen)) return made;
  }
  return exec::make_cpu_executor(running_plan(), symbols, memory, chosen);
}

/// Creates the executor for a device. Strata that the device cannot run or, in `auto`, runs more slowly are assigned to
/// the host.
/// @return nullptr if the host would run all strata
std::unique_ptr<exec::executor> engine_state::make_device_executor([[maybe_unused]] const exec::options& chosen) {
#if defined(GPULOG_WITH_GPU)
  exec::options on_device = chosen;
  on_device.device_block_bytes = exec::gpu_block_bytes(options.device, device->ready_in() == 0);
  exec::placement_rules rules;
  rules.wide = chosen.wide;
  rules.stop = chosen.stop;
  rules.reoptimize = chosen.reoptimize;
  rules.reoptimize_loop = chosen.reoptimize_loop;
  rules.supplementary = chosen.supplementary;
  for (exec::device_stratum& stratum : exec::find_device_strata(planned(), on_device)) {
    rules.why_not_on_device.push_back(std::move(stratum.why_not));
    rules.host_steps.push_back(stratum.host_steps.empty() ? "" : "partly by the cpu: " + stratum.host_steps);
  }
  set_places(options, analysed(), planned(), rules);
  if (options.backend == backend_kind::automatic)
    rules.costs.emplace(options.jobs, chosen.condensation != exec::condensation_mode::off);
  const std::size_t none = planned().strata.size();
  std::size_t refused = none;
  bool any_on_device = false;
  for (std::size_t s = 0; s < planned().strata.size(); ++s) {
    const plan::stratum& stratum = planned().strata[s];
    if (stratum.once.versions.empty() && stratum.loop.empty() && stratum.subsumptions.empty()) continue;
    if (rules.why_not_on_device[s].empty()) {
      any_on_device = true;
    } else if (refused == none) {
      refused = s;
    }
  }
  if (!any_on_device) {
    figures.fallback_reason = refused == none ? "there are no rules" : rules.why_not_on_device[refused];
    return nullptr;
  }
  figures.backend = "gpu";
  current->suits_device = [this, on_device, refused = rules.why_not_on_device](std::size_t number) {
    return !refused[number].empty() || exec::find_device_stratum(planned(), number, on_device).why_not.empty();
  };
  const auto make = [this, on_device, strata = exec::strata_of_device(planned(), rules)]() mutable {
    on_device.may_run = strata;
    on_device.backend_name = "gpu";
    return exec::make_gpu_executor(running_plan(), symbols, on_device, options.device, options.memory_limit);
  };
  exec::options on_host = chosen;
  on_host.may_run = exec::strata_of_host(planned(), rules);
  current->planner->set_sides({exec::strata_of_device(planned(), rules), on_host.may_run});
  return exec::make_hybrid_executor(running_plan(), std::make_unique<starting_device>(*device, options.device, make),
                                    exec::make_cpu_executor(running_plan(), symbols, memory, on_host),
                                    std::move(rules));
#else
  return nullptr;
#endif
}

}  // namespace gpulog::detail
