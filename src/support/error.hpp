#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include "gpulog/error.hpp"

namespace gpulog {

/// What a user did or gave cannot be met: an unreadable file, a limit, an option. what() is one clear line without a
/// trailing newline.
class user_error : public input_error {
 public:
  using input_error::input_error;
};

/// gpulog broke one of its own invariants: a bug, whatever the input was.
class internal_error : public std::logic_error {
 public:
  explicit internal_error(const std::string& message, std::source_location where = std::source_location::current());
};

/// @throws internal_error naming the caller's place unless `holds`.
inline void ensure(bool holds, const char* invariant, std::source_location where = std::source_location::current()) {
  if (!holds) throw internal_error(invariant, where);
}

}  // namespace gpulog
