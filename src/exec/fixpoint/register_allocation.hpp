#pragma once

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// Gives registers that are never needed at the same time one number (linear scan: Poletto, Sarkar 1999), so that a
/// pipeline's tiles take as many registers as are live at once, not as many as its rule has variables.
/// @param program knows its live registers (find_live_registers)
void share_registers(kernels::pipeline& program);

}  // namespace gpulog::exec
