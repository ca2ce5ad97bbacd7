#include "support/diagnostics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpulog {
namespace {

source_span span_of(const source_file& file, const std::string& text) {
  const std::size_t at = file.text().find(text);
  return {&file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + text.size())};
}

TEST(diagnostics_report, print_as_souffle_does) {
  source_manager sources;
  const source_file& file = sources.add("some/folder/typ.dl", ".decl a(x:number)\n.decl b(x:symbol)\na(x) :- b(x).\n");
  diagnostics report;
  auto& error = report.error(span_of(file, "x) :-"), "Unable to deduce type for variable x");
  error.note("Following constraints are incompatible:");
  error.note("   Type of variable 'x' should be a subtype of 'number'");
  error.note(span_of(file, "b(x)."), "   Type of variable 'x' should be a subtype of 'symbol'");
  EXPECT_EQ(report.to_string(),
            "Error: Unable to deduce type for variable x in file typ.dl at line 3\n"
            "a(x) :- b(x).\n"
            "--^-----------\n"
            "Following constraints are incompatible:\n"
            "   Type of variable 'x' should be a subtype of 'number'\n"
            "   Type of variable 'x' should be a subtype of 'symbol' in file typ.dl at line 3\n"
            "a(x) :- b(x).\n"
            "--------^-----\n"
            "1 errors generated, evaluation aborted\n");
}

TEST(diagnostics_report, show_a_part_of_a_long_line) {
  source_manager sources;
  const source_file& file =
      sources.add("p.dl", std::string(100000, 'a') + "here" + std::string(100000, 'b') + "\nnext\n");
  for (const char* const text : {"aaaa", "here", "b\n"}) {
    diagnostics report;
    report.error(span_of(file, text), "e");
    const std::string shown = report.to_string();
    EXPECT_LT(shown.size(), 10000U);
    const std::size_t line = shown.find('\n') + 1;
    const std::size_t marks = shown.find('\n', line) + 1;
    const std::size_t caret = shown.find('^', marks) - marks;
    EXPECT_EQ(shown[line + caret], text[0]);
    EXPECT_EQ(shown[line + caret + 1], text[1]);
  }
}

TEST(diagnostics_report, are_sorted_by_place_errors_first_and_once) {
  source_manager sources;
  const source_file& file = sources.add("p.dl", "one\ntwo\nthree\n");
  diagnostics report;
  report.warning(span_of(file, "two"), "w2");
  report.error(span_of(file, "three"), "e3");
  report.error(span_of(file, "two"), "e2");
  report.error(span_of(file, "three"), "e3");
  report.error("no place");
  std::string order;
  for (const diagnostic& remark : report.to_public()) order += remark.message + ";";
  EXPECT_EQ(order, "no place;e2;w2;e3;");
  EXPECT_EQ(report.error_count(), 4U);
  EXPECT_EQ(report.warning_count(), 1U);
  EXPECT_EQ(
      report.to_string(),
      "Error: no place\nError: e2 in file p.dl at line 2\ntwo\n^---\nWarning: w2 in file p.dl at line 2\ntwo\n^---\n"
      "Error: e3 in file p.dl at line 3\nthree\n^-----\n3 errors generated, evaluation aborted\n");
}

TEST(diagnostics_report, warnings_alone_do_not_abort) {
  source_manager sources;
  const source_file& file = sources.add("p.dl", "text");
  diagnostics report;
  report.warning({&file, 0, 4}, "w");
  EXPECT_FALSE(report.has_errors());
  EXPECT_EQ(report.to_string(), "Warning: w in file p.dl at line 1\ntext\n^----\n");
}

TEST(diagnostics_report, caret_stays_within_the_line) {
  source_manager sources;
  const source_file& file = sources.add("p.dl", "ab\r\n\n");
  diagnostics report;
  report.error({&file, 3, 4}, "behind the end");
  report.error({&file, 4, 4}, "empty line");
  report.error({&file, 400, 500}, "outside");
  EXPECT_EQ(report.to_string(),
            "Error: behind the end in file p.dl at line 1\nab\n--^\nError: empty line in file p.dl at line 2\n\n^\n"
            "Error: outside in file p.dl at line 3\n\n^\n3 errors generated, evaluation aborted\n");
}

}  // namespace
}  // namespace gpulog
