#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpulog::cli {

/// The difference of two multisets of texts.
struct line_difference {
  std::vector<std::string> missing, unexpected;

  /// Keeps the orders of both.
  line_difference(const std::vector<std::string>& wanted, const std::vector<std::string>& actual);

  [[nodiscard]] bool empty() const { return missing.empty() && unexpected.empty(); }
  /// Returns for example "1 tuple missing, 2 unexpected".
  [[nodiscard]] std::string summary(std::string_view noun) const;
  /// Returns a line for each text, with - or +; after 20 lines the number of others.
  [[nodiscard]] std::string text() const;
};

}  // namespace gpulog::cli
