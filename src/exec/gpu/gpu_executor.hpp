#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/executor.hpp"

namespace gpulog::exec {

/// "CUDA", "HIP" or "emulated", and the architectures that kernels were compiled for.
[[nodiscard]] const char* gpu_vendor();
[[nodiscard]] const char* gpu_architectures();
/// Whether devices of this build are for tests only, so that nobody gets one without asking for it.
[[nodiscard]] bool gpu_is_for_tests();
/// Why this device can't be used; empty when it can.
[[nodiscard]] std::string why_no_gpu(int device);
/// To be called before all others, from the thread that starts others: it sets a variable of the environment, which the
/// driver reads when it is first asked for anything.
void prepare_gpu_start();
/// Whether there is a driver at all; asking does not start it.
[[nodiscard]] bool has_gpu_driver();
/// Starts a device for this process, which takes a few tenths of a second: in a thread of its own, other work goes on
/// meanwhile. @return as why_no_gpu()
[[nodiscard]] std::string start_gpu(int device);
/// Shared memory that a block of the device can have; of one that has not been started, what every device of this build
/// has at least. @throws device_error
[[nodiscard]] std::uint64_t gpu_block_bytes(int device, bool is_started);
/// What the memory of a device that has been started delivers. @throws device_error
[[nodiscard]] double gpu_bytes_per_second(int device);
/// Copies memory of a device to the host, when all work is done that the stream has. @param stream as the vendor has
/// it; nullptr: the device's standard one @return why it can't be; empty: it was copied
[[nodiscard]] std::string copy_from_gpu(int device, const void* stream, void* into, const void* from,
                                        std::uint64_t bytes);
/// An executor on a device. plan and symbols outlive it. @param memory_limit bytes of device memory, 0: none.
/// @throws device_error
[[nodiscard]] std::unique_ptr<stratum_executor> make_gpu_executor(const plan::program& program,
                                                                  storage::symbol_table& symbols, const options& chosen,
                                                                  int device, std::uint64_t memory_limit);

}  // namespace gpulog::exec
