#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/diagnostic.hpp"
#include "gpulog/export.hpp"

/// Exceptions of gpulog. The types are part of the interface, the messages are not. A program with errors throws no
/// exception but returns diagnostics (diagnostic.hpp).
namespace gpulog {

/// Base class of errors that end a run. what() is one message for users, often with file and line.
class GPULOG_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Invalid input: a missing or malformed file, an invalid option or value.
class GPULOG_API input_error : public error {
 public:
  using error::error;
};

/// A query has errors. what() is the report of all of them.
class GPULOG_API query_error : public input_error {
 public:
  query_error(const std::string& report, std::vector<diagnostic> diagnostics)
      : input_error(report), diagnostics_(std::move(diagnostics)) {}
  [[nodiscard]] const std::vector<diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<diagnostic> diagnostics_;
};

/// A result could not be written; the run leaves no output file.
class GPULOG_API output_error : public error {
 public:
  using error::error;
};

/// A rule failed on its data, for example in a division by zero.
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
