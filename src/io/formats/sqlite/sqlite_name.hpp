#pragma once

#include <string_view>

namespace gpulog::io {

/// Returns whether a database name is a URI or in memory, instead of a path.
[[nodiscard]] inline bool is_sqlite_uri(std::string_view name) {
  return name.starts_with("file:") || name == ":memory:";
}

}  // namespace gpulog::io
