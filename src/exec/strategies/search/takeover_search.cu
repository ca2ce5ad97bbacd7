#include "exec/strategies/search/takeover_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/launch.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/search/long_takeover.cuh"
#include "kernels/search/short_takeover.cuh"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using kernels::gpu::row_kind;
using kernels::gpu::row_steps;
using kernels::gpu::row_vertex;
using kernels::gpu::takeover_arguments;
using kernels::gpu::takeover_results;
using storage::gpu::device_relation;
using takeover_kernel = backend::gpu::kernel<takeover_arguments>;

/// Kept rows take at most that share of the device, and so many words: places have 32 bits.
constexpr std::uint64_t kept_share = 8;
constexpr std::uint64_t most_kept_words = 1ULL << 31;

struct make_vertex {
  const std::uint32_t* first;  // of the steps, by number
  row_vertex* vertices;
  __device__ void operator()(std::uint64_t number) const {
    const std::uint32_t begin = first[number];
    const std::uint32_t count = first[number + 1] - begin;
    vertices[number] = {count == 0 ? row_vertex::empty_row : row_vertex::no_row, begin, count};
  }
};

/// A kernel for long searches, and how it is launched.
struct long_shape {
  takeover_kernel kernel;
  unsigned threads = 0;
  unsigned blocks = 0;  ///< 0: a row has no place in a block's memory
  std::size_t shared_bytes = 0;
};

long_shape shape_for(const backend::gpu::device_context& context, std::uint32_t groups) {
  // Few threads a block, so that many searches are under way, but for rows that leave room for few blocks.
  constexpr std::size_t rows_for_128 = 40 << 10;
  constexpr std::size_t rows_for_256 = 100 << 10;
  constexpr std::size_t other_shared_bytes = sizeof(kernels::gpu::long_search) + 1024;
  const std::size_t row_bytes = groups * std::size_t{kernels::gpu::group_numbers} / 8;
  const long_shape all[] = {{GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<128>), 128},
                            {GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<256>), 256},
                            {GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<1024>), 1024}};
  long_shape chosen = row_bytes <= rows_for_128 ? all[0] : row_bytes <= rows_for_256 ? all[1] : all[2];
  const auto fit = [&] {
    chosen.shared_bytes = kernels::gpu::long_takeover_bytes(groups, chosen.threads);
    chosen.blocks = chosen.shared_bytes + other_shared_bytes > context.shared_bytes_per_block()
                        ? 0
                        : backend::gpu::blocks_a_multiprocessor(chosen.kernel, chosen.threads, chosen.shared_bytes) *
                              context.multiprocessors();
  };
  fit();
  if (chosen.blocks == 0) {  // each wave lists numbers, so fewer threads need less
    chosen = all[1];
    fit();
  }
  return chosen;
}

