#include "exec/calibration.hpp"
#include "exec/strategies/search/numbered_search.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backend/gpu/launch.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/search/decomposed_search.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/search/numbered.cuh"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using kernels::gpu::numbered_arguments;
using kernels::gpu::numbered_member_view;
using storage::gpu::device_relation;
using numbered_search_kernel = backend::gpu::kernel<numbered_arguments>;

/// Result columns of all members, and the launches that fill them.
class numbered_search {
 public:
  numbered_search(const backend::gpu::device_context& context, backend::memory_resource& resource,
                  const kernels::numbered_task& task, const device_graph& graph, const numbered_arguments& arguments,
                  numbered_search_kernel kernel, const launch_shape& shape)
      : context_(context),
        resource_(resource),
        task_(task),
        arguments_(arguments),
        kernel_(kernel),
        shape_(shape),
        rows_(resource, task.members.size()),
        places_(resource, task.members.size() * arguments.invariants.searches, fresh_memory::anything),
        missing_(resource, arguments.invariants.searches, fresh_memory::anything),
        counts_(resource, 1),
        device_views_(resource, task.members.size(), fresh_memory::anything),
        taken_(task.members.size(), 0) {
    arguments_.rows = rows_.data();
    arguments_.places = places_.data();
    arguments_.missing = missing_.data();
    arguments_.counts = counts_.data();
    arguments_.members = device_views_.data();
    arguments_.member_count = static_cast<std::uint32_t>(task.members.size());
    arguments_.all_of_one = task.members.size() == 1 && graph.numbers == graph.nodes[0]->size();
    for (std::size_t m = 0; m < task.members.size(); ++m) {
      numbered_member_view& view = views_.emplace_back();
      view.begin = graph.begins[m];
      view.size = graph.begins[m + 1] - graph.begins[m];
      view.invariants = graph.invariants->found().tuples.at[0];
      view.nodes = graph.nodes[m]->found().tuples.at[0];
      view.invariant_columns = static_cast<std::uint32_t>(task.members[m].invariants.size());
      view.node_columns = static_cast<std::uint32_t>(task.members[m].nodes.size());
      auto& columns = columns_.emplace_back();
      for (std::uint32_t c = 0; c < view.invariant_columns + view.node_columns; ++c) columns.emplace_back(resource);
    }
  }

  /// For that many rows of a member.
  void make_room(std::size_t member, std::uint64_t rows) {
    numbered_member_view& view = views_[member];
    if (rows <= view.capacity) return;
    const std::uint64_t written = std::min<std::uint64_t>(taken_[member], view.capacity);
    for (std::size_t c = 0; c < columns_[member].size(); ++c) {
      grow_column(context_, resource_, columns_[member][c], written, rows);
      view.out[c] = columns_[member][c].data();
    }
    view.capacity = rows;
  }
  /// Numbers [first, last) of the sequence of all invariants.
  void run(std::uint64_t first, std::uint64_t last) {
    arguments_.invariants.listed = nullptr;
    launch(first, last);
  }
  /// Those that found no room, once more, until all have.
  void finish(const std::atomic<bool>* stop) {
    while (totals_.missing != 0) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
      for (std::size_t m = 0; m < columns_.size(); ++m) make_room(m, taken_[m]);
      array<std::uint32_t> again(resource_, arguments_.invariants.searches, fresh_memory::anything);
      again.swap(missing_);
      arguments_.missing = missing_.data();
      arguments_.invariants.listed = again.data();
      launch(0, totals_.missing);
    }
  }
  /// Rows that a member has so far, with those that have no room yet.
  [[nodiscard]] std::uint64_t rows(std::size_t member) const { return taken_[member]; }
  [[nodiscard]] kernels::decomposed_counts counts() const { return {totals_.candidates, totals_.iterations}; }

  /// In the order of the relation.
  [[nodiscard]] std::vector<array<word>> take(std::size_t member) {
    const kernels::numbered_member& own = task_.members[member];
    std::vector<array<word>> ordered(columns_[member].size());
    for (std::size_t c = 0; c < own.invariants.size(); ++c) ordered[own.invariants[c]] = std::move(columns_[member][c]);
    for (std::size_t c = 0; c < own.nodes.size(); ++c)
      ordered[own.nodes[c]] = std::move(columns_[member][own.invariants.size() + c]);
    return ordered;
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
  const kernels::numbered_task& task_;
  numbered_arguments arguments_;
  numbered_search_kernel kernel_;
  launch_shape shape_;
  array<unsigned long long> rows_;
  array<unsigned long long> places_;
  array<std::uint32_t> missing_;
  array<numbered_arguments::totals> counts_;
  array<numbered_member_view> device_views_;
  std::vector<numbered_member_view> views_;
  std::vector<unsigned long long> taken_;          // by member, as the device said
  std::vector<std::vector<array<word>>> columns_;  // by member: invariants, then nodes
  numbered_arguments::totals totals_{};
};

