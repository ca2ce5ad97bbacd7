#include "exec/strategies/search/takeover_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "backend/gpu/staging_ring.hpp"
#include "backend/gpu/vendor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/search/expand_rows.cuh"
#include "kernels/search/long_takeover.cuh"
#include "kernels/search/short_takeover.cuh"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using kernels::gpu::expansion_arguments;
using kernels::gpu::kept_row;
using kernels::gpu::row_memory;
using kernels::gpu::row_steps;
using kernels::gpu::row_vertex;
using kernels::gpu::takeover_arguments;
using kernels::gpu::used_group;
using takeover_kernel = backend::gpu::kernel<takeover_arguments>;

struct make_vertex {
  const std::uint32_t* first;  // by number: first of its steps
  row_vertex* vertices;
  __device__ void operator()(std::uint64_t number) const {
    const std::uint32_t begin = first[number];
    const std::uint32_t count = first[number + 1] - begin;
    vertices[number] = {count == 0 ? kept_row::empty : kept_row::unknown, begin, count};
  }
};
struct result_size {
  const unsigned long long* results;
  std::uint64_t sources;
  __device__ std::uint64_t operator()(std::uint64_t source) const {
    return source < sources ? kept_row::size(results[source]) : 0;
  }
};
/// The size of a row that is not stored; 0 for stored rows.
struct size_not_kept {
  const unsigned long long* results;
  std::uint64_t sources;
  __device__ std::uint64_t operator()(std::uint64_t source) const {
    if (source == sources || kept_row::place(results[source]) != kept_row::no_place) return 0;
    return kept_row::size(results[source]);
  }
};
struct is_not_kept {
  const unsigned long long* results;
  __device__ bool operator()(std::uint32_t source) const {
    return results[source] != kept_row::empty && kept_row::place(results[source]) == kept_row::no_place;
  }
};
struct forget_place {
  const std::uint32_t* listed;
  unsigned long long* results;
  __device__ void operator()(std::uint64_t i) const {
    unsigned long long& row = results[listed[i]];
    row = kept_row::of(kept_row::size(row), kept_row::no_place);
  }
};

row_memory row_memory_for(std::uint64_t numbers, bool is_compact) {
  row_memory made;
  made.groups = static_cast<std::uint32_t>((numbers + kernels::gpu::group_numbers - 1) / kernels::gpu::group_numbers);
  made.map_words = row_memory::aligned((made.groups + word_bits - 1) / word_bits);
  made.head_words = row_memory::aligned(made.map_words + made.groups + 1);
  made.longest_list =
      std::max(made.groups * backend::gpu::wave_size / calibration::list_share, kernels::gpu::short_row);
  made.list_of_group = backend::gpu::wave_size / calibration::list_share;
  made.is_compact = is_compact;
  return made;
}

}  // namespace

long_search_shape long_shape_for(const backend::gpu::device_context& context, std::uint64_t numbers,
                                 std::uint64_t block_row_bytes) {
  constexpr std::size_t other_shared_bytes = sizeof(kernels::gpu::long_search<1024>) + 1024;
  const row_memory rows = row_memory_for(numbers, false);
  const std::size_t row_bytes = rows.groups * std::size_t{kernels::gpu::group_numbers} / 8;
  const long_search_shape all[] = {
      {.kernel = GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<128, true>), .threads = 128},
      {.kernel = GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<256, true>), .threads = 256},
      {.kernel = GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<1024, true>), .threads = 1024},
      {.kernel = GPULOG_KERNEL(kernels::gpu::long_takeover_kernel<256, false>), .threads = 256, .has_row = false}};
  const std::size_t first = row_bytes <= calibration::row_bytes_for_128_threads   ? 0
                            : row_bytes <= calibration::row_bytes_for_256_threads ? 1
                                                                                  : 2;
  for (std::size_t i = first; i < std::size(all); ++i) {
    long_search_shape chosen = all[i];
    if (chosen.has_row && row_bytes > block_row_bytes) continue;
    chosen.shared_bytes = kernels::gpu::long_takeover_bytes(rows, chosen.has_row);
    if (chosen.shared_bytes + other_shared_bytes > context.shared_bytes_per_block()) continue;
    chosen.blocks = backend::gpu::blocks_a_multiprocessor(chosen.kernel, chosen.threads, chosen.shared_bytes) *
                    context.multiprocessors();
    if (chosen.blocks != 0) return chosen;
  }
  return {};
}

