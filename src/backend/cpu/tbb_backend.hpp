#pragma once

#if defined(GPULOG_WITHOUT_TBB)
#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::backend::cpu {

using tbb_backend = serial_backend;

}  // namespace gpulog::backend::cpu

#else
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::backend::cpu {

/// Runs blocks on oneTBB's workers, at most `threads` at a time.
class tbb_launcher {
 public:
  explicit tbb_launcher(unsigned threads) : inner_arena_(static_cast<int>(threads)), threads_(threads) {
    for (unsigned size = 2; size < threads; size *= 2) arenas_.push_back(arena_of(size));
    arenas_.push_back(arena_of(threads));
  }
  [[nodiscard]] unsigned workers() const { return threads_; }

  /// @param most_workers the maximum number of workers
  template <class Function>
  void run(std::uint64_t blocks, Function&& function, unsigned most_workers = UINT_MAX) {
    const bool is_inside = depth_ == 1 && most_workers < threads_;
    if (blocks <= 1 || threads_ == 1 || most_workers <= 1 || depth_ >= 2 || is_inside) {
      for (std::uint64_t block = 0; block < blocks; ++block) function(0U, block);
      return;
    }
    // Nested blocks run in a separate arena: in the outer arena, a worker that waits for nested blocks could pick up a
    // task that waits for the same worker. Outer workers that wait leave their processors to the inner arena, if oneTBB
    // may use more than `threads` threads.
    const unsigned depth = depth_ + 1;
    arena_at(depth, blocks, most_workers).execute([&] {
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

  /// Actions that may add further actions.
  class task_pool {
   public:
    /// @param most_workers the maximum number of workers
    task_pool(tbb_launcher& launcher, unsigned most_workers)
        : arena_(&launcher.arena_at(depth_ + 1, UINT64_MAX, most_workers)), depth_of_actions_(depth_ + 1) {}
    task_pool(const task_pool&) = delete;  // actions refer to the pool
    task_pool& operator=(const task_pool&) = delete;

    /// Calls action(worker), and all actions that actions add.
    /// @throws what an action throws; actions that have not begun are then dropped
    template <class Action>
    void run(const Action& action) {
      arena_->execute([&] { group_.run_and_wait([&] { call(action); }); });
    }
    /// Calls action(worker) later, on any worker. May be called from actions only.
    template <class Action>
    void add(Action action) {
      group_.run([this, added = std::move(action)] { call(added); });
    }

   private:
    template <class Action>
    void call(const Action& action) const {
      const depth_guard guard(depth_of_actions_);
      action(static_cast<unsigned>(tbb::this_task_arena::current_thread_index()));
    }

    tbb::task_arena* arena_;
    tbb::task_group group_;
    unsigned depth_of_actions_;
  };

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
  /// Nesting depth: 1 inside a block, 2 inside a block started by a block.
  static inline thread_local unsigned depth_ = 0;

  [[nodiscard]] static std::unique_ptr<tbb::task_arena> arena_of(unsigned threads) {
    return std::make_unique<tbb::task_arena>(static_cast<int>(threads));
  }
  /// Returns the smallest arena with a slot per block, or the largest allowed arena.
  [[nodiscard]] tbb::task_arena& arena_for(std::uint64_t blocks, unsigned most_workers) const {
    const std::size_t last = arenas_.size() - 1;
    const std::size_t allowed =
        most_workers >= threads_ ? last : static_cast<std::size_t>(std::bit_width(most_workers)) - 2;
    return *arenas_[std::min<std::size_t>(allowed, static_cast<std::size_t>(std::bit_width(blocks - 1)) - 1)];
  }

  [[nodiscard]] tbb::task_arena& arena_at(unsigned depth, std::uint64_t blocks, unsigned most_workers) {
    return depth == 1 ? arena_for(blocks, most_workers) : inner_arena_;
  }

  /// Arenas of 2, 4, 8, ... and all threads. An arena with work wakes all its slots, so a smaller arena leaves idle
  /// threads asleep.
  std::vector<std::unique_ptr<tbb::task_arena>> arenas_;
  tbb::task_arena inner_arena_;
  unsigned threads_;
};

using tbb_backend = cpu_backend<tbb_launcher>;
static_assert(execution_backend<tbb_backend>);

}  // namespace gpulog::backend::cpu

#endif
