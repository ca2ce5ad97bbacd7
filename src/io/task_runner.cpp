#include "io/task_runner.hpp"

#if !defined(GPULOG_WITHOUT_TBB)
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

#include <algorithm>
#include <atomic>

namespace gpulog::io {

#if defined(GPULOG_WITHOUT_TBB)
struct task_runner::arena {};
#else
struct task_runner::arena {
  // oneTBB warns of more threads than it allows.
  explicit arena(unsigned threads)
      : tasks(static_cast<int>(std::min<std::size_t>(
            threads, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)))) {}
  tbb::task_arena tasks;
};
#endif

#if defined(GPULOG_WITHOUT_TBB)
task_runner::task_runner(unsigned /*threads*/) : threads_(1) {}
#else
task_runner::task_runner(unsigned threads) : threads_(std::max(threads, 1U)) {}
#endif

task_runner::~task_runner() = default;

void task_runner::operator()(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (threads_ == 1 || count <= 1) {
    for (std::size_t number = 0; number < count; ++number) work(number);
    return;
  }
#if !defined(GPULOG_WITHOUT_TBB)
  if (!arena_) arena_ = std::make_unique<arena>(threads_);
  std::atomic<std::size_t> next{0};
  const auto take_pieces = [&](std::size_t) {
    for (std::size_t number = next++; number < count; number = next++) work(number);
  };
  arena_->tasks.execute([&] {
    tbb::parallel_for(std::size_t{0}, std::min<std::size_t>(threads_, count), take_pieces, tbb::simple_partitioner());
  });
#endif
}

}  // namespace gpulog::io
