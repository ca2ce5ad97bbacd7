#pragma once

#include "cli/arguments.hpp"
#include "cli/test/test_case.hpp"
#include "cli/test/test_result.hpp"

namespace gpulog::cli {

/// Options of a test.
struct test_options {
  bool update = false;    ///< replace counts, sets and outputs that differ
  bool coverage = false;  ///< list the rules of the program
};

/// Checks what the comments of the test state.
/// @param given the options of a run, with the folder of the facts
/// @param result receives a point for each expectation, and for errors that none of the expectations names
/// @return whether the program ran without an error
/// @throws cancelled_error
[[nodiscard]] bool check_expectations(const test_case& test, const arguments& given, const test_options& options,
                                      test_result& result);

}  // namespace gpulog::cli
