#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "backend/gpu/emulated/block_runner.hpp"
#include "backend/gpu/emulated/memory_access.hpp"
#include "backend/gpu/emulated/settings.hpp"

/// Distributes the blocks of a kernel over host threads.
namespace gpulog::backend::gpu::emulated {

void run_kernel(kernel_launch& launch) {
  std::vector<unsigned> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0U);
  if (launch.seed != 0) {
    std::uint64_t random = mixed(launch.seed ^ mixed(launch.number));
    for (std::uint64_t i = order.size(); i > 1; --i) {
      random = mixed(random);
      std::swap(order[i - 1], order[below(i, random)]);
    }
  }
  if (launch.is_cooperative) {
    block_runner::own().run(launch, order.data(), launch.blocks);
    return;
  }
  const auto run = [&](std::size_t begin, std::size_t end) {
    const memory_access access;
    block_runner& runner = block_runner::own();
    for (std::size_t b = begin; b < end; ++b) runner.run(launch, &order[b], 1);
  };
  // Waking threads takes longer than running a few blocks.
  constexpr std::uint64_t few_threads = 1024;
  if (std::uint64_t{launch.blocks} * launch.threads <= few_threads) {
    run(0, order.size());
    return;
  }
  // Isolated, so that the waiting thread does not pick up unrelated tasks that wait for a lock held by the caller.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, order.size()),
                      [&](const tbb::blocked_range<std::size_t>& part) { run(part.begin(), part.end()); });
  });
}

}  // namespace gpulog::backend::gpu::emulated
