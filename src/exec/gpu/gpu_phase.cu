// Runs the versions of a phase with combined launches.

#include <algorithm>
#include <map>

#include "backend/gpu/vendor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "exec/gpu/row_counts.hpp"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using gpu_kernels::batch_report;
using gpu_kernels::batch_threads;
using kernels::expansion_kind;
using kernels::relation_number;
using kernels::segment;

namespace {

constexpr std::size_t most_tasks = pinned_reports::most_tasks;
constexpr std::size_t most_shared_words = 10240;

bool reads_sets(const kernels::pipeline& program) {
  return std::any_of(program.segments.begin(), program.segments.end(), [](const segment& one) {
    return std::any_of(one.steps.begin(), one.steps.end(),
                       [](const kernels::step& step) { return step.kind == kernels::step_kind::exists_tuple; });
  });
}

/// Returns whether the batch kernel reports every count: a thread takes a row through all steps and reports only the
/// number of results, not the intermediate counts.
bool tells_all_counts(const kernels::pipeline& program) {
  return program.segments.size() <= 2 &&
         std::all_of(program.segments.begin(), program.segments.end(),
                     [](const segment& one) { return one.steps.empty() && one.choices.empty(); });
}

/// Counts the rows of a version with at most two segments that ran together with further versions.
/// @param with_last false if the results of the last segment are already counted
void count_version(const phase_version& version, bool with_last) {
  const std::size_t last = version.program->segments.size() - 1;
  if (last != 0) count_rows(*version.program, 0, version.rows);
  if (with_last) count_rows(*version.program, last, version.counts.candidates);
  count_run(*version.program);
}

/// Leaves a version that ended early to run().
void leave(phase_version& version, const std::vector<std::uint64_t>& counts_before) {
  if (version.program->counted != nullptr) version.program->counted->counts = counts_before;
  version.state = phase_version::outcome::left;
  version.counts = {};
}

/// Takes the work of a complete version from its budget. If the budget is spent, the loop runs the phase again.
void take_from_budget(const phase_version& version) {
  kernels::work_budget* const budget = version.program->budget;
  if (budget == nullptr) return;
  const std::uint64_t candidates = version.counts.candidates;
  budget->take(static_cast<double>(candidates) + budget->cost_of_results(candidates, version.counts.fresh));
}

std::uint64_t blocks_for_rows(std::uint64_t rows, std::uint32_t rows_of_wave) {
  const std::uint64_t rows_of_block = std::uint64_t{rows_of_wave} * gpu_kernels::batch_waves;
  return (rows + rows_of_block - 1) / rows_of_block;
}

/// Returns the fewest rows per wave, as a power of two, with which all blocks of a batch run at a time.
std::uint32_t rows_of_wave_for(const std::vector<phase_version*>& versions, std::uint64_t most_blocks) {
  std::uint32_t rows_of_wave = calibration::least_rows_of_wave;
  const auto blocks = [&] {
    std::uint64_t sum = 0;
    for (const phase_version* version : versions) sum += blocks_for_rows(version->rows, rows_of_wave);
    return sum;
  };
  while (rows_of_wave < backend::gpu::wave_size && blocks() > most_blocks) rows_of_wave *= 2;
  return rows_of_wave;
}

/// Identifies the parameters of a pipeline in a batch, which differ from the parameters of its regular kernels.
const void* batch_owner(const kernels::pipeline& program) { return program.segments.data(); }

}  // namespace

struct gpu_machine::batch {
  std::vector<phase_version*> versions;
  std::uint64_t number = 0;
};

bool gpu_machine::needs_one_launch(const phase_version& version) {
  const kernels::pipeline& program = *version.program;
  if (version.rows > calibration::most_rows_of_one_launch) return false;
  const auto& segments = program.segments;
  if (segments.size() == 1) return segments[0].kind == expansion_kind::scan;
  return segments.size() == 2 && segments[0].kind == expansion_kind::scan && segments[0].steps.empty() &&
         segments[1].kind == expansion_kind::match && segments[1].ended_fold == 0;
}

