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
  static_assert(sizeof(small_run) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(small_run) / sizeof(std::uint32_t); i += build_threads) {
    reinterpret_cast<std::uint32_t*>(&run)[i] = reinterpret_cast<const std::uint32_t*>(runs + blockIdx.x)[i];
  }
  __syncthreads();
  build_small_run(run, scratch);
}

}  // namespace

small_run_builder::small_run_builder(const backend::gpu::device_context& context) : context_(&context) {
  staged_ = backend::gpu::allocate_pinned<small_run>(capacity);
}

small_run_builder::~small_run_builder() { backend::gpu::deallocate_pinned(staged_); }

void small_run_builder::add(const small_run& made) {
  if (begin_ + count_ == capacity) {
    flush();
    context_->synchronize();  // running kernels still read the staged runs
    begin_ = 0;
  }
  staged_[begin_ + count_] = made;
  ++count_;
}

void small_run_builder::add(const counted_run& made, backend::array<std::uint32_t> scratch) {
  counted_.push_back(made);
  give_scratch(counted_.back(), scratch.data());
  scratch_.push_back(std::move(scratch));
}

void small_run_builder::flush() {
  if (count_ == 0 && counted_.empty()) return;
  if (count_ != 0) {
    backend::gpu::launch(GPULOG_KERNEL(build_kernel),
                         {static_cast<unsigned>(count_), build_threads, 0, context_->stream()}, staged_ + begin_);
    begin_ += count_;
    count_ = 0;
  }
  build_counted_runs(*context_, counted_);
  counted_.clear();
  scratch_.clear();  // reused in stream order
  ++collection_;
}

}  // namespace gpulog::storage::gpu
