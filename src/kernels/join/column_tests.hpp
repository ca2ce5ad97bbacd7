#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// A comparison of a column of the first scan with a constant.
struct column_test {
  std::uint32_t column;
  word value;
  bool negated;
};

/// Returns the comparisons with constants that a pipeline makes first for each row of its scan.
[[nodiscard]] inline std::vector<column_test> first_tests(const pipeline& program) {
  std::vector<column_test> tests;
  const segment& first = program.segments.front();
  if (first.kind != expansion_kind::scan || first.scanned != scan_kind::rows) return tests;
  for (const step& one : first.steps) {
    const bool is_negated = one.comparison == comparison_op::not_equal;
    if (one.kind != step_kind::filter || one.is_wide || (one.comparison != comparison_op::equal && !is_negated)) break;
    const auto [variable, constant] = std::minmax(one.arguments[0], one.arguments[1]);
    const auto bound = std::find_if(first.bindings.begin(), first.bindings.end(),
                                    [target = variable](const binding& read) { return read.target == target; });
    if (constant < program.slot_count || bound == first.bindings.end()) break;
    tests.push_back({bound->column, program.constants[constant - program.slot_count], is_negated});
  }
  return tests;
}

/// Returns whether each of the rows fails a test.
[[nodiscard]] inline bool rejects_all(const std::vector<column_test>& tests, const storage::relation& source,
                                      const part_rows& rows) {
  if (source.as_equivalence() != nullptr || source.matrix() != nullptr) return false;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const bool passes = std::none_of(tests.begin(), tests.end(), [&source, row](const column_test& test) {
      return (source.column(test.column)[row] == test.value) == test.negated;
    });
    if (passes) return false;
  }
  return true;
}

}  // namespace gpulog::kernels
