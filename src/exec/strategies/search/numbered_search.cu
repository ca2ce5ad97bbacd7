#include "exec/calibration.hpp"
#include "exec/strategies/search/numbered_search.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backend/gpu/launch.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/search/decomposed_search.hpp"
#include "exec/strategies/search/device_numbering.hpp"
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

tuple_rows rows_of(const device_relation& source, const std::vector<std::uint32_t>& columns) {
  tuple_rows found{{}, source.rows()};
  for (const std::uint32_t column : columns)
    found.columns.at[found.columns.arity++] = source.rows() == 0 ? nullptr : source.column(column);
  return found;
}

/// As kernels::numbered_graph.
struct device_graph {
  std::vector<std::unique_ptr<device_numbering>> nodes;  // by member
  std::vector<std::uint32_t> begins;                     // by member, and one behind
  std::uint64_t numbers = 0;
  device_lists steps;
  std::unique_ptr<device_numbering> invariants;
  device_lists starts;
};

class graph_builder {
 public:
  graph_builder(const backend::gpu::device_context& context, backend::memory_resource& resource,
                const kernels::numbered_task& task, const kernels::relation_list<device_relation>& relations)
      : context_(context), resource_(resource), task_(task), relations_(relations) {}

  /// @return whether numbers have 32 bits, and there are enough invariants
  bool build(std::uint64_t least_invariants, device_graph& made) {
    std::vector<tuple_rows> invariants;
    for (const kernels::numbered_member& member : task_.members)
      invariants.push_back(rows_of(*relations_[member.relation], member.invariants));
    if (!number(invariants, made.invariants) || made.invariants->size() < least_invariants) return false;
    made.begins = {0};
    const auto sources = task_.sources();
    for (std::size_t m = 0; m < task_.members.size(); ++m) {
      std::vector<tuple_rows> parts;
      for (const kernels::tuple_source& source : sources[m])
        parts.push_back(rows_of(*relations_[source.relation], source.columns));
      if (!number(parts, made.nodes.emplace_back())) return false;
      made.numbers += made.nodes[m]->size();
      if (made.numbers > kernels::most_numbers) return false;
      made.begins.push_back(static_cast<std::uint32_t>(made.numbers));
    }
    return collect_starts(made) && collect_steps(made);
  }

 private:
  /// Pairs of numbers: keys, and what follows them.
  struct pairs {
    pairs(backend::memory_resource& resource, std::uint64_t n)
        : keys(resource, n, fresh_memory::anything), values(resource, n, fresh_memory::anything) {}
    array<std::uint32_t> keys;
    array<word> values;
    std::uint64_t used = 0;
  };

  bool number(const std::vector<tuple_rows>& parts, std::unique_ptr<device_numbering>& made) const {
    std::uint64_t rows = 0;
    for (const tuple_rows& part : parts) rows += part.rows;
    if (rows > kernels::most_numbers) return false;
    made = std::make_unique<device_numbering>(context_, resource_, parts);
    return true;
  }

  bool collect_starts(device_graph& made) const {
    std::uint64_t rows = 0;
    for (const kernels::numbered_member& member : task_.members) rows += relations_[member.relation]->rows();
    if (rows > UINT32_MAX) return false;
    pairs all(resource_, rows);
    for (std::size_t m = 0; m < task_.members.size(); ++m) {
      const device_relation& own = *relations_[task_.members[m].relation];
      made.invariants->find(rows_of(own, task_.members[m].invariants), 0, all.keys.data() + all.used);
      made.nodes[m]->find(rows_of(own, task_.members[m].nodes), made.begins[m], all.values.data() + all.used);
      all.used += own.rows();
    }
    made.starts =
        sort_by_key(context_, resource_, all.keys.data(), all.values.data(), all.used, made.invariants->size());
    return true;
  }

  bool collect_steps(device_graph& made) const {
    std::uint64_t most = 0;
    for (const kernels::numbered_step& step : task_.steps) {
      if (!step.copies) most += relations_[step.relation]->rows();
      if (step.copies || !kernels::asks_whole_node(task_, step)) most += made.nodes[step.from]->size();
    }
    if (most > UINT32_MAX) return false;
    pairs all(resource_, most);
    for (const kernels::numbered_step& step : task_.steps) {
      if (!collect_step(step, made, all)) return false;
    }
    made.steps = sort_by_key(context_, resource_, all.keys.data(), all.values.data(), all.used, made.numbers);
    return true;
  }

  bool collect_step(const kernels::numbered_step& step, device_graph& made, pairs& all) const {
    const device_numbering& from = *made.nodes[step.from];
    tuple_rows asked{{}, from.size()};
    for (const std::uint32_t place : step.copies ? step.columns : step.from_nodes)
      asked.columns.at[asked.columns.arity++] = from.found().tuples.at[place];
    const auto number_nodes = [&](const device_numbering& targets, std::uint32_t first) {
      targets.find(asked, first, all.values.data() + all.used);
      number_keys(context_, made.begins[step.from], all.values.data() + all.used, from.size(),
                  all.keys.data() + all.used);
      all.used += from.size();
    };
    if (step.copies) {
      number_nodes(*made.nodes[step.to], made.begins[step.to]);
      return true;
    }
    const device_relation& searched = *relations_[step.relation];
    const auto add_rows = [&](const device_numbering& keys, const std::vector<std::uint32_t>& key,
                              std::uint32_t first) {
      keys.find(rows_of(searched, key), first, all.keys.data() + all.used);
      made.nodes[step.to]->find(rows_of(searched, step.columns), made.begins[step.to], all.values.data() + all.used);
      all.used += searched.rows();
    };
    if (kernels::asks_whole_node(task_, step)) {
      std::vector<std::uint32_t> key(step.key.size());
      for (std::size_t i = 0; i < key.size(); ++i) key[step.from_nodes[i]] = step.key[i];
      add_rows(from, key, made.begins[step.from]);
      return true;
    }
    std::unique_ptr<device_numbering> parts;
    if (!number({rows_of(searched, step.key)}, parts)) return false;
    const auto first = static_cast<std::uint32_t>(made.numbers);
    made.numbers += parts->size();
    if (made.numbers > kernels::most_numbers) return false;
    number_nodes(*parts, first);
    add_rows(*parts, step.key, first);
    return true;
  }

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  const kernels::numbered_task& task_;
  const kernels::relation_list<device_relation>& relations_;
};

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
  device_graph graph;
  if (!graph_builder(context, resource, task, relations).build(cut.searches, graph)) return std::nullopt;

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
