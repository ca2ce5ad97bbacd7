#pragma once

#include <memory>

#include "backend/gpu/device.hpp"
#include "exec/executor.hpp"

namespace gpulog::exec {

/// Creates an executor on a device that stores relations as hash-indexed sorted arrays, as published. All arguments
/// must outlive the executor.
/// @param memory device memory
[[nodiscard]] std::unique_ptr<stratum_executor> make_hisa_executor(const plan::program& program,
                                                                   storage::symbol_table& symbols,
                                                                   const options& chosen,
                                                                   const backend::gpu::device_context& context,
                                                                   backend::memory_resource& memory);

}  // namespace gpulog::exec
