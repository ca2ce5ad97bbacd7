#include "exec/strategies/search/device_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/gpu/launch.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/search/search.cuh"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using kernels::gpu::search_arguments;
using kernels::gpu::search_member_view;
using kernels::gpu::step_run;
using storage::gpu::device_relation;
using search_kernel = backend::gpu::kernel<search_arguments>;

/// The input of searches: over values, indexes of relations; over numbers, lists.
struct searched_graph {
  search_arguments arguments;             ///< without the fields that belong to a launch
  std::vector<search_member_view> views;  ///< by member, without result columns
};

/// Result columns of all members, and the launches that fill them.
class device_search {
 public:
  device_search(const backend::gpu::device_context& context, backend::memory_resource& resource,
                const std::vector<row_member>& members, const searched_graph& graph, search_kernel kernel,
                const launch_shape& shape)
      : context_(context),
        resource_(resource),
        members_(members),
        arguments_(graph.arguments),
        kernel_(kernel),
        shape_(shape),
        rows_(resource, members.size()),
        places_(resource, members.size() * size(), fresh_memory::anything),
        missing_(resource, size()),
        counts_(resource, 1),
        device_views_(resource, members.size(), fresh_memory::anything),
        views_(graph.views),
        taken_(members.size(), 0) {
    arguments_.rows = rows_.data();
    arguments_.places = places_.data();
    arguments_.missing = missing_.data();
    arguments_.counts = counts_.data();
    arguments_.members = device_views_.data();
    arguments_.member_count = static_cast<std::uint32_t>(members.size());
    arguments_.all_of_one = members.size() == 1 && arguments_.numbers == views_[0].size;
    for (std::size_t m = 0; m < members.size(); ++m) {
      views_[m].invariant_columns = static_cast<std::uint32_t>(members[m].sources.size());
      views_[m].node_columns = static_cast<std::uint32_t>(members[m].targets.size());
      auto& columns = columns_.emplace_back();
      for (std::uint32_t c = 0; c < views_[m].invariant_columns + views_[m].node_columns; ++c)
        columns.emplace_back(resource);
    }
  }

  /// Makes space for `rows` rows of a member.
  void make_room(std::size_t member, std::uint64_t rows) {
    search_member_view& view = views_[member];
    if (rows <= view.capacity) return;
    const std::uint64_t written = std::min<std::uint64_t>(taken_[member], view.capacity);
    for (std::size_t c = 0; c < columns_[member].size(); ++c) {
      grow_column(context_, resource_, columns_[member][c], written, rows);
      view.out[c] = columns_[member][c].data();
    }
    view.capacity = rows;
  }
  void make_room_for_sample(std::uint64_t searches) {
    for (std::size_t m = 0; m < columns_.size(); ++m)
      make_room(m,
                std::min<std::uint64_t>(searches * views_[m].size, calibration::sample_search_rows / columns_.size()));
  }
  /// Runs numbers [first, last) of the sequence of all invariants.
  void run(std::uint64_t first, std::uint64_t last) {
    arguments_.invariants.listed = nullptr;
    launch(first, last);
  }
  void run_sample(std::uint64_t searches) { run(0, searches); }
  /// Estimates the space from the results of a sample of searches.
  void make_room_for_all(std::uint64_t searches) {
    for (std::size_t m = 0; m < columns_.size(); ++m) {
      const double expected = expected_results(taken_[m], searches, size());
      const std::uint64_t nodes = views_[m].size;
      make_room(m, std::min(static_cast<std::uint64_t>(expected) + nodes, size() * nodes));
    }
  }
  [[nodiscard]] std::uint64_t size() const { return arguments_.invariants.searches; }
  [[nodiscard]] std::uint64_t missing() const { return totals_.missing; }
  void make_room_for_missing() {
    for (std::size_t m = 0; m < columns_.size(); ++m) make_room(m, taken_[m]);
  }
  void run_missing() {
    const array<std::uint32_t> again = missing_.take();
    arguments_.missing = missing_.data();
    arguments_.invariants.listed = again.data();
    launch(0, totals_.missing);
  }
  [[nodiscard]] const search_arguments::totals& totals() const { return totals_; }

  /// Replaces the members' rows by the results.
  void finish(const kernels::relation_list<device_relation>& relations) {
    for (std::size_t m = 0; m < columns_.size(); ++m) {
      const row_member& member = members_[m];
      std::vector<array<word>> ordered(columns_[m].size());
      for (std::size_t c = 0; c < ordered.size(); ++c) {
        const std::size_t invariants = member.sources.size();
        ordered[c < invariants ? member.sources[c] : member.targets[c - invariants]] = std::move(columns_[m][c]);
      }
      relations[member.relation.value]->replace(std::move(ordered), taken_[m]);
    }
  }

