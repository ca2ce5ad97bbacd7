#pragma once

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// Fills in, for the steps, checks and expansions of a pipeline, which registers are read behind them
/// (kernels::step::live, kernels::segment::carried): no others are copied when bindings are dropped or multiplied.
void find_live_registers(kernels::pipeline& program);

}  // namespace gpulog::exec
