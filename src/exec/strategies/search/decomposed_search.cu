#include "exec/strategies/search/decomposed_search.hpp"

#include <algorithm>
#include <vector>

#include "backend/gpu/launch.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/search/decomposed.cuh"

namespace gpulog::exec {

namespace {

namespace gpu_kernels = kernels::gpu;
using backend::array;
using backend::fresh_memory;
using gpu_kernels::search_arguments;
using gpu_kernels::step_run;
using storage::gpu::device_relation;
using storage::gpu::device_run;

using decomposed_kernel = backend::gpu::kernel<search_arguments>;

/// Result columns and the launches that fill them.
class search {
 public:
  search(const backend::gpu::device_context& context, backend::memory_resource& resource, search_arguments arguments,
         decomposed_kernel kernel, launch_shape shape)
      : context_(&context),
        resource_(&resource),
        arguments_(arguments),
        kernel_(kernel),
        shape_(shape),
        counts_(resource, 1),
        missing_(resource, arguments.groups.searches) {
    for (int c = 0; c < 2; ++c) columns_.emplace_back(resource);
    arguments_.counts = counts_.data();
    arguments_.missing = missing_.data();
  }

  /// For that many more rows.
  void make_room(std::uint64_t more) {
    const std::uint64_t rows = totals_.rows + more;
    if (rows <= arguments_.capacity) return;
    for (auto& column : columns_) grow_column(*context_, *resource_, column, totals_.rows, rows);
    arguments_.capacity = rows;
  }
  /// Numbers [first, last) of the sequence of all groups.
  void run(std::uint64_t first, std::uint64_t last) {
    arguments_.groups.listed = nullptr;
    launch(first, last);
  }
  void run_sample(std::uint64_t searches) { run(0, searches); }
  /// Going by the results of some searches.
  void make_room_for_all(std::uint64_t searches) {
    const double expected = expected_results(totals_.rows + totals_.missing_rows, searches, size());
    make_room(std::min(static_cast<std::uint64_t>(expected) + arguments_.values, size() * arguments_.values) -
              totals_.rows);
  }
  [[nodiscard]] std::uint64_t size() const { return arguments_.groups.searches; }
  [[nodiscard]] std::uint64_t missing() const { return totals_.missing_groups; }
  void make_room_for_missing() { make_room(totals_.missing_rows); }
  void run_missing() {
    const array<std::uint32_t> again = missing_.take();
    arguments_.missing = missing_.data();
    arguments_.groups.listed = again.data();
    launch(0, totals_.missing_groups);
  }
  [[nodiscard]] const search_arguments::totals& totals() const { return totals_; }
  [[nodiscard]] std::vector<array<word>> take() { return std::move(columns_); }

 private:
  void launch(std::uint64_t first, std::uint64_t last) {
    arguments_.groups.first = first;
    arguments_.groups.last = last;
    arguments_.invariant_column = columns_[0].data();
    arguments_.moving_column = columns_[1].data();
    totals_.next = totals_.missing_rows = totals_.missing_groups = 0;
    totals_.first_without_room = UINT64_MAX;
    backend::gpu::stream_handle stream = context_->stream();
    backend::gpu::copy_async(counts_.data(), &totals_, sizeof totals_, backend::gpu::direction::host_to_device, stream);
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(shape_.blocks, last - first));
    backend::gpu::launch(kernel_, {blocks, shape_.threads, arguments_.bitmap_words * sizeof(std::uint32_t), stream},
                         arguments_);
    backend::gpu::copy_async(&totals_, counts_.data(), sizeof totals_, backend::gpu::direction::device_to_host, stream);
    context_->synchronize();
    totals_.rows = std::min(totals_.rows, totals_.first_without_room);
  }

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  search_arguments arguments_;
  decomposed_kernel kernel_;
  launch_shape shape_;
  array<search_arguments::totals> counts_;
  missing_parts missing_;
  search_arguments::totals totals_{};
  std::vector<array<word>> columns_;  // invariant, moving
};

}  // namespace

std::uint64_t bitmap_values(const backend::gpu::device_context& context) {
  constexpr std::uint64_t other_shared_bytes = 1024;
  return (context.shared_bytes_per_block() - other_shared_bytes) * 8;
}

std::optional<kernels::decomposed_counts> run_decomposed(const backend::gpu::device_context& context,
                                                         backend::memory_resource& resource,
                                                         const kernels::decomposed_task& task,
                                                         const kernels::relation_list<device_relation>& relations,
                                                         const std::atomic<bool>* stop) {
  device_relation& target = *relations[task.target];
  if (target.rows() == 0 || target.rows() > UINT32_MAX) return std::nullopt;
  std::vector<step_run> runs;
  for (const kernels::step_source& step : task.steps) {
    for (const auto& view : relations[step.relation]->index(step.index).views(true, true, step.level)) {
      runs.push_back({view, view.stored + step.stored * view.rows});
    }
  }
  const std::uint64_t values = task.values;
  const std::uint64_t bitmap_bytes = (values + 31) / 32 * sizeof(std::uint32_t);
  const bool direct =
      runs.size() <= search_arguments::most_direct &&
      std::all_of(runs.begin(), runs.end(), [](const step_run& run) { return run.view.direct != nullptr; });
  const decomposed_kernel kernel =
      direct ? GPULOG_KERNEL(gpu_kernels::search_kernel<true>) : GPULOG_KERNEL(gpu_kernels::search_kernel<false>);
  launch_shape shape = shape_of(context, kernel, bitmap_bytes);
  if (shape.blocks == 0) return std::nullopt;

  // The first tuples by invariant: an index of them.
  storage::index_layout by_invariant;
  by_invariant.order = {task.invariant, task.moving};
  by_invariant.key_lengths = {1};
  by_invariant.stored = {task.moving};
  device_run starts(resource, by_invariant);
  starts.build(context, resource, target.columns(), 0, target.rows());
  const storage::gpu::run_view view = starts.view(0);

  array<step_run> device_runs(resource, runs.size(), fresh_memory::anything);
  upload(context, device_runs, runs);
  shape.blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(context.memory_bytes() / queue_share / (values * sizeof(word)), 1, shape.blocks));
  array<word> queues(resource, shape.blocks * values, fresh_memory::anything);

  search_arguments arguments;
  arguments.invariants = view.level.keys;
  arguments.first = view.level.first;
  arguments.starts = view.stored;
  const std::uint64_t groups = starts.exact_groups(context, 0);
  arguments.groups.searches = groups;
  arguments.groups.stride = even_stride(groups);
  arguments.runs = device_runs.data();
  arguments.run_count = static_cast<std::uint32_t>(runs.size());
  for (std::size_t r = 0; direct && r < runs.size(); ++r)
    arguments.direct_runs[r] = {runs[r].view.direct, runs[r].view.direct_size, runs[r].values};
  arguments.bitmap_words = static_cast<std::uint32_t>(bitmap_bytes / sizeof(std::uint32_t));
  arguments.queues = queues.data();
  arguments.values = values;

  search all(context, resource, arguments, kernel, shape);
  const std::uint64_t sample = std::min<std::uint64_t>(groups, sample_searches * shape.blocks);
  all.make_room(std::min(sample * values, sample_rows));
  run_sampled(all, sample, stop);
  const kernels::decomposed_counts counts{all.totals().candidates, all.totals().iterations};
  const std::uint64_t rows = all.totals().rows;
  auto columns = all.take();
  if (task.invariant == 1) std::swap(columns[0], columns[1]);
  target.replace(std::move(columns), rows);
  return counts;
}

}  // namespace gpulog::exec
