#include "plan_from_text.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "plan/validate.hpp"
#include "sema/analysis.hpp"
#include "support/diagnostics.hpp"
#include "syntax/parser.hpp"

namespace gpulog::plan {

analysed_text analyse_text(const std::string& text, const std::string& path) {
  analysed_text result;
  result.sources = std::make_unique<source_manager>();
  diagnostics report;
  const syntax::program parsed = syntax::parse(result.sources->add(path, text), *result.sources, report);
  if (report.has_errors()) throw std::runtime_error(report.to_string());
  auto analysed = sema::analyse(parsed, report, {.warnings = false});
  if (!analysed) throw std::runtime_error(report.to_string());
  result.program = std::move(*analysed);
  return result;
}

program plan_text(const std::string& text, const options& chosen, const statistics& known) {
  const analysed_text analysed = analyse_text(text);
  program result = make_plan(analysed.program, known, chosen);
  for (const std::string& problem : validate(result)) throw std::runtime_error(problem);
  return result;
}

statistics comparing(double values, double share_of_values, double share_of_rows) {
  statistics known;
  known.compare_values = [=](const std::vector<column_place>&, const std::vector<column_place>&) {
    return shared_values{values, values * share_of_values, share_of_rows};
  };
  return known;
}

}  // namespace gpulog::plan
