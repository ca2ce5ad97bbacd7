#pragma once

#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// Returns a self-contained HTML page with the record: no network, no other file.
[[nodiscard]] std::string page_of(const run_record& record);

}  // namespace gpulog::cli
