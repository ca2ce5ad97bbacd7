#include "exec/strategies/products/product_run.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/stage_clock.hpp"
#include "exec/calibration.hpp"
#include "exec/strategies/products/product_words.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/products/product_graph.hpp"
#include "kernels/products/product_queue.cuh"
#include "kernels/products/products.cuh"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using kernels::gpu::number_lists;
using kernels::gpu::product_arguments;
using kernels::gpu::product_queue;
using storage::gpu::device_relation;

/// First tuples are stamped before the first round.
constexpr std::uint32_t first_stamp = 1;

/// Sets the bits of the first tuples.
struct set_first_bit {
  product_arguments arguments;
  const word* x;
  const word* y;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t number = x[row];
    const std::uint32_t group = y[row] / kernels::gpu::group_numbers;
    const std::uint32_t bit = 1U << y[row] % word_bits;
    const std::uint64_t row_words = std::uint64_t{arguments.groups} * backend::gpu::wave_size;
    if ((atomicOr(arguments.rows + number * row_words + y[row] / word_bits, bit) & bit) != 0) return;
    atomicAdd(arguments.sizes + number, 1ULL);
    arguments.stamps[std::uint64_t{number} * arguments.groups + group] = first_stamp;
  }
};

std::uint32_t product_groups(std::uint64_t numbers) {
  return static_cast<std::uint32_t>((numbers + kernels::gpu::group_numbers - 1) / kernels::gpu::group_numbers);
}

/// Returns the launch shape for blocks of a given size.
/// @return no blocks if rows do not fit into shared memory
template <class Kernel>
launch_shape blocks_of(const backend::gpu::device_context& context, const Kernel& kernel, std::uint32_t groups,
                       unsigned threads) {
  constexpr std::size_t other_shared_bytes = sizeof(kernels::gpu::product_block) + 1024;
  const std::size_t bytes = kernels::gpu::product_bytes(groups, threads);
  if (bytes + other_shared_bytes > context.shared_bytes_per_block()) return {threads, 0};
  return {threads, backend::gpu::blocks_a_multiprocessor(kernel, threads, bytes) * context.multiprocessors()};
}

/// Block sizes: for rounds with many rows, the fewest threads per block that keep enough of the device busy; for rounds
/// with few rows, and for the queue, the maximum.
struct round_shapes {
  launch_shape wide{0, 0};
  launch_shape narrow{0, 0};
  launch_shape queue{0, 0};
};
round_shapes shapes_of_rounds(const backend::gpu::device_context& context, std::uint32_t groups) {
  const double all_threads = context.full_blocks(1);
  round_shapes chosen;
  for (const unsigned threads : {128U, 256U, 512U, kernels::gpu::most_product_threads}) {
    const launch_shape shape = blocks_of(context, GPULOG_KERNEL(kernels::gpu::product_round_kernel), groups, threads);
    if (shape.blocks == 0) break;
    chosen.narrow = shape;
    chosen.queue = blocks_of(context, GPULOG_KERNEL(kernels::gpu::product_queue_kernel), groups, threads);
    const unsigned before = chosen.wide.blocks * chosen.wide.threads;
    if (before < backend::gpu::launch_factors::searching_threads * all_threads && shape.blocks * threads > before)
      chosen.wide = shape;
  }
  return chosen;
}

using row_graph = kernels::product_graph<device_numbers, kernels::relation_list<device_relation>>;

class product_run {
 public:
  product_run(const backend::gpu::device_context& context, backend::memory_resource& resource,
              const row_equations& task, const kernels::relation_list<device_relation>& relations, row_graph graph,
              const round_shapes& shapes, double waited_row_seconds)
      : context_(context),
        resource_(resource),
        relations_(relations),
        graph_(std::move(graph)),
        shapes_(shapes),
        waited_row_seconds_(waited_row_seconds),
        counts_(resource, calibration::rounds_at_once) {
    const std::uint64_t size = graph_.size();
    arguments_.numbers = static_cast<std::uint32_t>(size);
    arguments_.groups = product_groups(size);
    arguments_.round = first_stamp;
    arguments_.narrow_rows = context.multiprocessors();
    arguments_.enough_ready = std::max(context.multiprocessors(), 1U);
    arguments_.without_equal = !task.filters.empty();
    for (const row_rule& rule : task.rules) add_rule(rule);
    device_relation& target = *relations[task.relation().value];
    arguments_.has_words = target.rows() != 0 || !has_queue();
    rows_ = array<std::uint32_t>(resource, size * row_words(),
                                 arguments_.has_words ? fresh_memory::zeroed : fresh_memory::anything);
    arguments_.rows = rows_.data();
    stamps_ = array<std::uint32_t>(resource, size * arguments_.groups);
    arguments_.stamps = stamps_.data();
    arguments_.visited = take<std::uint32_t>(words_, size);
    arguments_.is_due = take<std::uint32_t>(words_, size);
    arguments_.due = take<std::uint32_t>(words_, size);
    arguments_.ready = take<std::uint32_t>(words_, size);
    sizes_ = array<std::uint64_t>(resource, size + 1);
    arguments_.sizes = reinterpret_cast<unsigned long long*>(sizes_.data());
    begin(target, graph_.numbers_of(task.relation(), 0).values, graph_.numbers_of(task.relation(), 1).values);
  }

