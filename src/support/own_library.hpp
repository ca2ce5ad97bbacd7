#pragma once

#include <string>

namespace gpulog {

/// Loads a library that is installed beside the command, from the folder of the program or of libgpulog, or from the
/// installed folders. The library stays loaded.
/// @param failure receives the reason if the library cannot be loaded
/// @return the handle for dlsym, or nullptr
[[nodiscard]] void* load_own_library(const std::string& name, std::string& failure);

}  // namespace gpulog
