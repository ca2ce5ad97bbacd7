#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/primitives.hpp"
#include "backend/gpu/wave.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/even_stride.hpp"
#include "exec/strategies/row_wise/row_inputs.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "exec/strategies/search/search_launch.hpp"
#include "kernels/calibration.hpp"
#include "kernels/row_wise/row_wise.cuh"

/// Launches for row-wise evaluation (kernels/row_wise/row_wise.cuh), into a fresh relation or into an existing one.
namespace gpulog::exec::row_launches {

namespace gpu_kernels = kernels::gpu;
using backend::array;
using backend::fresh_memory;
using gpu_kernels::bitmap_arguments;
using gpu_kernels::row_arguments;
using gpu_kernels::row_rule_view;
using gpu_kernels::row_threads;
using gpu_kernels::row_totals;
using gpu_kernels::row_waves;

/// How a row is computed: by a wave, by a block, or in a bitmap.
enum row_class : unsigned { small_row, middle_row, large_row, row_classes };

struct class_counts {
  unsigned long long rows[row_classes];
  unsigned long long work[row_classes];
};

/// Lists the nonempty rows by class.
__global__ void classify_kernel(const std::uint64_t* work, std::uint64_t rows, std::uint64_t least_large,
                                std::uint32_t* const small, std::uint32_t* const middle, std::uint32_t* const large,
                                class_counts* counts) {
  GPULOG_SHARED(unsigned long long[row_classes], sums);
  if (threadIdx.x < row_classes) sums[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t* const lists[row_classes] = {small, middle, large};
  const unsigned lane = backend::gpu::lane();
  const std::uint64_t threads = backend::gpu::thread_count();
  for (std::uint64_t base = backend::gpu::thread_number() - lane; base < rows; base += threads) {
    const std::uint64_t row = base + lane;
    const std::uint64_t own = row < rows ? work[row] : 0;
    const unsigned wanted = own <= kernels::calibration::wave_row_slots / 2 ? small_row
                            : own < least_large                             ? middle_row
                                                                            : large_row;
    for (unsigned c = 0; c < row_classes; ++c) {
      const backend::gpu::lane_mask members = backend::gpu::ballot(own != 0 && wanted == c);
      if (members == 0) continue;
      unsigned long long place = 0;
      if (lane == 0)
        place = atomicAdd(&counts->rows[c], static_cast<unsigned long long>(backend::gpu::count_bits(members)));
      place = backend::gpu::shuffle(place, 0);
      if ((members >> lane & 1U) != 0) {
        lists[c][place + backend::gpu::rank_in(members)] = static_cast<std::uint32_t>(row);
        atomicAdd(&sums[c], static_cast<unsigned long long>(own));
      }
    }
  }
  __syncthreads();
  if (threadIdx.x < row_classes && sums[threadIdx.x] != 0) atomicAdd(&counts->work[threadIdx.x], sums[threadIdx.x]);
}

/// Counts the words of each part of the listed rows (bitmap_arguments).
struct part_size {
  const row_rule_view* rules;
  std::uint32_t rule_count;
  const std::uint32_t* listed;
  std::uint64_t* sizes;
  __device__ void operator()(std::uint64_t part) const {
    sizes[part] = rules[part % rule_count].words_of_row(listed[part / rule_count]);
  }
};

template <class T>
T read_back(const backend::gpu::device_context& context, const T* from) {
  T value{};
  backend::gpu::copy_async(&value, from, sizeof value, backend::gpu::direction::device_to_host, context.stream());
  context.synchronize();
  return value;
}

/// Result columns, and the launches that fill them.
/// @tparam Inserts whether results are inserted into a relation or written to new columns
template <bool Inserts>
class row_search {
 public:
  /// @param target relation to insert into; nullptr: none
  row_search(const backend::gpu::device_context& context, backend::memory_resource& resource, const row_inputs& inputs,
             const kernels::row_wise_task& task, const std::atomic<bool>* stop,
             storage::gpu::device_relation* target = nullptr)
      : context_(&context),
        resource_(&resource),
        inputs_(&inputs),
        stop_(stop),
        target_(target),
        filters_(resource, task.filters.size()),
        totals_(resource, 1),
        missing_(resource, inputs.rows()) {
    for (unsigned c = 0; c < row_classes; ++c) lists_.emplace_back(resource, inputs.rows(), fresh_memory::anything);
    for (int c = 0; c < 2; ++c) columns_.emplace_back(resource);
    if (!task.filters.empty()) {
      backend::gpu::copy_async(filters_.data(), task.filters.data(), task.filters.size() * sizeof(row_filter),
                               backend::gpu::direction::host_to_device, context.stream());
    }
    arguments_.rows = inputs.row_values();
    arguments_.work = inputs.work();
    arguments_.rules = inputs.rules();
    arguments_.rule_count = static_cast<std::uint32_t>(inputs.rule_count());
    arguments_.filters = filters_.data();
    arguments_.filter_count = static_cast<std::uint32_t>(task.filters.size());
    arguments_.slots = kernels::calibration::block_row_slots;
    arguments_.totals = totals_.data();
    arguments_.large = lists_[large_row].data();
    if constexpr (Inserts) {
      now_.rows = rows_before_ = target->tail();
    }
    blocks_[small_row] = blocks_of<1>();
    blocks_[middle_row] = blocks_of<row_waves>();
    classify();
  }

  /// Evaluates a sample of the rows.
  /// @param most_results maximum number of results
  /// @return the average number of candidate words per result
  double run_sample(std::uint64_t most_results) {
    most_results_ = now_.rows + most_results;
    const std::uint64_t room = Inserts ? std::max<std::uint64_t>(now_.rows, calibration::least_added_results)
                                       : calibration::sample_row_results;
    make_room(std::min(room, most_results));
    double expected = 0;
    double work = 0;
    for (const row_class one : {small_row, middle_row}) {
      sampled_[one] = std::min<std::uint64_t>(classes_.rows[one], calibration::sample_rounds * rows_under_way(one));
      if (sampled_[one] == 0) continue;
      const row_totals before = now_;
      run(one, 0, sampled_[one]);
      const auto own_work = static_cast<double>(now_.work - before.work);
      if (own_work == 0) continue;
      const double share = static_cast<double>(classes_.work[one]) / own_work;
      expected += share * static_cast<double>(now_.rows + now_.missing_rows - before.rows);
      work += share * own_work;
      finish_missing(one);
    }
    expected_ = expected;
    return expected == 0 ? 0 : work / expected;
  }

  void run_all() {
    const std::uint64_t expected = rows_before_ + static_cast<std::uint64_t>(expected_ * calibration::sample_margin) +
                                   calibration::sample_row_results / 16;
    if (expected > now_.rows) make_room(std::min(expected, most_results_) - now_.rows);
    for (const row_class one : {small_row, middle_row}) {
      if (sampled_[one] == classes_.rows[one]) continue;
      run(one, sampled_[one], classes_.rows[one]);
      finish_missing(one);
    }
    run_large();
  }

  [[nodiscard]] std::uint64_t rows() const { return now_.rows; }
  [[nodiscard]] std::vector<array<word>> take() { return std::move(columns_); }

 private:
  template <unsigned Waves>
  [[nodiscard]] static std::size_t shared_bytes() {
    const std::size_t slots =
        Waves == 1 ? row_waves * kernels::calibration::wave_row_slots : kernels::calibration::block_row_slots;
    return slots * 2 * sizeof(std::uint32_t);
  }
  template <unsigned Waves>
  [[nodiscard]] unsigned blocks_of() const {
    const unsigned resident = backend::gpu::blocks_a_multiprocessor(
        GPULOG_KERNEL(gpu_kernels::rows_kernel<Waves, Inserts>), row_threads, shared_bytes<Waves>());
    return std::max(1U, resident) * context_->multiprocessors();
  }
  [[nodiscard]] std::uint64_t rows_under_way(row_class one) const {
    return std::uint64_t{blocks_[one]} * (one == small_row ? row_waves : 1);
  }
  void classify() {
    array<class_counts> counts(*resource_, 1);
    // Rows too large for one block are shared by the whole device.
    const std::uint64_t work = total_work();
    const std::uint64_t least_large =
        std::max<std::uint64_t>(calibration::least_large_work, work / (4ULL * blocks_[middle_row]));
    backend::gpu::launch(
        GPULOG_KERNEL(classify_kernel),
        {backend::gpu::blocks_for(inputs_->rows()), backend::gpu::for_each_threads, 0, context_->stream()},
        inputs_->work(), inputs_->rows(), least_large, lists_[small_row].data(), lists_[middle_row].data(),
        lists_[large_row].data(), counts.data());
    classes_ = read_back(*context_, counts.data());
    now_.large = classes_.rows[large_row];
  }
  [[nodiscard]] std::uint64_t total_work() const { return inputs_->total_work(); }

  /// Makes space for `more` more results.
  void make_room(std::uint64_t more) {
    if constexpr (Inserts) {
      target_->grow(more, false);
      arguments_.set = target_->set();
      arguments_.capacity = target_->limit();
      arguments_.left = const_cast<word*>(target_->column(0));
      arguments_.right = const_cast<word*>(target_->column(1));
    } else {
      const std::uint64_t rows = now_.rows + more;
      if (rows <= arguments_.capacity) return;
      for (auto& column : columns_) grow_column(*context_, *resource_, column, now_.rows, rows);
      arguments_.capacity = rows;
      arguments_.left = columns_[0].data();
      arguments_.right = columns_[1].data();
    }
  }

  /// Runs numbers [first, last) of the sequence of all rows of a class.
  void run(row_class one, std::uint64_t first, std::uint64_t last) {
    arguments_.listed = lists_[one].data();
    arguments_.list_size = classes_.rows[one];
    arguments_.stride = even_stride(arguments_.list_size);
    launch(one, first, last);
  }
  /// The rows of a class that found no space.
  struct missing_rows {
    row_search& search;
    row_class of;

    [[nodiscard]] std::uint64_t missing() const { return search.now_.missing; }
    void make_room_for_missing() { search.make_room(search.now_.missing_rows); }
    void run_missing() {
      const array<std::uint32_t> again = search.missing_.take();
      search.arguments_.listed = again.data();
      search.arguments_.list_size = search.now_.missing;
      search.arguments_.stride = 1;
      search.launch(of, 0, search.now_.missing);
    }
  };
  void finish_missing(row_class one) {
    missing_rows parts{*this, one};
    run_missing(parts, stop_);
  }
  void send_totals() {
    now_.next = now_.missing_rows = now_.missing = 0;
    now_.first_without_room = UINT64_MAX;
    backend::gpu::copy_async(totals_.data(), &now_, sizeof now_, backend::gpu::direction::host_to_device,
                             context_->stream());
  }
  void launch(row_class one, std::uint64_t first, std::uint64_t last) {
    check_stop(stop_);
    arguments_.first_number = first;
    arguments_.last_number = last;
    arguments_.missing = missing_.data();
    send_totals();
    const std::uint64_t teams = one == small_row ? row_waves : 1;
    const auto blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(blocks_[one], (last - first + teams - 1) / teams));
    if (one == small_row) {
      backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::rows_kernel<1, Inserts>),
                           {blocks, row_threads, shared_bytes<1>(), context_->stream()}, arguments_);
    } else {
      backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::rows_kernel<row_waves, Inserts>),
                           {blocks, row_threads, shared_bytes<row_waves>(), context_->stream()}, arguments_);
    }
    read_totals();
  }
  void read_totals() {
    now_ = read_back(*context_, totals_.data());
    now_.rows = std::min(now_.rows, now_.first_without_room);
    if constexpr (Inserts) {
      counted_ = {now_.rows, now_.rows};
      backend::gpu::copy_async(target_->counter(), &counted_, sizeof counted_, backend::gpu::direction::host_to_device,
                               context_->stream());
      target_->set_tail(now_.rows);
    }
  }

  /// Evaluates rows too large for a table, with bitmaps.
  void run_large() {
    if (now_.large == 0) return;
    constexpr std::uint64_t wave_size = backend::gpu::wave_size;
    const std::uint64_t stride = (inputs_->values() / gpu_kernels::row_word_values / wave_size + 1) * wave_size;
    const std::uint64_t free = resource_->limit() == 0 ? context_->memory_bytes() : resource_->limit();
    const std::uint64_t budget = free / calibration::bitmap_share / sizeof(std::uint32_t);
    const std::uint64_t batch = std::clamp<std::uint64_t>(budget / stride, 1, now_.large);
    array<std::uint32_t> bitmaps(*resource_, batch * stride, fresh_memory::anything);
    for (std::uint64_t first = 0; first < now_.large; first += batch)
      mark_and_write(first, std::min<std::uint64_t>(batch, now_.large - first), bitmaps.data(), stride);
  }
  void mark_and_write(std::uint64_t first, std::uint64_t count, std::uint32_t* bitmaps, std::uint64_t stride) {
    check_stop(stop_);
    backend::gpu::stream_handle stream = context_->stream();
    bitmap_arguments marked;
    marked.parts = count * inputs_->rule_count();
    array<std::uint64_t> sizes(*resource_, marked.parts + 1);  // the last entry stays 0
    array<std::uint64_t> sums(*resource_, marked.parts + 1, fresh_memory::anything);
    const std::uint32_t* const listed = lists_[large_row].data() + first;
    backend::gpu::for_each(stream, marked.parts,
                           part_size{arguments_.rules, arguments_.rule_count, listed, sizes.data()});
    backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
      backend::gpu::exclusive_sum(scratch, bytes, sizes.data(), sums.data(), marked.parts + 1, stream);
    });
    backend::gpu::fill_async(bitmaps, 0, count * stride * sizeof(std::uint32_t), stream);
    send_totals();
    marked.all = arguments_;
    marked.all.listed = listed;
    marked.sums = sums.data();
    marked.bitmaps = bitmaps;
    marked.stride = stride;
    const unsigned blocks = context_->full_blocks(row_threads) * backend::gpu::launch_factors::reductions;
    backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::mark_kernel), {blocks, row_threads, 0, stream}, marked);
    backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::bitmap_kernel<false, Inserts>), {blocks, row_threads, 0, stream},
                         marked);
    now_ = read_back(*context_, totals_.data());
    make_room(now_.missing_rows);
    marked.all.set = arguments_.set;
    marked.all.left = arguments_.left;
    marked.all.right = arguments_.right;
    backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::bitmap_kernel<true, Inserts>), {blocks, row_threads, 0, stream},
                         marked);
    read_totals();
  }

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  const row_inputs* inputs_;
  const std::atomic<bool>* stop_;
  storage::gpu::device_relation* target_;
  storage::gpu::append_counter counted_;
  std::uint64_t rows_before_ = 0;
  row_arguments arguments_;
  array<row_filter> filters_;
  array<row_totals> totals_;
  row_totals now_{};
  std::vector<array<std::uint32_t>> lists_;  // by class
  missing_parts missing_;
  class_counts classes_{};
  unsigned blocks_[row_classes] = {};
  std::uint64_t sampled_[row_classes] = {};
  double expected_ = 0;
  std::uint64_t most_results_ = 0;
  std::vector<array<word>> columns_;
};

}  // namespace gpulog::exec::row_launches