  /// Computes rows in topological order, and the remaining rows in rounds.
  kernels::row_counts run(const std::atomic<bool>* stop, backend::gpu::stage_clock& clock) {
    kernels::row_counts all;
    const bool is_complete = has_queue() && run_queue(all);
    clock.end("ready rows");
    if (is_complete) return all;
    prepare_rounds();
    run_rounds(all, stop);
    clock.end("rounds");
    return all;
  }

  /// @return whether all rows are complete
  bool run_queue(kernels::row_counts& all) {
    array<std::uint32_t> numbers(resource_, arguments_.numbers, fresh_memory::anything);
    array<std::uint32_t> unread(resource_, arguments_.numbers, fresh_memory::anything);
    array<product_queue::progress> progress(resource_, 1);
    backend::gpu::fill_async(numbers.data(), 0xff, numbers.bytes(), context_.stream());
    const product_queue queue{numbers.data(), unread.data(), waited_row_seconds_ * 1e9, progress.data()};
    ++arguments_.round;
    backend::gpu::for_each(context_.stream(), arguments_.numbers, kernels::gpu::count_unread{arguments_, queue});
    backend::gpu::for_each(context_.stream(), arguments_.numbers, kernels::gpu::push_first_rows{arguments_, queue});
    const launch_shape& shape = shapes_.queue;
    backend::gpu::launch_together(GPULOG_KERNEL(kernels::gpu::product_queue_kernel),
                                  {std::min(shape.blocks, arguments_.numbers), shape.threads,
                                   kernels::gpu::product_bytes(arguments_.groups, shape.threads), context_.stream()},
                                  arguments_, queue);
    product_queue::progress made{};
    context_.read(progress.data(), &made, sizeof made);
    all.iterations = made.completed == 0 ? 0 : 1;
    all.candidates = made.candidates;
    return made.completed + made.empty == arguments_.numbers;
  }

  /// Prepares rows that are computed more than once.
  void prepare_rounds() {
    for (std::uint32_t r = 0; r < arguments_.rule_count; ++r) {
      kernels::gpu::product_rule_view& rule = arguments_.rules[r];
      if (rule.is_recursive && rule.right.of != nullptr)
        rule.followed = take<std::uint32_t>(words_, arguments_.numbers * row_words(), fresh_memory::anything);
    }
    backend::gpu::launch(GPULOG_KERNEL(kernels::gpu::clear_left_kernel),
                         {static_cast<unsigned>(std::min<std::uint64_t>(arguments_.numbers, most_blocks)), list_threads,
                          0, context_.stream()},
                         arguments_);
    arguments_.has_words = true;
  }

  void run_rounds(kernels::row_counts& all, const std::atomic<bool>* stop) {
    std::vector<product_arguments::round_counts> counts(calibration::rounds_at_once);
    for (std::size_t rounds = 1;; rounds = std::min(2 * rounds, calibration::rounds_at_once)) {
      check_stop(stop);
      const std::size_t bytes = rounds * sizeof counts.front();
      backend::gpu::fill_async(counts_.data(), 0, bytes, context_.stream());
      for (std::size_t round = 0; round < rounds; ++round) launch_round(counts_.data() + round);
      context_.read(counts_.data(), counts.data(), bytes);
      for (std::size_t round = 0; round < rounds; ++round) {
        if (counts[round].due == 0) return;
        ++all.iterations;
        all.candidates += counts[round].candidates;
      }
    }
  }

  /// Returns the result; call only once.
  /// @throws backend::memory_exceeded
  std::unique_ptr<product_words> take_words() {
    return std::make_unique<product_words>(
        context_, resource_,
        product_words::parts{std::move(rows_), std::move(stamps_), std::move(sizes_), std::move(graph_.numbering()),
                             arguments_.numbers, arguments_.groups});
  }

 private:
  static constexpr unsigned list_threads = kernels::gpu::product_list_threads;
  static_assert(list_threads == backend::gpu::for_each_threads);
  static constexpr std::uint64_t most_blocks = backend::gpu::most_blocks_of_for_each;

  template <class T>
  T* take(std::list<array<T>>& kept, std::uint64_t size, fresh_memory contents = fresh_memory::zeroed) {
    return kept.emplace_back(resource_, size, contents).data();
  }
  /// A rule without a left side reads the row that it computes, so no row would become ready.
  [[nodiscard]] bool has_queue() const {
    for (std::uint32_t r = 0; r < arguments_.rule_count; ++r) {
      if (arguments_.rules[r].left.of == nullptr) return false;
    }
    return waited_row_seconds_ > 0;
  }
  [[nodiscard]] std::uint64_t row_words() const { return std::uint64_t{arguments_.groups} * backend::gpu::wave_size; }

  [[nodiscard]] static number_lists view_of(const device_numbers::lists& lists) {
    return {lists.ranges.data(), lists.sorted.all.data()};
  }

