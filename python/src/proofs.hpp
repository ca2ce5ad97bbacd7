#pragma once

#include <nanobind/nanobind.h>

namespace gpulog_python {

/// Proof and FailedRule: what engine::why and engine::why_not give.
void add_proofs(nanobind::module_& module);

}  // namespace gpulog_python