void gpu_machine::run_together(std::vector<phase_version>& versions, kernels::relation_list<relation>& relations,
                               const std::atomic<bool>* stop) {
  small_runs_.flush();
  batch small;
  std::vector<phase_version*> large;
  for (phase_version& version : versions) {
    const kernels::pipeline& program = *version.program;
    if (reads_kept_rows(program, relations)) continue;  // factorized rows must be materialized first
    const auto limit = batch_rows_.find(&program);
    const bool is_small = version.rows <= (limit == batch_rows_.end() ? cut_.batch_rows : limit->second) &&
                          version.expected_candidates <= calibration::most_batch_candidates &&
                          (!relations[program.target]->only_appends() || relations[program.target]->tail() == 0) &&
                          gpu_kernels::is_nest(program) && !gpu_kernels::has_wide_product(program, relations) &&
                          gpu_kernels::batch_shared_words(program) <= most_shared_words &&
                          small.versions.size() < most_tasks;
    if (is_small) {
      // Repeating a batch requires a tuple set.
      relations[program.target]->use_set();
      small.versions.push_back(&version);
    } else if (needs_one_launch(version) && large.size() < backend::gpu::device_context::most_reports) {
      large.push_back(&version);
    }
  }
  if (!small.versions.empty()) launch_batch(small, relations);
  // A single version gains nothing over run().
  if (large.size() == 1) large.clear();
  launch_large(large, relations, stop);
  // Reports arrive in launch order, and each includes all rows appended so far.
  if (!small.versions.empty()) finish_batch(small, relations);
  finish_large(large, relations, stop);
  for (const phase_version& version : versions) relations[version.program->target]->release_outgrown();
}

void gpu_machine::launch_large(std::vector<phase_version*>& versions, kernels::relation_list<relation>& relations,
                               const std::atomic<bool>* stop) {
  while (launched_.size() < versions.size()) launched_.push_back(std::make_unique<launched>(*resource_));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const phase_version& version = *versions[i];
    launched_[i]->report = 0;
    running run{*version.program, relations, version.expected_candidates, stop, {}, launched_[i].get()};
    parameters_.start(version.program);
    run_from_start(run, version.rows);
  }
}

void gpu_machine::finish_large(std::vector<phase_version*>& versions, kernels::relation_list<relation>& relations,
                               const std::atomic<bool>* stop) {
  std::vector<std::size_t> refused;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    phase_version& version = *versions[i];
    version.state = phase_version::outcome::done;
    if (launched_[i]->report == 0) {  // the version's index has no runs
      count_version(version, true);
      continue;
    }
    relation& target = *relations[version.program->target];
    const backend::gpu::kernel_report report = context_->wait_for_report(launched_[i]->report);
    if (report.fault != 0) {
      version.state = phase_version::outcome::fault;
      return;
    }
    version.counts.candidates = report.candidates;
    if (report.refused != 0) {
      refused.push_back(i);
      continue;
    }
    version.counts.fresh = report.rows - target.tail();
    target.set_tail(report.rows);
    count_version(version, true);
    take_from_budget(version);
  }
  // The matches of the refused versions are known, and old buffers of grown relations stay allocated until all versions
  // are done.
  for (const std::size_t i : refused) {
    phase_version& version = *versions[i];
    if (reads_sets(*version.program)) {
      // A different version may have moved the sets that this version reads.
      version.state = phase_version::outcome::left;
      version.counts = {};
      continue;
    }
    running run{*version.program, relations, version.expected_candidates, stop, {}};
    const auto& counted = version.program->counted;
    std::vector<std::uint64_t> counts_before;
    if (counted != nullptr) counts_before = counted->counts;
    try {
      insert_candidates(run, launched_[i]->arguments, version.counts.candidates);
      version.counts = run.counts;
      count_version(version, false);
    } catch (const kernels::arithmetic_fault&) {
      version.state = phase_version::outcome::fault;
      return;
    } catch (const kernels::over_budget&) {
      leave(version, counts_before);  // run() repeats the version and ends at the same place
    } catch (const backend::memory_exceeded&) {
      leave(version, counts_before);  // run() repeats the version and names the failing rule
    }
  }
}

