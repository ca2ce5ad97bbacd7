#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "gpulog/error.hpp"

namespace gpulog {

/// A place in gpulog's source: std::source_location, which clang 14 lacks.
struct code_place {
  const char* file;
  std::uint32_t line;

  static constexpr code_place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, static_cast<std::uint32_t>(line)};
  }
};

/// An error in the user's input or environment: an unreadable file, a limit, an option. what() is one line without a
/// trailing newline.
class user_error : public input_error {
 public:
  using input_error::input_error;
};

/// A broken invariant: a bug in gpulog, whatever the input was.
class internal_error : public std::logic_error {
 public:
  explicit internal_error(const std::string& message, code_place where = code_place::current());
};

/// @throws internal_error with the caller's place unless `holds`
inline void ensure(bool holds, const char* invariant, code_place where = code_place::current()) {
  if (!holds) throw internal_error(invariant, where);
}

}  // namespace gpulog