takeover_rows::takeover_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                             row_member member, device_graph graph, const long_search_shape& shape,
                             std::uint64_t most_words)
    : stored_rows(context, resource, {graph.invariants ? &*graph.invariants : nullptr, graph.sources, member.sources},
                  {graph.invariants ? &graph.nodes[0] : nullptr, graph.numbers, member.targets}),
      member_(std::move(member)),
      graph_(std::move(graph)),
      shape_(shape),
      vertices_(resource, graph_.numbers, fresh_memory::anything),
      vertex_of_(resource, graph_.invariants ? graph_.sources : 0, fresh_memory::anything),
      kinds_(resource, graph_.sources, fresh_memory::anything),
      listed_(resource, graph_.sources, fresh_memory::anything),
      results_(resource, graph_.sources, fresh_memory::anything),
      counts_(resource, 1, fresh_memory::anything) {
  search_.first_starts = graph_.first_starts();
  search_.starts = search_.steps = graph_.lists.all.data();
  search_.vertices = vertices_.data();
  search_.numbers = graph_.numbers;
  search_.sources = graph_.sources;
  search_.stride = even_stride(graph_.sources);
  search_.results = results_.data();
  search_.kinds = kinds_.data();
  search_.listed = listed_.data();
  search_.counts = counts_.data();
  backend::gpu::for_each(context.stream(), graph_.numbers, make_vertex{graph_.first_steps(), vertices_.data()});
  find_vertices();
  make_rows(most_words);
}

/// The vertex of a source is the node with the same values.
void takeover_rows::find_vertices() {
  if (!graph_.invariants) return;
  search_.vertex_of = vertex_of_.data();
  if (member_.sources.size() == member_.targets.size()) {
    graph_.nodes[0].find(graph_.invariants->tuples(), 0, vertex_of_.data());
  } else {
    backend::gpu::fill_async(vertex_of_.data(), 0xff, vertex_of_.bytes(), context_.stream());
  }
}

void takeover_rows::make_rows(std::uint64_t most_words) {
  constexpr std::uint64_t unit = kernels::gpu::row_alignment;
  search_.rows = row_memory_for(graph_.numbers, !shape_.has_row);
  const std::uint64_t row_units = search_.rows.bits_units();
  const std::uint64_t all = graph_.sources * row_units;
  const std::uint64_t memory = resource_.limit() != 0 ? resource_.limit() : context_.memory_bytes();
  std::uint64_t most_bytes = memory / calibration::kept_row_share;
  // The memory for such rows is unknown in advance.
  if (search_.rows.is_compact && resource_.limit() == 0)
    most_bytes = std::max(most_bytes, backend::gpu::memory_of_device().free_bytes / calibration::free_row_share);
  const std::uint64_t numbered = kept_row::most_units - std::min(kept_row::most_units, graph_.sources + row_units);
  const std::uint64_t most_units = std::min({most_words / unit, most_bytes / (unit * sizeof(std::uint32_t)), numbered});
  std::uint64_t kept = std::min(all, most_units);
  if (kept < all) {
    again_rows_ = std::max<std::uint64_t>(kept / calibration::again_share / row_units, 1);
    kept -= std::min(kept, again_rows_ * row_units);
  }
  search_.row_units = graph_.sources + kept;
  search_.again_unit = search_.row_units;
  words_ =
      array<std::uint32_t>(resource_, (search_.row_units + again_rows_ * row_units) * unit, fresh_memory::anything);
  search_.rows.words = words_.data();
}