  void add_rule(const row_rule& rule) {
    kernels::gpu::product_rule_view& made = arguments_.rules[arguments_.rule_count++];
    made.is_recursive = rule.is_recursive;
    made.is_first = rule.is_first;
    if (rule.left) made.left = view_of(graph_.lists_of(*rule.left));
    if (rule.left && rule.is_recursive) made.readers = view_of(graph_.inverse_of(*rule.left));
    if (!rule.right) return;
    made.right = view_of(graph_.lists_of(*rule.right));
    made.sources = view_of(graph_.inverse_of(*rule.right));
    // A push costs time per bit and successor, a pull per number.
    made.pull_factor = static_cast<std::uint32_t>(calibration::pushes_of_pull *
                                                  relations_[rule.right->relation.value]->rows() / graph_.size());
  }

  void begin(const device_relation& target, const word* x, const word* y) {
    backend::gpu::for_each(context_.stream(), target.rows(), set_first_bit{arguments_, x, y});
    backend::gpu::fill_async(arguments_.is_due, 1, arguments_.numbers * sizeof(std::uint32_t), context_.stream());
  }

  void launch_round(product_arguments::round_counts* counts) {
    arguments_.counts = counts;
    ++arguments_.round;
    backend::gpu::launch(GPULOG_KERNEL(kernels::gpu::list_due_kernel),
                         {backend::gpu::blocks_for(arguments_.numbers, context_.full_blocks(list_threads)),
                          list_threads, 0, context_.stream()},
                         arguments_);
    launch_rows(shapes_.wide, false);
    launch_rows(shapes_.narrow, true);
  }
  void launch_rows(const launch_shape& shape, bool is_narrow) {
    arguments_.is_narrow = is_narrow;
    const std::uint64_t most = is_narrow ? arguments_.narrow_rows : arguments_.numbers;
    if (most == 0) return;
    backend::gpu::launch(GPULOG_KERNEL(kernels::gpu::product_round_kernel),
                         {static_cast<unsigned>(std::min<std::uint64_t>(shape.blocks, most)), shape.threads,
                          kernels::gpu::product_bytes(arguments_.groups, shape.threads), context_.stream()},
                         arguments_);
  }

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  const kernels::relation_list<device_relation>& relations_;
  row_graph graph_;
  round_shapes shapes_;
  double waited_row_seconds_;
  product_arguments arguments_;
  std::list<array<std::uint32_t>> words_;
  array<std::uint32_t> rows_;
  array<std::uint32_t> stamps_;
  array<std::uint64_t> sizes_;
  array<product_arguments::round_counts> counts_;
};

/// Returns whether to keep the words: if they need no more memory than columns, or only a small part of the memory.
bool are_kept(const backend::gpu::device_context& context, const backend::memory_resource& resource,
              const product_words& words, std::uint64_t most_words) {
  const std::uint64_t memory = resource.limit() != 0 ? resource.limit() : context.memory_bytes();
  const std::uint64_t as_columns = words.rows() * 2 * sizeof(word);
  const std::uint64_t bytes = words.bytes();
  return words.rows() != 0 && bytes / sizeof(std::uint32_t) <= most_words &&
         bytes <= std::max(as_columns, memory / calibration::kept_row_share);
}

}  // namespace

std::optional<kernels::row_counts> run_products(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                std::uint64_t bound,
                                                const kernels::relation_list<device_relation>& relations,
                                                const product_cut_offs& cut, const std::atomic<bool>* stop) {
  device_relation& target = *relations[task.relation().value];
  std::uint64_t most_rows = target.rows();
  for (const row_rule& rule : task.rules) {
    if (rule.left) most_rows = std::max(most_rows, relations[rule.left->relation.value]->rows());
    if (rule.right) most_rows = std::max(most_rows, relations[rule.right->relation.value]->rows());
  }
  if (most_rows == 0) return std::nullopt;
  row_graph graph({&context, &resource}, resource, task, relations, bound);
  if (graph.size() == 0) return std::nullopt;
  const std::uint64_t groups = product_groups(graph.size());
  if (most_rows * groups > UINT32_MAX) return std::nullopt;
  const std::uint64_t row_bytes = graph.size() * groups * backend::gpu::wave_size * sizeof(std::uint32_t);
  if (row_bytes * (task.rules.size() + 1) > context.memory_bytes() / calibration::product_row_share)
    return std::nullopt;
  const round_shapes shapes = shapes_of_rounds(context, static_cast<std::uint32_t>(groups));
  if (shapes.wide.blocks == 0) return std::nullopt;
  backend::gpu::stage_clock clock(context.stream());
  std::optional<product_run> run(std::in_place, context, resource, task, relations, std::move(graph), shapes,
                                 cut.waited_row_seconds);
  clock.end("graph");
  kernels::row_counts counts = run->run(stop, clock);
  std::unique_ptr<product_words> words = run->take_words();
  run.reset();
  const bool is_kept = are_kept(context, resource, *words, cut.kept_words);
  if (!is_kept) target.replace(words->columns(), words->rows());
  clock.end(is_kept ? "count" : "columns");
  counts.stages = clock.seconds();
  if (is_kept) target.replace(std::move(words));
  return counts;
}

}  // namespace gpulog::exec
