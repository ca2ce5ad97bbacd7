#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/program_state.hpp"
#include "gpulog/options.hpp"

/// Prints the stages of a program (--show).
namespace gpulog::detail {

[[nodiscard]] const std::vector<std::string>& stage_names();

/// Returns an empty text if the program was rejected before the stage.
/// @throws input_error for an unknown name
[[nodiscard]] std::string show_stage(const program_state& state, std::string_view stage, const run_options& options);

}  // namespace gpulog::detail
