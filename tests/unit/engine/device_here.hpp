#pragma once

#include "gpulog/engine.hpp"

namespace gpulog {

/// Returns whether a device is available.
inline bool has_device() {
  run_options options;
  options.backend = backend_kind::gpu;
  try {
    const engine probe(program::from_text(".decl a(x:number)\na(1).\n"), options);
  } catch (const input_error&) {
    return false;
  }
  return true;
}

/// Returns whether the device is emulated, which is thousands of times slower.
inline bool has_emulated_device() { return has_device() && built_gpu().starts_with("emulated"); }

}  // namespace gpulog
