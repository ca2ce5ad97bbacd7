#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "cli/test/expectation_check.hpp"
#include "cli/test/test_case.hpp"
#include "cli/test/test_result.hpp"

namespace gpulog::cli {

/// Runs the program of a folder and compares its output files, and standard output, with the expected outputs. Lines
/// may have any order, and so may the rows of a JSON file. Redirects standard output of the process.
/// @param given the options of a run, with the folder of the facts
/// @param scratch an empty folder
/// @throws cancelled_error
void check_outputs(const test_case& test, const arguments& given, const test_options& options,
                   const std::string& scratch, test_result& result);

}  // namespace gpulog::cli
