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
  /// Returns for example "1 missing tuple and 2 unexpected tuples".
  [[nodiscard]] std::string summary(std::string_view noun) const;
  /// Returns a line with - or + for each text; after 20 lines, the number of further texts.
  [[nodiscard]] std::string text() const;
};

}  // namespace gpulog::cli
