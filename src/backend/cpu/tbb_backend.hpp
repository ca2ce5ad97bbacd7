#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::backend::cpu {

/// Runs blocks on oneTBB's workers, at most `threads` at a time.
class tbb_launcher {
 public:
  explicit tbb_launcher(unsigned threads) : arena_(static_cast<int>(threads)), threads_(threads) {}
  [[nodiscard]] unsigned workers() const { return threads_; }

  template <class Function>
  void run(std::uint64_t blocks, Function&& function) {
    // A worker that starts blocks of its own runs them itself: waiting for others, it could pick up a task that waits
    // for it.
    if (blocks == 1 || threads_ == 1 || inside_) {
      for (std::uint64_t block = 0; block < blocks; ++block) function(0U, block);
      return;
    }
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::uint64_t>(0, blocks, 1),
          [&](const tbb::blocked_range<std::uint64_t>& range) {
            const inside_guard guard;
            const auto worker = static_cast<unsigned>(tbb::this_task_arena::current_thread_index());
            for (std::uint64_t block = range.begin(); block != range.end(); ++block) function(worker, block);
          },
          tbb::simple_partitioner{});
    });
  }

 private:
  struct inside_guard {
    inside_guard() { inside_ = true; }
    ~inside_guard() { inside_ = false; }
    inside_guard(const inside_guard&) = delete;
    inside_guard& operator=(const inside_guard&) = delete;
  };
  static inline thread_local bool inside_ = false;

  tbb::task_arena arena_;
  unsigned threads_;
};

using tbb_backend = cpu_backend<tbb_launcher>;
static_assert(execution_backend<tbb_backend>);

}  // namespace gpulog::backend::cpu