 private:
  void launch(std::uint64_t first, std::uint64_t last) {
    arguments_.invariants.first = first;
    arguments_.invariants.last = last;
    upload(context_, device_views_, views_);
    totals_.next = totals_.missing = 0;
    backend::gpu::stream_handle stream = context_.stream();
    backend::gpu::copy_async(counts_.data(), &totals_, sizeof totals_, backend::gpu::direction::host_to_device, stream);
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(shape_.blocks, last - first));
    const std::size_t shared_bytes =
        arguments_.bitmaps != nullptr ? 0 : arguments_.bitmap_words * sizeof(std::uint32_t);
    backend::gpu::launch(kernel_, {blocks, shape_.threads, shared_bytes, stream}, arguments_);
    backend::gpu::copy_async(&totals_, counts_.data(), sizeof totals_, backend::gpu::direction::device_to_host, stream);
    backend::gpu::copy_async(taken_.data(), rows_.data(), taken_.size() * sizeof(taken_[0]),
                             backend::gpu::direction::device_to_host, stream);
    context_.synchronize();
  }

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  const std::vector<row_member>& members_;
  search_arguments arguments_;
  search_kernel kernel_;
  launch_shape shape_;
  array<unsigned long long> rows_;
  array<unsigned long long> places_;
  missing_parts missing_;
  array<search_arguments::totals> counts_;
  array<search_member_view> device_views_;
  std::vector<search_member_view> views_;
  std::vector<unsigned long long> taken_;          // by member: reserved rows, including rows without space
  std::vector<std::vector<array<word>>> columns_;  // by member: invariants, then nodes
  search_arguments::totals totals_{};
};

std::optional<kernels::row_counts> run_all(const backend::gpu::device_context& context,
                                           backend::memory_resource& resource, const std::vector<row_member>& members,
                                           searched_graph& graph,
                                           const kernels::relation_list<device_relation>& relations,
                                           const std::atomic<bool>* stop) {
  search_arguments& arguments = graph.arguments;
  const std::uint64_t numbers = arguments.numbers;
  const std::uint64_t searches = arguments.invariants.searches;
  arguments.invariants.stride = even_stride(searches);
  arguments.bitmap_words = static_cast<std::uint32_t>((numbers + 31) / 32);
  const bool is_shared = numbers <= bitmap_values(context);
  const search_kernel kernel = arguments.runs != nullptr ? GPULOG_KERNEL(kernels::gpu::search_kernel<false, false>)
                               : is_shared               ? GPULOG_KERNEL(kernels::gpu::search_kernel<true, false>)
                                                         : GPULOG_KERNEL(kernels::gpu::search_kernel<true, true>);
  launch_shape shape =
      shape_of(context, kernel, is_shared ? arguments.bitmap_words * sizeof(std::uint32_t) : std::size_t{0});
  if (shape.blocks == 0) return std::nullopt;
  const std::uint64_t queue_bytes = numbers * sizeof(word) + (is_shared ? 0 : numbers / 8);
  shape.blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(context.memory_bytes() / calibration::queue_share / queue_bytes, 1, shape.blocks));
  array<std::uint32_t> bitmaps(resource, is_shared ? 0 : shape.blocks * std::uint64_t{arguments.bitmap_words});
  array<word> queues(resource, shape.blocks * numbers, fresh_memory::anything);
  if (!is_shared) arguments.bitmaps = bitmaps.data();
  arguments.queues = queues.data();

  device_search all(context, resource, members, graph, kernel, shape);
  const std::uint64_t sample = std::min<std::uint64_t>(searches, calibration::sample_searches * shape.blocks);
  all.make_room_for_sample(sample);
  run_sampled(all, sample, stop);
  all.finish(relations);
  return kernels::row_counts{all.totals().candidates, all.totals().iterations};
}

