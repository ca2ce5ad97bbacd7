#pragma once

#if !defined(GPULOG_WITHOUT_TBB)
#include <tbb/global_control.h>
#endif

#include <cstddef>
#include <optional>

namespace gpulog::backend::cpu {

/// Allows more threads than processors while the object exists: otherwise oneTBB would warn and use fewer threads.
class more_threads {
 public:
#if defined(GPULOG_WITHOUT_TBB)
  explicit more_threads(std::size_t /*threads*/) {}
#else
  explicit more_threads(std::size_t threads) {
    constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
    // The query itself starts oneTBB, which a single thread does not need.
    if (threads > 1 && threads > tbb::global_control::active_value(parallelism)) allowed_.emplace(parallelism, threads);
  }

 private:
  std::optional<tbb::global_control> allowed_;
#endif
};

}  // namespace gpulog::backend::cpu
