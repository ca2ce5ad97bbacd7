#pragma once

#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// A page of HTML with the record in it, which needs nothing else: no network, no other file.
[[nodiscard]] std::string page_of(const run_record& record);

}  // namespace gpulog::cli
