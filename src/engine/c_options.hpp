#pragma once

#include "gpulog/options.hpp"

namespace gpulog::detail {

/// Options of the C interface: texts "name=value".
struct c_options {
  /// @param texts end with nullptr; or nullptr
  /// @throws input_error for unknown names and wrong values
  explicit c_options(const char* const* texts);

  compile_options compile;
  run_options run;
};

}  // namespace gpulog::detail
