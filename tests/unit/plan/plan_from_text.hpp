#pragma once

#include <memory>
#include <string>

#include "plan/planner.hpp"
#include "sema/program.hpp"
#include "support/source.hpp"

namespace gpulog::plan {

/// A program from text, through parser and analysis.
struct analysed_text {
  std::unique_ptr<source_manager> sources;
  sema::program program;
};

/// @throws std::runtime_error with the diagnostics when the text is wrong.
[[nodiscard]] analysed_text analyse_text(const std::string& text, const std::string& path = "test.dl");

/// The plan of a text. @throws std::runtime_error when the text is wrong or the plan is not valid.
[[nodiscard]] program plan_text(const std::string& text, const options& chosen = {}, const statistics& known = {});

/// What is known of the values of any columns beside others.
[[nodiscard]] statistics comparing(double values, double share_of_values, double share_of_rows);

}  // namespace gpulog::plan
