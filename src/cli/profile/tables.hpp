#pragma once

#include <cstddef>
#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// The slowest rules, the largest relations and the files of a run, in 80 columns. @param most lines of each table
[[nodiscard]] std::string profile_tables(const run_record& record, std::size_t most);

/// Two runs beside each other: what differs most comes first.
[[nodiscard]] std::string comparison_tables(const run_record& first, const run_record& second, std::size_t most);

}  // namespace gpulog::cli
