#pragma once

#include <string>

#include "cli/profile/record.hpp"

namespace gpulog::cli {

/// The run as a trace of events that Perfetto and chrome://tracing open.
[[nodiscard]] std::string trace_of(const run_record& record);

}  // namespace gpulog::cli
