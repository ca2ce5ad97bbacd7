#pragma once

#include <string>
#include <vector>

#include "gpulog/program.hpp"

/// The option --tune.
namespace gpulog::cli {

[[nodiscard]] std::string tuning_help();

/// @param texts in the form NAME=VALUE
/// @return an error message; empty on success
[[nodiscard]] std::string read_tuning(const std::vector<std::string>& texts, run_options& options);

}  // namespace gpulog::cli
