#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulog {

/// The candidate that `name` is most likely a misspelling of, if any is close enough.
[[nodiscard]] std::optional<std::string> closest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

/// ", did you mean 'x'?" or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gpulog
