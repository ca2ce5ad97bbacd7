#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/test/test_result.hpp"
#include "gpulog/options.hpp"
#include "gpulog/program.hpp"
#include "gpulog/statistics.hpp"

namespace gpulog::cli {

/// Sets options so that figures count the tuples of each rule as written: no pass rewrites or omits rules.
void prepare_coverage(run_options& options);

/// Adds the rules of the program.
/// @param excluded path of a file whose rules do not count
void add_coverage(const program& source, const statistics& figures, std::string_view excluded,
                  std::vector<rule_coverage>& rules);

/// Joins rules of several tests: a rule derives tuples if one of the tests derives some.
[[nodiscard]] std::vector<rule_coverage> joined_coverage(const std::vector<test_result>& results);

}  // namespace gpulog::cli
