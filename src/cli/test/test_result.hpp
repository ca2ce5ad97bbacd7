#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpulog::cli {

/// An expectation, an expected output or the program itself, and whether it is as expected.
struct test_point {
  std::string path;
  std::size_t line = 0;  ///< 0: the whole file
  std::string text;      ///< the line of the file, or the name of an output
  std::string fault;     ///< one line; empty: as expected
  std::string detail;    ///< proofs, differences or reports, line by line
};

/// A rule of a program and whether the rule derived a tuple.
struct rule_coverage {
  std::string location;  ///< path and line
  std::string rule;
  bool derives = false;
};

/// What a test found.
struct test_result {
  std::vector<test_point> points;
  std::size_t updated = 0;  ///< expectations and outputs that --update changed
  std::vector<rule_coverage> rules;
  double seconds = 0;

  void fail(std::string path, std::string fault, std::string detail = {}) {
    points.push_back({std::move(path), 0, {}, std::move(fault), std::move(detail)});
  }
};

/// Returns the result as bytes, for another process.
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const test_result& result);
/// @throws nlohmann::json::exception for bytes that are no result
[[nodiscard]] test_result result_from_bytes(const std::vector<std::uint8_t>& bytes);

}  // namespace gpulog::cli