bool is_narrow(const kernels::numbered_task& task) {
  const auto is_narrow_member = [](const kernels::numbered_member& member) {
    return member.invariants.size() + member.nodes.size() <= numbered_member_view::most_columns;
  };
  return task.members.size() <= numbered_arguments::most_members &&
         std::all_of(task.members.begin(), task.members.end(), is_narrow_member);
}

}  // namespace

std::optional<kernels::decomposed_counts> run_numbered(const backend::gpu::device_context& context,
                                                       backend::memory_resource& resource,
                                                       const kernels::numbered_task& task,
                                                       const kernels::relation_list<device_relation>& relations,
                                                       const kernels::numbering_cut_offs& cut,
                                                       const std::atomic<bool>* stop) {
  if (!is_narrow(task) || !kernels::may_number(task, relations, cut)) return std::nullopt;
  const std::optional<device_graph> made = make_device_graph(context, resource, task, relations, cut.searches);
  if (!made) return std::nullopt;
  const device_graph& graph = *made;

  numbered_arguments arguments;
  arguments.first = graph.starts.first.data();
  arguments.starts = graph.starts.all.data();
  const std::uint64_t invariants = graph.invariants->size();
  arguments.invariants.searches = invariants;
  arguments.invariants.stride = even_stride(invariants);
  arguments.steps = {graph.steps.first.data(), graph.numbers + 1, graph.steps.all.data()};
  arguments.numbers = graph.numbers;
  arguments.bitmap_words = static_cast<std::uint32_t>((graph.numbers + 31) / 32);
  const bool is_shared = graph.numbers <= bitmap_values(context);
  const numbered_search_kernel kernel = is_shared ? GPULOG_KERNEL(kernels::gpu::numbered_kernel<false>)
                                                  : GPULOG_KERNEL(kernels::gpu::numbered_kernel<true>);
  launch_shape shape =
      shape_of(context, kernel, is_shared ? arguments.bitmap_words * sizeof(std::uint32_t) : std::size_t{0});
  if (shape.blocks == 0) return std::nullopt;
  const std::uint64_t queue_bytes = graph.numbers * sizeof(word) + (is_shared ? 0 : graph.numbers / 8);
  shape.blocks = static_cast<unsigned>(
      std::clamp<std::uint64_t>(context.memory_bytes() / queue_share / queue_bytes, 1, shape.blocks));
  array<std::uint32_t> bitmaps(resource, is_shared ? 0 : shape.blocks * std::uint64_t{arguments.bitmap_words});
  array<word> queues(resource, shape.blocks * graph.numbers, fresh_memory::anything);
  if (!is_shared) arguments.bitmaps = bitmaps.data();
  arguments.queues = queues.data();

  numbered_search all(context, resource, task, graph, arguments, kernel, shape);
  const std::uint64_t sample = std::min<std::uint64_t>(invariants, sample_searches * shape.blocks);
  for (std::size_t m = 0; m < task.members.size(); ++m)
    all.make_room(m, std::min<std::uint64_t>(sample * graph.nodes[m]->size(), sample_rows / task.members.size()));
  all.run(0, sample);
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
  if (sample < invariants) {
    for (std::size_t m = 0; m < task.members.size(); ++m) {
      const double expected = calibration::sample_margin * static_cast<double>(all.rows(m)) /
                              static_cast<double>(sample) * static_cast<double>(invariants);
      const std::uint64_t nodes = graph.nodes[m]->size();
      all.make_room(m, std::min(static_cast<std::uint64_t>(expected) + nodes, invariants * nodes));
    }
  }
  all.finish(stop);
  if (sample < invariants) {
    all.run(sample, invariants);
    all.finish(stop);
  }
  for (std::size_t m = 0; m < task.members.size(); ++m) {
    const std::uint64_t rows = all.rows(m);
    relations[task.members[m].relation]->replace(all.take(m), rows);
  }
  return all.counts();
}

}  // namespace gpulog::exec
