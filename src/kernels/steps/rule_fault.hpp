#pragma once

#include <stdexcept>

namespace gpulog::kernels {

/// A rule cannot go on with its data, and what() says why; the executor adds the rule.
class rule_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What arithmetic faults are called, as by Soufflé.
inline constexpr const char* arithmetic_exception = "Floating-point arithmetic exception signal";

}  // namespace gpulog::kernels
