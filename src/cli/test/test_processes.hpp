#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/test/test_case.hpp"
#include "cli/test/test_result.hpp"

namespace gpulog::cli {

/// Runs each test in a process of its own, so that a test that crashes or never ends does not stop the others.
/// @param jobs number of tests that run at a time
/// @param timeout seconds after which a test is ended
/// @param run checks a test in its process; `scratch` is an empty folder
/// @param report called for each result, in the order of the tests
/// @throws input_error if no process starts
[[nodiscard]] std::vector<test_result> run_tests(
    const std::vector<test_case>& tests, std::size_t jobs, double timeout,
    const std::function<test_result(const test_case& test, const std::string& scratch)>& run,
    const std::function<void(const test_case& test, const test_result& result)>& report);

}  // namespace gpulog::cli
