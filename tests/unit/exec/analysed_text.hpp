#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/planner.hpp"
#include "sema/analysis.hpp"
#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/parser.hpp"

namespace gpulog::exec {

/// An analysed program. Its places point into `sources`.
struct analysed_text {
  std::unique_ptr<source_manager> sources = std::make_unique<source_manager>();
  sema::program program;

  /// @throws std::runtime_error with the diagnostics if the text has errors
  explicit analysed_text(const std::string& text, word_size words = word_size::bits32) {
    diagnostics report;
    const syntax::program parsed = syntax::parse(sources->add("test.dl", text), *sources, report);
    if (report.has_errors()) throw std::runtime_error(report.to_string());
    auto analysed = sema::analyse(parsed, report, {.warnings = false, .words = words});
    if (!analysed) throw std::runtime_error(report.to_string());
    program = std::move(*analysed);
  }
};

}  // namespace gpulog::exec
