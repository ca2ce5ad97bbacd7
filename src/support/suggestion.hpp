#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulog {

/// Returns the candidate that `name` most likely misspells, if one is close enough.
[[nodiscard]] std::optional<std::string> closest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

/// Returns ", did you mean 'x'?" or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gpulog
