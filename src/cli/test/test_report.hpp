#pragma once

#include <string>
#include <vector>

#include "cli/test/test_case.hpp"
#include "cli/test/test_result.hpp"

namespace gpulog::cli {

/// Returns the failed points of a test, each with its place, its line of the file and details; empty for a passed test.
[[nodiscard]] std::string failures_text(const test_result& result);

/// Returns a line such as "2 tests with 5 checks: 1 failed".
[[nodiscard]] std::string summary_text(const std::vector<test_result>& results);

/// Returns the rules that derived no tuple in any test, and a line with their number.
[[nodiscard]] std::string coverage_text(const std::vector<test_result>& results);

/// Returns the results as a JUnit XML document.
[[nodiscard]] std::string junit_text(const std::vector<test_case>& tests, const std::vector<test_result>& results);

[[nodiscard]] std::size_t failure_count(const test_result& result);

}  // namespace gpulog::cli