/// Searches over values; indexes provide the successors.
std::optional<kernels::row_counts> run_over_values(const backend::gpu::device_context& context,
                                                   backend::memory_resource& resource, const row_equations& task,
                                                   const kernels::value_steps& values,
                                                   const kernels::relation_list<device_relation>& relations,
                                                   const std::atomic<bool>* stop) {
  const device_relation& target = *relations[task.relation().value];
  if (target.rows() == 0 || target.rows() > UINT32_MAX) return std::nullopt;
  std::vector<step_run> runs;
  for (const kernels::step_source& step : values.steps) {
    for (const auto& view : relations[step.relation]->index(step.index).views(true, true, step.level))
      runs.push_back({view, view.stored + step.stored * view.rows});
  }
  // The first tuples by source, as an index.
  storage::index_layout by_source;
  by_source.order = {task.members.front().sources.front(), task.members.front().targets.front()};
  by_source.key_lengths = {1};
  by_source.stored = task.members.front().targets;
  storage::gpu::device_run starts(resource, by_source);
  starts.build(context, resource, target.columns(), 0, target.rows());
  const storage::gpu::run_view view = starts.view(0);

  searched_graph graph;
  search_arguments& arguments = graph.arguments;
  arguments.first = view.level.first;
  arguments.starts = view.stored;
  arguments.invariants.searches = starts.exact_groups(context, 0);
  arguments.numbers = values.values;
  arguments.run_count = static_cast<std::uint32_t>(runs.size());
  const bool is_direct =
      runs.size() <= search_arguments::most_direct &&
      std::all_of(runs.begin(), runs.end(), [](const step_run& run) { return run.view.direct != nullptr; });
  array<step_run> device_runs(resource, is_direct ? 0 : runs.size(), fresh_memory::anything);
  if (!is_direct) {
    upload(context, device_runs, runs);
    arguments.runs = device_runs.data();
  }
  for (std::size_t r = 0; is_direct && r < runs.size(); ++r)
    arguments.direct_runs[r] = {runs[r].view.direct, runs[r].view.direct_size, runs[r].values};
  graph.views.push_back({.size = static_cast<std::uint32_t>(values.values), .invariants = view.level.keys});
  return run_all(context, resource, task.members, graph, relations, stop);
}

bool is_narrow(const row_equations& task) {
  const auto is_narrow_member = [](const row_member& member) {
    return member.sources.size() + member.targets.size() <= search_member_view::most_columns;
  };
  return task.members.size() <= search_arguments::most_members &&
         std::all_of(task.members.begin(), task.members.end(), is_narrow_member);
}

/// Searches over numbers; lists provide the successors.
std::optional<kernels::row_counts> run_over_numbers(const backend::gpu::device_context& context,
                                                    backend::memory_resource& resource, const row_equations& task,
                                                    const kernels::relation_list<device_relation>& relations,
                                                    const kernels::numbering_cut_offs& cut,
                                                    const std::atomic<bool>* stop) {
  if (!is_narrow(task) || !kernels::may_number(task, relations, cut)) return std::nullopt;
  const std::optional<device_graph> numbered = make_device_graph(context, resource, task, relations, cut.searches);
  if (!numbered) return std::nullopt;
  searched_graph graph;
  search_arguments& arguments = graph.arguments;
  arguments.first = numbered->first_starts();
  arguments.starts = numbered->lists.all.data();
  arguments.invariants.searches = numbered->invariants->size();
  arguments.numbers = numbered->numbers;
  arguments.direct_runs[0] = {numbered->first_steps(), numbered->numbers + 1, numbered->lists.all.data()};
  arguments.run_count = 1;
  for (std::size_t m = 0; m < task.members.size(); ++m) {
    graph.views.push_back({.begin = numbered->begins[m],
                           .size = numbered->begins[m + 1] - numbered->begins[m],
                           .invariants = numbered->invariants->view().values[0],
                           .nodes = numbered->nodes[m].view().values[0]});
  }
  auto counts = run_all(context, resource, task.members, graph, relations, stop);
  if (counts) counts->numbers = numbered->numbers;
  return counts;
}

}  // namespace

std::uint64_t bitmap_values(const backend::gpu::device_context& context) {
  constexpr std::uint64_t other_shared_bytes = 1024;
  return (context.shared_bytes_per_block() - other_shared_bytes) * 8;
}

std::optional<kernels::row_counts> run_search(const backend::gpu::device_context& context,
                                              backend::memory_resource& resource, const row_equations& task,
                                              const std::optional<kernels::value_steps>& values,
                                              const kernels::relation_list<device_relation>& relations,
                                              const kernels::numbering_cut_offs& cut, const std::atomic<bool>* stop) {
  if (values) {
    const auto counts = run_over_values(context, resource, task, *values, relations, stop);
    if (counts) return counts;
  }
  return run_over_numbers(context, resource, task, relations, cut, stop);
}

}  // namespace gpulog::exec
