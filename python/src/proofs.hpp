#pragma once

#include <nanobind/nanobind.h>

namespace gpulog_python {

/// Adds Proof and FailedRule, the results of engine::why and engine::why_not.
void add_proofs(nanobind::module_& module);

}  // namespace gpulog_python