void takeover_rows::make_queues(std::uint64_t searches) {
  const std::uint64_t a_block = graph_.numbers * sizeof(row_steps);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
      searches,
      std::clamp<std::uint64_t>(context_.memory_bytes() / calibration::queue_share / a_block, 1, shape_.blocks)));
  shape_.blocks = blocks;
  queues_ = array<row_steps>(resource_, blocks * graph_.numbers, fresh_memory::anything);
  search_.queues = queues_.data();
  if (shape_.has_row) return;
  const std::uint64_t groups = search_.rows.groups;
  bits_ = array<std::uint32_t>(resource_, blocks * groups * backend::gpu::wave_size);
  search_.bits = bits_.data();
  used_groups_ = array<used_group>(resource_, blocks * (groups + 1), fresh_memory::anything);
  search_.used_groups = used_groups_.data();
}

void takeover_rows::release_queues() {
  queues_.release();
  bits_.release();
  used_groups_.release();
}

void takeover_rows::search(backend::gpu::stage_clock& clock) {
  make_queues(graph_.sources);
  totals_.row_units = graph_.sources;  // units of the short rows
  write_totals();
  clock.end("prepare searches");
  launch_short();
  clock.end("short searches");
  launch_long(0, graph_.sources);
  clock.end("long searches");
  context_.read(counts_.data(), &totals_, sizeof totals_);
  release_queues();
  listed_.release();
  if (totals_.not_kept != 0) return;
  vertices_.release();
  vertex_of_.release();
  kinds_.release();
  graph_.lists = {};
}

void takeover_rows::launch_short() {
  const std::uint64_t waves = (graph_.sources * backend::gpu::wave_size + kernels::gpu::short_search_threads - 1) /
                              kernels::gpu::short_search_threads;
  const takeover_kernel kernel = GPULOG_KERNEL(kernels::gpu::short_takeover_kernel);
  const unsigned resident =
      std::max(1U, backend::gpu::blocks_a_multiprocessor(kernel, kernels::gpu::short_search_threads, 0));
  const auto blocks =
      static_cast<unsigned>(std::min<std::uint64_t>(waves, std::uint64_t{resident} * context_.multiprocessors()));
  backend::gpu::launch(kernel, {blocks, kernels::gpu::short_search_threads, 0, context_.stream()}, search_);
}

void takeover_rows::launch_long(std::uint64_t first, std::uint64_t last) {
  search_.first = first;
  search_.last = last;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(shape_.blocks, last - first));
  backend::gpu::launch(shape_.kernel, {blocks, shape_.threads, shape_.shared_bytes, context_.stream()}, search_);
}

void takeover_rows::write_totals() {
  totals_.next = 0;
  backend::gpu::copy_async(counts_.data(), &totals_, sizeof totals_, backend::gpu::direction::host_to_device,
                           context_.stream());
}

std::uint64_t takeover_rows::bytes() const {
  return vertices_.bytes() + vertex_of_.bytes() + kinds_.bytes() + results_.bytes() + words_.bytes() + places_.bytes() +
         not_kept_.bytes() + list_begins_.bytes() + lists_.bytes() + common_bytes() + graph_.lists.first.bytes() +
         graph_.lists.all.bytes();
}

const array<std::uint64_t>& takeover_rows::places() {
  if (places_.size() != 0) return places_;
  array<std::uint64_t> places(resource_, graph_.sources + 1, fresh_memory::anything);
  backend::gpu::with_scratch(resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, result_size{results_.data(), graph_.sources}, places.data(),
                                   places.size(), context_.stream());
  });
  places_ = std::move(places);
  list_sources_not_kept();
  return places_;
}

void takeover_rows::list_sources_not_kept() {
  if (totals_.not_kept == 0) return;
  not_kept_ = array<std::uint32_t>(resource_, totals_.not_kept, fresh_memory::anything);
  array<std::uint64_t> count(resource_, 1);
  backend::gpu::with_scratch(resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, not_kept_.data(), count.data(), graph_.sources,
                            is_not_kept{results_.data()}, context_.stream());
  });
  not_kept_sources_.resize(totals_.not_kept);
  backend::gpu::download(context_, not_kept_.data(), not_kept_sources_.data(), totals_.not_kept);
}

