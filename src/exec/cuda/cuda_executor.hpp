#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/executor.hpp"

namespace gpulog::exec {

/// Why this device can't be used; empty when it can.
[[nodiscard]] std::string why_no_cuda_device(int device);
/// To be called before all others, from the thread that starts others: it sets a variable of the environment, which the
/// driver reads when it is first asked for anything.
void prepare_cuda_start();
/// Whether there is a driver at all; asking does not start it.
[[nodiscard]] bool has_cuda_driver();
/// Starts a device for this process, which takes a few tenths of a second: in a thread of its own, other work goes on
/// meanwhile. @return as why_no_cuda_device()
[[nodiscard]] std::string start_cuda_device(int device);
/// An executor on a CUDA device. plan and symbols outlive it. @param memory_limit bytes of device memory, 0: none.
/// @throws cuda_error
[[nodiscard]] std::unique_ptr<stratum_executor> make_cuda_executor(const plan::program& program,
                                                                   storage::symbol_table& symbols,
                                                                   const options& chosen, int device,
                                                                   std::uint64_t memory_limit);

}  // namespace gpulog::exec
