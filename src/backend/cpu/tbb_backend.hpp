#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::backend::cpu {

/// Runs blocks on oneTBB's workers, at most `threads` at a time.
class tbb_launcher {
 public:
  explicit tbb_launcher(unsigned threads)
      : arena_(static_cast<int>(threads)), inner_arena_(static_cast<int>(threads)), threads_(threads) {}
  [[nodiscard]] unsigned workers() const { return threads_; }

  template <class Function>
  void run(std::uint64_t blocks, Function&& function) {
    if (blocks == 1 || threads_ == 1 || depth_ >= 2) {
      for (std::uint64_t block = 0; block < blocks; ++block) function(0U, block);
      return;
    }
    // A worker that starts blocks of its own waits for them in an arena of their own: in its own one it could pick up a
    // task that waits for it. The others, who wait for it, leave their processors to that arena's workers, where oneTBB
    // was allowed more than `threads`.
    const unsigned depth = depth_ + 1;
    (depth == 1 ? arena_ : inner_arena_).execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::uint64_t>(0, blocks, 1),
          [&](const tbb::blocked_range<std::uint64_t>& range) {
            const depth_guard guard(depth);
            const auto worker = static_cast<unsigned>(tbb::this_task_arena::current_thread_index());
            for (std::uint64_t block = range.begin(); block != range.end(); ++block) function(worker, block);
          },
          tbb::simple_partitioner{});
    });
  }

 private:
  class depth_guard {
   public:
    explicit depth_guard(unsigned depth) : before_(depth_) { depth_ = depth; }
    ~depth_guard() { depth_ = before_; }
    depth_guard(const depth_guard&) = delete;
    depth_guard& operator=(const depth_guard&) = delete;

   private:
    unsigned before_;
  };
  /// 1 in a block, 2 in a block that a block started.
  static inline thread_local unsigned depth_ = 0;

  tbb::task_arena arena_;
  tbb::task_arena inner_arena_;
  unsigned threads_;
};

using tbb_backend = cpu_backend<tbb_launcher>;
static_assert(execution_backend<tbb_backend>);

}  // namespace gpulog::backend::cpu
