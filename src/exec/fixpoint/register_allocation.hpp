#pragma once

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// Assigns one number to registers that are never live at the same time (linear scan: Poletto, Sarkar 1999), so that a
/// pipeline's tiles need one register per live value instead of one per variable.
/// @param program find_live_registers must have run
void share_registers(kernels::pipeline& program);

}  // namespace gpulog::exec
