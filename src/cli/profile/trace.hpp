#pragma once

#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// Returns the run as a trace of events, for Perfetto and chrome://tracing.
[[nodiscard]] std::string trace_of(const run_record& record);

}  // namespace gpulog::cli
