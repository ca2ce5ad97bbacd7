#include "exec/run_monitor.hpp"

#include <ctime>

namespace gpulog::exec {

double run_monitor::coarse_seconds() {
  constexpr double nanosecond = 1e-9;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * nanosecond;
}

}  // namespace gpulog::exec
