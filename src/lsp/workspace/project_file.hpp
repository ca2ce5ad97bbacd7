#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpulog::lsp {

/// The values of `gpulog.toml`: `name = "text"` or `name = ["text", ...]`, with comments.
struct project_values {
  std::map<std::string, std::vector<std::string>> values;  ///< by name
  std::string problem;  ///< of the first line that is not understood; otherwise empty
};

/// Parses the part of TOML that `gpulog.toml` uses. Stops at the first problem.
[[nodiscard]] project_values parse_project_file(std::string_view text);

}  // namespace gpulog::lsp
