#pragma once

#include <stdexcept>
#include <string>

#include "gpulog/export.hpp"

/// What gpulog throws. The types are part of the interface, the texts are not. A rejected program is no exception but a
/// list of diagnostics (diagnostic.hpp).
namespace gpulog {

/// Base of everything that ends a run. what() is for people: one message, often with file and line.
class GPULOG_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something given from outside is wrong: a file that is missing or malformed, an option, a value inserted.
class GPULOG_API input_error : public error {
 public:
  using error::error;
};

/// A result could not be written; no output file of the run exists then.
class GPULOG_API output_error : public error {
 public:
  using error::error;
};

/// A rule failed on its data, as a division by zero does.
class GPULOG_API evaluation_error : public error {
 public:
  using error::error;
};

/// The memory limit is too small for the program on these facts.
class GPULOG_API memory_limit_error : public error {
 public:
  using error::error;
};

/// The run was cancelled (run_options::cancelled).
class GPULOG_API cancelled_error : public error {
 public:
  using error::error;
};

}  // namespace gpulog