void takeover_rows::launch_expansion(const expansion_arguments& arguments) const {
  constexpr std::uint64_t waves = kernels::gpu::expansion_threads / backend::gpu::wave_size;
  constexpr std::uint64_t most_blocks = 1U << 16;
  const std::uint64_t parts = (arguments.last - arguments.first + waves - 1) / waves;
  if (parts == 0) return;
  backend::gpu::launch(
      search_.rows.is_compact ? GPULOG_KERNEL(kernels::gpu::expand_rows_kernel<true>)
                              : GPULOG_KERNEL(kernels::gpu::expand_rows_kernel<false>),
      {static_cast<unsigned>(std::min(parts, most_blocks)), kernels::gpu::expansion_threads, 0, context_.stream()},
      arguments);
}

void takeover_rows::write(const source_rows& wanted, columns_type& to) {
  expansion_arguments arguments;
  arguments.rows = search_.rows;
  arguments.results = results_.data();
  arguments.places = wanted.places;
  arguments.numbers = graph_.numbers;
  arguments.sources = graph_.sources;
  if (graph_.invariants) {
    arguments.invariants = graph_.invariants->view().values[0];
    arguments.nodes = graph_.nodes[0].view().values[0];
  }
  for (const std::uint32_t column : source_columns()) arguments.out[arguments.invariant_columns++] = to[column].data();
  for (const std::uint32_t column : target_columns())
    arguments.out[arguments.invariant_columns + arguments.node_columns++] = to[column].data();
  arguments.listed = wanted.listed;
  arguments.first = wanted.first;
  arguments.last = wanted.last;
  arguments.first_row = wanted.first_row;
  arguments.lists = lists_.data();
  arguments.list_begins = list_begins_.data();
  launch_expansion(arguments);
  if (lists_.size() != 0) return;
  const auto begin = std::lower_bound(not_kept_sources_.begin(), not_kept_sources_.end(), wanted.first);
  const auto end = std::lower_bound(begin, not_kept_sources_.end(), wanted.last);
  expand_again(static_cast<std::uint64_t>(begin - not_kept_sources_.begin()),
               static_cast<std::uint64_t>(end - not_kept_sources_.begin()), arguments);
}

void takeover_rows::expand_again(std::uint64_t first, std::uint64_t last, expansion_arguments arguments) {
  if (first == last) return;
  make_queues(std::min(again_rows_, last - first));
  search_.listed = not_kept_.data();
  search_.is_again = true;
  arguments.listed = not_kept_.data();
  for (std::uint64_t i = first; i < last; i = arguments.last) {
    arguments.first = i;
    arguments.last = std::min(i + again_rows_, last);
    write_totals();
    launch_long(arguments.first, arguments.last);
    launch_expansion(arguments);
    backend::gpu::for_each(context_.stream(), arguments.last - arguments.first,
                           forget_place{not_kept_.data() + i, results_.data()});
  }
  release_queues();
}

void takeover_rows::list_rows_not_kept() {
  if (totals_.not_kept == 0) return;
  static_cast<void>(places());
  list_begins_ = array<std::uint64_t>(resource_, graph_.sources + 1, fresh_memory::anything);
  backend::gpu::with_scratch(resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, size_not_kept{results_.data(), graph_.sources}, list_begins_.data(),
                                   list_begins_.size(), context_.stream());
  });
  array<word> lists(resource_, context_.read_counter(list_begins_.data() + graph_.sources), fresh_memory::anything);
  expansion_arguments arguments;
  arguments.rows = search_.rows;
  arguments.results = results_.data();
  arguments.places = list_begins_.data();
  arguments.numbers = graph_.numbers;
  arguments.sources = graph_.sources;
  arguments.node_columns = 1;
  arguments.out[0] = lists.data();
  expand_again(0, totals_.not_kept, arguments);
  lists_ = std::move(lists);
}

void takeover_rows::show(storage::gpu::kept_rows_view& view) {
  list_rows_not_kept();
  view.groups = search_.rows.groups;
  view.rows = search_.rows;
  view.results = results_.data();
  view.lists = lists_.data();
  view.begins = list_begins_.data();
}

}  // namespace gpulog::exec
