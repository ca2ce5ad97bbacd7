#pragma once

#include <stdexcept>

namespace gpulog::kernels {

/// An error in a rule's data that ends the run. what() says why; the executor adds the rule.
class rule_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The name of arithmetic faults in messages, as in Soufflé.
inline constexpr const char* arithmetic_exception = "Floating-point arithmetic exception signal";

}  // namespace gpulog::kernels
