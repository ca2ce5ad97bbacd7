#include "cli/test/test_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/line_text.hpp"
#include "cli/test/coverage.hpp"

namespace gpulog::cli {
namespace {

std::string indented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) result += "  " + std::string(text.substr(0, end));
    result += "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string place_text(const test_point& point) {
  return point.line == 0 ? point.path : fmt::format("{}:{}", point.path, point.line);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Returns the text as a part of an XML document, which permits neither invalid UTF-8 nor most control characters.
std::string xml(const std::string& text) {
  using json = nlohmann::json;
  const auto valid = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string result;
  for (const char byte : valid) {
    const bool is_control = static_cast<unsigned char>(byte) < ' ' && byte != '\n' && byte != '\t';
    switch (byte) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += is_control ? '?' : byte;
    }
  }
  return result;
}

std::string junit_case(const test_point& point) {
  std::string name = point.text.empty() ? point.path : point.text;
  if (point.line > 0) name = fmt::format("{}: {}", point.line, name);
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(point.path), xml(name));
  if (point.fault.empty()) return text + "/>\n";
  return text + fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                            xml(in_one_line(point.fault)), xml(point.detail));
}

}  // namespace

std::size_t failure_count(const test_result& result) {
  return static_cast<std::size_t>(std::count_if(result.points.begin(), result.points.end(),
                                                [](const test_point& point) { return !point.fault.empty(); }));
}

std::string failures_text(const test_result& result) {
  std::string text;
  for (const test_point& point : result.points) {
    if (point.fault.empty()) continue;
    text += fmt::format("{}: {}\n", place_text(point), point.fault);
    if (point.line > 0) text += indented(point.text);
    text += indented(point.detail);
  }
  return text;
}

std::string summary_text(const std::vector<test_result>& results) {
  std::size_t checks = 0, failures = 0, updates = 0;
  for (const test_result& result : results) {
    checks += result.points.size();
    failures += failure_count(result);
    updates += result.updated;
  }
  return fmt::format("{} with {}: {}{}\n", counted(results.size(), "test"), counted(checks, "check"),
                     failures == 0 ? "passed" : fmt::format("{} failed", failures),
                     updates == 0 ? "" : fmt::format(", {} updated", updates));
}

std::string coverage_text(const std::vector<test_result>& results) {
  const std::vector<rule_coverage> rules = joined_coverage(results);
  std::string text;
  std::size_t deriving = 0;
  for (const rule_coverage& rule : rules) {
    if (rule.derives) ++deriving;
    if (!rule.derives) text += fmt::format("{}: no test derives a tuple\n  {}\n", rule.location, rule.rule);
  }
  return text + fmt::format("{} of {} derived a tuple\n", deriving, counted(rules.size(), "rule"));
}

std::string junit_text(const std::vector<test_case>& tests, const std::vector<test_result>& results) {
  std::string suites;
  std::size_t checks = 0, failures = 0;
  double seconds = 0;
  for (std::size_t number = 0; number < tests.size(); ++number) {
    const test_result& result = results[number];
    suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n",
                          xml(tests[number].name), result.points.size(), failure_count(result), result.seconds);
    for (const test_point& point : result.points) suites += junit_case(point);
    suites += "  </testsuite>\n";
    checks += result.points.size();
    failures += failure_count(result);
    seconds += result.seconds;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n{}"
      "</testsuites>\n",
      checks, failures, seconds, suites);
}

}  // namespace gpulog::cli