/// Memory of the searches, and the launches that fill the result's columns.
class takeover_search {
 public:
  takeover_search(const backend::gpu::device_context& context, backend::memory_resource& resource,
                  const kernels::numbered_member& member, const device_graph& graph, const long_shape& shape)
      : context_(context),
        resource_(resource),
        member_(member),
        shape_(shape),
        vertices_(resource, graph.numbers, fresh_memory::anything),
        vertex_of_(resource, graph.invariants ? graph.sources : 0, fresh_memory::anything),
        kinds_(resource, graph.sources, fresh_memory::anything),
        listed_(resource, graph.sources, fresh_memory::anything),
        places_(resource, graph.sources, fresh_memory::anything),
        missing_(resource, graph.sources),
        counts_(resource, 1) {
    arguments_.first_starts = graph.starts.first.data();
    arguments_.starts = graph.starts.all.data();
    arguments_.steps = graph.steps.all.data();
    arguments_.vertices = vertices_.data();
    arguments_.numbers = graph.numbers;
    arguments_.sources = graph.sources;
    arguments_.stride = even_stride(graph.sources);
    arguments_.kinds = kinds_.data();
    arguments_.listed = listed_.data();
    arguments_.places = places_.data();
    arguments_.missing = missing_.data();
    arguments_.counts = counts_.data();
    backend::gpu::for_each(context.stream(), graph.numbers, make_vertex{graph.steps.first.data(), vertices_.data()});
    find_vertices(graph);
    set_results(graph);
    make_rows(graph.numbers);
    shape_.blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(
        context.memory_bytes() / calibration::queue_share / (graph.numbers * sizeof(row_steps)), 1, shape_.blocks));
    queues_ = array<row_steps>(resource, shape_.blocks * graph.numbers, fresh_memory::anything);
    arguments_.queues = queues_.data();
    totals_.row_words = graph.numbers * kernels::gpu::short_row;
  }

  /// For that many rows.
  void make_room(std::uint64_t rows) {
    takeover_results& results = arguments_.results;
    if (rows <= results.capacity) return;
    const std::uint64_t written = std::min<std::uint64_t>(totals_.rows, results.capacity);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      grow_column(context_, resource_, columns_[c], written, rows);
      results.out[c] = columns_[c].data();
    }
    results.capacity = rows;
  }
  /// All short searches, and the first long ones. @param most of these
  void run_sample(std::uint64_t most) {
    write_totals();
    const std::uint64_t waves =
        (arguments_.sources * backend::gpu::wave_size + kernels::gpu::short_search_threads - 1) /
        kernels::gpu::short_search_threads;
    const takeover_kernel kernel = GPULOG_KERNEL(kernels::gpu::short_takeover_kernel);
    const unsigned resident =
        std::max(1U, backend::gpu::blocks_a_multiprocessor(kernel, kernels::gpu::short_search_threads, 0));
    const auto blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(waves, std::uint64_t{resident} * context_.multiprocessors()));
    backend::gpu::launch(kernel, {blocks, kernels::gpu::short_search_threads, 0, context_.stream()}, arguments_);
    launch_long(0, most);
    read_totals();
  }
  /// Long searches [first, last).
  void run(std::uint64_t first, std::uint64_t last) {
    write_totals();
    launch_long(first, last);
    read_totals();
  }
  /// Going by the results of some long searches.
  void make_room_for_all(std::uint64_t searches) {
    const double expected = expected_results(totals_.long_rows, searches, size());
    const std::uint64_t others = totals_.rows - totals_.long_rows;
    const std::uint64_t numbers = arguments_.numbers;
    make_room(std::min(others + static_cast<std::uint64_t>(expected) + numbers, arguments_.sources * numbers));
  }
  [[nodiscard]] std::uint64_t size() const { return totals_.longs; }
  [[nodiscard]] std::uint64_t missing() const { return totals_.missing; }
  void make_room_for_missing() { make_room(totals_.rows); }
  void run_missing() {
    array<std::uint32_t> again = missing_.take();
    arguments_.missing = missing_.data();
    arguments_.listed = again.data();
    arguments_.is_again = true;
    run(0, totals_.missing);
    arguments_.listed = listed_.data();
    arguments_.is_again = false;
  }
  [[nodiscard]] const takeover_arguments::totals& totals() const { return totals_; }
  [[nodiscard]] unsigned blocks() const { return shape_.blocks; }

  /// In the order of the relation.
  [[nodiscard]] std::vector<array<word>> take() {
    std::vector<array<word>> ordered(columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t invariants = member_.invariants.size();
      ordered[c < invariants ? member_.invariants[c] : member_.nodes[c - invariants]] = std::move(columns_[c]);
    }
    return ordered;
  }

 private:
  /// The vertex of a source is the node of the same values.
  void find_vertices(const device_graph& graph) {
    if (!graph.invariants) return;
    arguments_.vertex_of = vertex_of_.data();
    if (member_.invariants.size() == member_.nodes.size()) {
      graph.nodes[0]->find({graph.invariants->found().tuples, graph.sources}, 0, vertex_of_.data());
    } else {
      backend::gpu::fill_async(vertex_of_.data(), 0xff, vertex_of_.bytes(), context_.stream());
    }
  }
  void set_results(const device_graph& graph) {
    takeover_results& results = arguments_.results;
    results.invariant_columns = static_cast<std::uint32_t>(member_.invariants.size());
    results.node_columns = static_cast<std::uint32_t>(member_.nodes.size());
    if (graph.invariants) {
      results.invariants = graph.invariants->found().tuples.at[0];
      results.nodes = graph.nodes[0]->found().tuples.at[0];
    }
    for (std::uint32_t c = 0; c < results.invariant_columns + results.node_columns; ++c)
      columns_.emplace_back(resource_);
  }
  void make_rows(std::uint64_t numbers) {
    arguments_.groups = groups_of(numbers);
    constexpr std::uint32_t aligned = kernels::gpu::row_alignment;
    arguments_.map_words = ((arguments_.groups + word_bits - 1) / word_bits + aligned - 1) / aligned * aligned;
    const std::uint64_t bit_words = std::uint64_t{arguments_.groups} * backend::gpu::wave_size;
    // Shorter than a row of bits, and quicker to take over.
    constexpr std::uint64_t list_share = 4;
    arguments_.longest_list =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(bit_words / list_share, kernels::gpu::short_row));
    const std::uint64_t shorts = numbers * kernels::gpu::short_row;
    const std::uint64_t kept = (numbers / kernels::gpu::sources_of_kept_bits + 1) * (bit_words + arguments_.map_words) +
                               numbers * (arguments_.longest_list / list_share + aligned);
    arguments_.row_words = std::max(shorts, std::min({shorts + kept, most_kept_words,
                                                      context_.memory_bytes() / kept_share / sizeof(std::uint32_t)}));
    rows_ = array<std::uint32_t>(resource_, arguments_.row_words, fresh_memory::anything);
    arguments_.rows = rows_.data();
  }
  void launch_long(std::uint64_t first, std::uint64_t last) {
    arguments_.first = first;
    arguments_.last = last;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(shape_.blocks, last - first));
    backend::gpu::launch(shape_.kernel, {blocks, shape_.threads, shape_.shared_bytes, context_.stream()}, arguments_);
  }
  void write_totals() {
    totals_.next = totals_.missing = 0;
    backend::gpu::copy_async(counts_.data(), &totals_, sizeof totals_, backend::gpu::direction::host_to_device,
                             context_.stream());
  }
  void read_totals() {
    backend::gpu::copy_async(&totals_, counts_.data(), sizeof totals_, backend::gpu::direction::device_to_host,
                             context_.stream());
    context_.synchronize();
  }

 public:
  [[nodiscard]] static std::uint32_t groups_of(std::uint64_t numbers) {
    return static_cast<std::uint32_t>((numbers + kernels::gpu::group_numbers - 1) / kernels::gpu::group_numbers);
  }

 private:
  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  const kernels::numbered_member& member_;
  long_shape shape_;
  takeover_arguments arguments_;
  array<row_vertex> vertices_;
  array<std::uint32_t> vertex_of_;
  array<row_kind> kinds_;
  array<std::uint32_t> listed_;
  array<unsigned long long> places_;
  missing_parts missing_;
  array<takeover_arguments::totals> counts_;
  array<std::uint32_t> rows_;
  array<row_steps> queues_;
  std::vector<array<word>> columns_;  // invariants, then nodes
  takeover_arguments::totals totals_{};
};

