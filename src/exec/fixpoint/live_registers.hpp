#pragma once

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// Sets, for the steps, checks and expansions of a pipeline, the registers that are read later (kernels::step::live,
/// kernels::segment::carried). Dropping or multiplying bindings copies only these registers.
void find_live_registers(kernels::pipeline& program);

}  // namespace gpulog::exec
