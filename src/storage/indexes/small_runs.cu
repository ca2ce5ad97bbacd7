#include "storage/indexes/small_runs.cuh"
#include "storage/indexes/small_runs.hpp"

#include <utility>

#include "backend/gpu/launch.hpp"

namespace gpulog::storage::gpu {

namespace {

constexpr std::uint32_t build_threads = small_run_scratch::threads;

__global__ void __launch_bounds__(build_threads) build_kernel(const small_run* runs) {
  GPULOG_SHARED(small_run_scratch, scratch);
  GPULOG_SHARED(small_run, run);
  backend::gpu::copy_by_block(runs + blockIdx.x, run);
  build_small_run(run, scratch);
}

}  // namespace

void small_run_builder::add(const small_run& made) {
  make_room(sorted_);
  sorted_.add(made);
}

void small_run_builder::add(const counted_run& made, backend::array<std::uint32_t> scratch) {
  counted_run run = made;
  give_scratch(run, scratch.data());
  if (run.rows > counted_run::rows_of_block) {
    large_.push_back(run);
  } else {
    make_room(counted_);
    counted_.add(run);
  }
  scratch_.push_back(std::move(scratch));
}

template <class Run>
void small_run_builder::make_room(staged_runs<Run>& staged) {
  if (!staged.is_full()) return;
  flush();
  context_->synchronize();  // running kernels still read the staged runs
  staged.clear();
}

void small_run_builder::flush() {
  if (sorted_.is_empty() && counted_.is_empty() && large_.empty()) return;
  if (!sorted_.is_empty()) {
    const auto [runs, count] = sorted_.take();
    backend::gpu::launch(GPULOG_KERNEL(build_kernel), {count, build_threads, 0, context_->stream()}, runs);
  }
  if (!counted_.is_empty()) {
    const auto [runs, count] = counted_.take();
    build_small_counted_runs(*context_, runs, count);
  }
  build_counted_runs(*context_, large_);
  large_.clear();
  scratch_.clear();  // reused in stream order
  ++collection_;
}

}  // namespace gpulog::storage::gpu
