#pragma once

#include <functional>
#include <string>

#include "gpulog/error.hpp"

namespace gpulog {

/// Returns the message of the input_error of a call; empty if the call succeeds.
inline std::string reason_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const input_error& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace gpulog
