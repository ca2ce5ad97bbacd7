#pragma once

#include "exec/executor.hpp"

namespace gpulog::exec {

/// Adds the figures of a later executor for the same stratum.
void add_part(stratum_statistics& sum, const stratum_statistics& part);

}  // namespace gpulog::exec
