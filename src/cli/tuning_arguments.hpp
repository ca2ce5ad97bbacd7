#pragma once

#include <string>
#include <vector>

#include "gpulog/program.hpp"

/// The option --tune.
namespace gpulog::cli {

[[nodiscard]] std::string tuning_help();

/// @param texts as NAME=VALUE @return what is wrong; empty when nothing is
[[nodiscard]] std::string read_tuning(const std::vector<std::string>& texts, run_options& options);

}  // namespace gpulog::cli
