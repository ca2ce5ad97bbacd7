#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "gpulog/error.hpp"

namespace gpulog {

/// Where in gpulog's own code something was called: std::source_location, which clang 14 lacks.
struct code_place {
  const char* file;
  std::uint32_t line;

  static constexpr code_place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, static_cast<std::uint32_t>(line)};
  }
};

/// What a user did or gave cannot be met: an unreadable file, a limit, an option. what() is one clear line without a
/// trailing newline.
class user_error : public input_error {
 public:
  using input_error::input_error;
};

/// gpulog broke one of its own invariants: a bug, whatever the input was.
class internal_error : public std::logic_error {
 public:
  explicit internal_error(const std::string& message, code_place where = code_place::current());
};

/// @throws internal_error naming the caller's place unless `holds`.
inline void ensure(bool holds, const char* invariant, code_place where = code_place::current()) {
  if (!holds) throw internal_error(invariant, where);
}

}  // namespace gpulog
