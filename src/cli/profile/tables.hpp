#pragma once

#include <cstddef>
#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// Formats the slowest rules, the largest relations and the files of a run in 80 columns.
/// @param most lines of each table
[[nodiscard]] std::string profile_tables(const run_record& record, std::size_t most);

/// Formats a comparison of two runs, largest differences first.
[[nodiscard]] std::string comparison_tables(const run_record& first, const run_record& second, std::size_t most);

}  // namespace gpulog::cli
