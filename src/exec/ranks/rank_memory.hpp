#pragma once

#include "backend/memory_resource.hpp"
#include "exec/ranks/rank_means.hpp"

namespace gpulog::exec {

/// Limits the memory of a follower, and lets arrays exceed the limit on a disk if rank 0 was given a folder.
/// @throws user_error if the folder cannot be used
void limit_memory(backend::host_memory& memory, const rank_means& means);

}  // namespace gpulog::exec
