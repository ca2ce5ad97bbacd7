#pragma once

#include <memory>
#include <string>

#include "plan/planner.hpp"
#include "sema/program.hpp"
#include "support/source.hpp"

namespace gpulog::plan {

/// A program from text, after parser and analysis.
struct analysed_text {
  std::unique_ptr<source_manager> sources;
  sema::program program;
};

/// @throws std::runtime_error with the diagnostics if the text has errors
[[nodiscard]] analysed_text analyse_text(const std::string& text, const std::string& path = "test.dl");

/// Returns the plan of a text.
/// @throws std::runtime_error if the text has errors or the plan is invalid
[[nodiscard]] program plan_text(const std::string& text, const options& chosen = {}, const statistics& known = {});

/// Returns statistics that hold for the comparison of any two columns.
[[nodiscard]] statistics comparing(double values, double share_of_values, double share_of_rows);

}  // namespace gpulog::plan
