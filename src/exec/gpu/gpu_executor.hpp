#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/executor.hpp"

namespace gpulog::exec {

/// Returns "CUDA", "HIP" or "emulated", and the architectures that kernels were compiled for.
[[nodiscard]] const char* gpu_vendor();
[[nodiscard]] const char* gpu_architectures();
/// Returns whether the devices of this build are only for tests, so that no run uses a device unless asked to.
[[nodiscard]] bool gpu_is_for_tests();
/// Returns the reason why this device is not available, or an empty text.
[[nodiscard]] std::string why_no_gpu(int device);
/// Returns the number of devices.
[[nodiscard]] int gpu_count();
/// Prepares the start of a device. Must be called before all functions below and before the process starts threads,
/// because it sets an environment variable that the driver reads when it starts.
void prepare_gpu_start();
/// Returns whether a driver is installed, without starting it.
[[nodiscard]] bool has_gpu_driver();
/// Starts a device for this process, which takes a few tenths of a second; run this in a separate thread.
/// @return like why_no_gpu()
[[nodiscard]] std::string start_gpu(int device);
/// Returns the shared memory available to a block of the device. If the device has not been started, returns the
/// minimum of all devices that this build supports.
/// @throws device_error
[[nodiscard]] std::uint64_t gpu_block_bytes(int device, bool is_started);
/// Returns the memory bandwidth of a started device.
/// @throws device_error
[[nodiscard]] double gpu_bytes_per_second(int device);
/// Copies device memory to the host after all work of the stream.
/// @param stream the vendor's handle; nullptr: the device's default stream
/// @return the reason of a failure, or an empty text
[[nodiscard]] std::string copy_from_gpu(int device, const void* stream, void* into, const void* from,
                                        std::uint64_t bytes);
/// Creates an executor on a device. `program` and `symbols` must outlive the executor.
/// @param memory_limit in bytes of device memory; 0: no limit
/// @throws device_error
[[nodiscard]] std::unique_ptr<stratum_executor> make_gpu_executor(const plan::program& program,
                                                                  storage::symbol_table& symbols, const options& chosen,
                                                                  int device, std::uint64_t memory_limit);

}  // namespace gpulog::exec
