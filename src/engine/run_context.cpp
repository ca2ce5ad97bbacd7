#include "engine/run_context.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <thread>

#include "sema/checks/needed_relations.hpp"
#include "storage/relation/relation.hpp"
#include "support/option_names.hpp"
#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#endif

namespace gpulog::detail {
namespace {

const char* name_of(storage_kind kind) {
  switch (kind) {
    case storage_kind::automatic:
      return "auto";
    case storage_kind::hisa:
      return "hisa";
    case storage_kind::hash:
      return "hash";
    case storage_kind::bits:
      return "bits";
    case storage_kind::words:
      return "words";
  }
  return "";
}

/// Takes folders from the program's pragmas unless the caller chose some.
run_options with_folders(run_options chosen, const std::map<std::string, std::string>& pragmas) {
  const auto from_pragma = [&pragmas](const std::string& key, std::string& folder) {
    const auto found = pragmas.find(key);
    if (folder == run_options{}.fact_directory && found != pragmas.end()) folder = found->second;
  };
  from_pragma("fact-dir", chosen.fact_directory);
  from_pragma("output-dir", chosen.output_directory);
  chosen.output_to_stdout = chosen.output_to_stdout || chosen.output_directory == "-";
  return chosen;
}

}  // namespace

run_context::run_context(std::shared_ptr<const program_state> program, run_options chosen)
    : options(with_folders(std::move(chosen), program->analysed->pragmas)),
      tuned(tuning_of(options)),
      values(*program->analysed),
      functors(options, program->analysed->pragmas) {
  if (tuned.joins == exec::join_mode::nested && options.storage != storage_kind::hisa)
    throw input_error("the tuning choice joins=nested needs " + option_named("storage", "hisa"));
  require_places(*program->analysed);
  choose_device();
  if (options.jobs == 0) options.jobs = std::max(1U, std::thread::hardware_concurrency());
  limit_memory();
  if (options.ranks != nullptr) {
    const exec::rank_means means{options.jobs, options.device, tuned.planning.rows, options.memory_limit,
                                 options.spill_directory};
    strip_counters = std::make_unique<exec::rank_strips>(*options.ranks, means);
    divider = std::make_unique<exec::rank_divider>(*options.ranks, means, tuned.run.of("divided-strata"));
    if (device) divider->start_devices();
  }
  set_program(std::move(program));
}

void run_context::limit_memory() {
  const std::string& folder = options.spill_directory;
  values.memory.set_limit(options.memory_limit);
  if (folder.empty()) return;
  try {
    values.memory.spill_into(folder);
  } catch (const std::system_error& reason) {
    throw input_error(fmt::format("{}: {}", option_named("spill", folder), reason.code().message()));
  }
}

void run_context::set_program(std::shared_ptr<const program_state> program) {
  source = std::move(program);
  needed = tuned.planning.modes.is_always("unneeded-relations") ? sema::needed_relations(analysed())
                                                                : std::vector<bool>(analysed().relations.size(), true);
  // Stored and changed facts are compared with all their texts.
  const bool ends_with_run = options.only_outputs && options.state_file.empty() && !options.changes;
  unread_texts.clear();
  results.clear();
  if (ends_with_run && tuned.planning.modes.is_always("unneeded-relations")) {
    unread_texts = sema::unread_texts(analysed(), needed);
    results = sema::printed_relations(analysed());
  }
  functors.find(analysed(), needed, options, values);
  begin_figures();
}

void run_context::begin_figures() {
  figures = {};
  figures.backend = "cpu";
  figures.storage = name_of(options.storage);
  figures.jobs = options.jobs;
  figures.word_size = static_cast<unsigned>(source->words);
  figures.compile_seconds = figures.total_seconds = source->compile_seconds;
  zero = storage::seconds_now() - source->compile_seconds;
  figures.spans.push_back({"compile", "", 0, source->compile_seconds, true});
}

void run_context::require_cpu_options() const {
  if (options.device != 0) throw input_error(fmt::format("the cpu backend has no device {}", options.device));
  if (tuned.joins == exec::join_mode::nested) throw input_error("the tuning choice joins=nested needs a GPU");
}

void run_context::require_places(const sema::program& program) const {
  for (const auto& [name, backend] : options.places) {
    if (!program.find_relation(name))
      throw input_error(fmt::format("--place {}: the program has no relation {}", name, name));
    if (backend == backend_kind::gpu && options.backend == backend_kind::cpu)
      throw input_error(fmt::format("--place {}=gpu is not for --backend cpu", name));
  }
}

void run_context::choose_device() {
#if defined(GPULOG_WITH_GPU)
  const bool is_asked_for = options.backend == backend_kind::gpu;
  if (is_asked_for || (options.backend == backend_kind::automatic && !exec::gpu_is_for_tests())) {
    exec::prepare_gpu_start();
    if (exec::has_gpu_driver()) {
      device = std::make_unique<device_start>([number = options.device] { return exec::start_gpu(number); });
      if (is_asked_for) device->hurry();
      return;
    }
    if (is_asked_for) throw input_error(option_named("backend", "gpu") + ": " + exec::why_no_gpu(options.device));
  }
#else
  if (options.backend == backend_kind::gpu)
    throw input_error(option_named("backend", "gpu") + ": this gpulog was built without a GPU backend");
#endif
  require_cpu_options();
}

void run_context::wait_for_device() {
  const bool is_asked_for =
      options.backend == backend_kind::gpu || options.device != 0 || tuned.joins == exec::join_mode::nested;
  if (!device || !is_asked_for) return;
  const std::string reason = device->wait();
  if (reason.empty()) return;
  device.reset();
  if (options.backend == backend_kind::gpu) throw input_error(option_named("backend", "gpu") + ": " + reason);
  require_cpu_options();
}

memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                 const backend::memory_resource& memory) {
  return memory_limit_error(fmt::format("Out of memory while {}: {}", doing, backend::shortage(fault, memory)));
}

}  // namespace gpulog::detail
