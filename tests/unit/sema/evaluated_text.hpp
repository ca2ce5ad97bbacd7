#pragma once

#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "oracle/naive_evaluator.hpp"

namespace gpulog {

/// Returns the lines of a relation from the naive evaluator, or one line with the diagnostics.
inline std::vector<std::string> result_of(const std::string& program, const std::string& relation) {
  const analysed_text text(program);
  if (!text.accepted()) return {text.report.to_string()};
  oracle::database data(*text.program);
  oracle::evaluate(*text.program, data);
  return data.lines(*text.program, text.relation(relation));
}

}  // namespace gpulog
