#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/diagnostics.hpp"
#include "syntax/parser.hpp"
#include "syntax/printer.hpp"

namespace gpulog::syntax {

/// A text and the result of the parser.
struct parsed_text {
  source_manager sources;
  diagnostics report;
  program result;

  explicit parsed_text(const std::string& text, const parse_options& options = {}) {
    result = parse(sources.add("test.dl", text), sources, report, options);
  }
  parsed_text(const parsed_text&) = delete;
  parsed_text& operator=(const parsed_text&) = delete;

  /// Returns "line:message" of each diagnostic, one per line.
  [[nodiscard]] std::string remarks() const {
    std::string lines;
    for (const diagnostic& remark : report.to_public()) {
      lines += std::to_string(remark.line) + ":" + remark.message + "\n";
    }
    return lines;
  }
};

/// Prints a text without errors, and checks that the result parses to an equal tree.
inline std::string printed(const std::string& text, const parse_options& options = {}) {
  const parsed_text first(text, options);
  EXPECT_EQ(first.remarks(), "") << text;
  std::string result = print(first.result);
  const parsed_text second(result);
  EXPECT_EQ(second.remarks(), "") << result;
  EXPECT_TRUE(first.result == second.result) << text << "\nprinted as\n" << result;
  EXPECT_EQ(print(second.result), result);
  return result;
}

/// Returns the diagnostics of a text.
inline std::string remarks_on(const std::string& text, const parse_options& options = {}) {
  return parsed_text(text, options).remarks();
}

}  // namespace gpulog::syntax
