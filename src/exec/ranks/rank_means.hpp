#pragma once

#include <cstdint>
#include <string>

#include "exec/calibration.hpp"
#include "support/row_equations.hpp"

namespace gpulog::exec {

/// Threads, memory and evaluation methods of a follower.
struct rank_means {
  unsigned threads = 1;
  int first_device = 0;  ///< of a host: its ranks use successive devices
  row_mode rows = row_mode::automatic;
  std::uint64_t memory_limit = 0;  ///< in bytes; 0: no limit
  std::string spill_directory;     ///< for arrays that exceed the memory; empty: no folder
  /// For decisions of rank 0; tests use other values.
  double exchanged_row_seconds = calibration::exchanged_row_seconds;
};

}  // namespace gpulog::exec