void gpu_machine::launch_batch(batch& all, kernels::relation_list<relation>& relations) {
  std::map<relation_number, std::uint64_t> threads;  // threads that insert into each relation
  const std::uint32_t rows_of_wave = rows_of_wave_for(all.versions, context_->full_blocks(batch_threads));
  const auto blocks_of = [rows_of_wave](const phase_version& version) {
    return blocks_for_rows(version.rows, rows_of_wave);
  };
  for (const phase_version* version : all.versions) {
    threads[version->program->target] += blocks_of(*version) * batch_threads;
  }
  for (const auto& [number, count] : threads) {
    relation& target = *relations[number];
    if (target.arity() == 0) continue;
    try {
      if (target.room() < count + calibration::batch_room) target.grow(count + 2 * calibration::batch_room, false);
    } catch (const backend::memory_exceeded&) {
      // Run separately, the versions may need less memory; if not, run() names the failing rule.
      const relation_number full = number;
      std::erase_if(all.versions, [full](const phase_version* one) { return one->program->target == full; });
    }
    target.release_outgrown();
  }
  if (all.versions.empty()) return;

  std::vector<gpu_kernels::batch_task> tasks;
  std::vector<gpu_kernels::batch_share> shares;
  std::size_t shared_words = 0;
  const auto put = [this](const auto& values) { return parameters_.put(values); };
  const auto steps = [&](const std::vector<kernels::step>& of) { return steps_of(of, relations, parameters_); };
  for (const phase_version* version : all.versions) {
    const kernels::pipeline& program = *version->program;
    relation& target = *relations[program.target];
    parameters_.start(batch_owner(program));
    gpu_kernels::batch_task& task = tasks.emplace_back();
    task.body = gpu_kernels::nested_body_of<storage::gpu::run_view, storage::gpu::set_view>(program, relations, true,
                                                                                            put, steps);
    task.set = target.set();
    task.counter = target.counter();
    task.safe_rows = target.arity() == 0 ? 0 : target.limit() - threads[program.target];
    shared_words = std::max(shared_words, gpu_kernels::batch_shared_words(program));
    for (std::uint32_t part = 0; part < blocks_of(*version); ++part) {
      shares.push_back({static_cast<std::uint32_t>(tasks.size() - 1), part});
    }
  }
  if (!batch_reports_) {
    batch_reports_ = std::make_unique<pinned_reports>();
    batch_outcomes_ = backend::array<gpu_kernels::batch_outcome>(*resource_, most_tasks);
  }
  parameters_.start(this);
  gpu_kernels::batch_arguments arguments;
  arguments.tasks = parameters_.put(tasks);
  arguments.task_count = static_cast<std::uint32_t>(tasks.size());
  arguments.shares = parameters_.put(shares);
  arguments.rows_of_wave = rows_of_wave;
  arguments.outcomes = batch_outcomes_.data();
  arguments.finished_blocks = finished_blocks_.data();
  arguments.reports = batch_reports_->reports;
  arguments.report_number = batch_reports_->number;
  arguments.number = all.number = *batch_reports_->number + 1;
  parameters_.flush();
  gpu_kernels::run_batch(*context_, arguments, static_cast<unsigned>(shares.size()), shared_words);
}

void gpu_machine::finish_batch(batch& all, kernels::relation_list<relation>& relations) {
  if (all.versions.empty()) return;
  context_->wait_for_value(*batch_reports_->number, all.number);
  for (std::size_t i = 0; i < all.versions.size(); ++i) {
    phase_version& version = *all.versions[i];
    const batch_report& report = batch_reports_->reports[i];
    relations[version.program->target]->set_tail(report.rows);
    if (report.outcome.fault != 0) {
      version.state = phase_version::outcome::fault;
    } else if (report.outcome.refused != 0) {
      batch_rows_[version.program] = version.rows / 2;
    } else {
      version.state = phase_version::outcome::done;
      version.counts = {report.outcome.candidates, report.outcome.fresh};
      take_from_budget(version);
      if (tells_all_counts(*version.program)) count_version(version, true);
    }
  }
}

}  // namespace gpulog::exec