std::optional<device_graph> graph_of(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                     const kernels::numbered_task& task, std::uint64_t bound,
                                     const kernels::relation_list<device_relation>& relations,
                                     const takeover_cut_offs& cut) {
  if (bound != 0) return make_graph_of_values(context, resource, task, relations, bound);
  if (!kernels::may_number(task, relations, cut.numbering)) return std::nullopt;
  std::optional<device_graph> made = make_device_graph(context, resource, task, relations, cut.numbering.searches);
  // Keys that have numbers of their own are no nodes.
  if (made && made->numbers != made->nodes[0]->size()) made.reset();
  return made;
}

}  // namespace

std::optional<kernels::decomposed_counts> run_takeover(const backend::gpu::device_context& context,
                                                       backend::memory_resource& resource,
                                                       const kernels::numbered_task& task, std::uint64_t bound,
                                                       const kernels::relation_list<device_relation>& relations,
                                                       const takeover_cut_offs& cut, const std::atomic<bool>* stop) {
  if (task.members.size() != 1) return std::nullopt;
  const kernels::numbered_member& member = task.members.front();
  if (member.invariants.size() + member.nodes.size() > takeover_results::most_columns) return std::nullopt;
  device_relation& target = *relations[member.relation];
  if (target.rows() == 0 || target.rows() > UINT32_MAX) return std::nullopt;
  const std::optional<device_graph> graph = graph_of(context, resource, task, bound, relations, cut);
  if (!graph) return std::nullopt;
  const std::uint32_t groups = takeover_search::groups_of(graph->numbers);
  if (graph->numbers > std::uint64_t{kernels::gpu::most_map_words} * word_bits * kernels::gpu::group_numbers)
    return std::nullopt;
  const long_shape shape = shape_for(context, groups);
  if (shape.blocks == 0) return std::nullopt;

  takeover_search all(context, resource, member, *graph, shape);
  const std::uint64_t sample = std::min<std::uint64_t>(graph->sources, calibration::sample_searches * all.blocks());
  all.make_room(std::min(graph->sources * graph->numbers, cut.first_rows));
  run_sampled(all, sample, stop);
  const takeover_arguments::totals& totals = all.totals();
  const kernels::decomposed_counts counts{totals.candidates, totals.iterations, totals.taken_over};
  const std::uint64_t rows = totals.rows;
  target.replace(all.take(), rows);
  return counts;
}

}  // namespace gpulog::exec
