#pragma once

#include <stdexcept>
#include <string>

/// What gpulog throws. The types are part of the interface, the texts are not. A rejected program is no exception but a
/// list of diagnostics (diagnostic.hpp).
namespace gpulog {

/// Base of everything that ends a run. what() is for people: one message, often with file and line.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something given from outside is wrong: a file that is missing or malformed, an option, a value inserted.
class input_error : public error {
 public:
  using error::error;
};

/// A result could not be written; no output file of the run exists then.
class output_error : public error {
 public:
  using error::error;
};

/// A rule failed on its data, as a division by zero does.
class evaluation_error : public error {
 public:
  using error::error;
};

/// The memory limit is too small for the program on these facts.
class memory_limit_error : public error {
 public:
  using error::error;
};

/// The run was cancelled (run_options::cancelled).
class cancelled_error : public error {
 public:
  using error::error;
};

}  // namespace gpulog
