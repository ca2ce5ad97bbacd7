#pragma once

#include <cstdint>
#include <string>

namespace gpulog::exec {

/// Threads and memory of a follower.
struct rank_means {
  unsigned threads = 1;
  std::uint64_t memory_limit = 0;  ///< in bytes; 0: no limit
  std::string spill_directory;     ///< for arrays that exceed the memory; empty: no folder
};

}  // namespace gpulog::exec
