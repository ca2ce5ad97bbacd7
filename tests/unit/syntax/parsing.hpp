#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

/// Returns the whole report on a text after declarations of `q`, `r` and `p` with one number each, in three lines.
inline std::string report_on_mistake(const std::string& text) {
  const std::string whole = ".decl q(x:number)\n.decl r(x:number)\n.decl p(x:number)\n" + text + "\n";
  const parsed_text parsed(whole);
  const std::string report = parsed.report.to_string();
  parse_options without_items;
  without_items.keeps_items = false;
  EXPECT_EQ(parsed_text(whole, without_items).report.to_string(), report);
  const std::string end = std::to_string(parsed.report.error_count()) + " errors generated, evaluation aborted\n";
  EXPECT_TRUE(report.ends_with(end)) << report;
  return report.substr(0, report.size() - std::min(report.size(), end.size()));
}

/// Returns the diagnostics of a text.
inline std::string remarks_on(const std::string& text, const parse_options& options = {}) {
  return parsed_text(text, options).remarks();
}

}  // namespace gpulog::syntax
