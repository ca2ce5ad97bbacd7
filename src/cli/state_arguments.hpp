#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments.hpp"

/// The options --state, --state-strict and --changes.
namespace gpulog::cli {

void add_state_options(CLI::App& app, const std::string& group, run_options& options);

/// Returns an error message for a wrong combination of options; empty for a valid one.
/// @param is_image whether the executable contains a program
[[nodiscard]] std::string state_fault(const arguments& given, bool is_image);

}  // namespace gpulog::cli
