#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/join/pipeline.hpp"

namespace gpulog::kernels {

/// Returns the columns of a relation that a pipeline only copies, starting at the first row read; nothing if the
/// pipeline does more.
template <class Relation>
[[nodiscard]] std::optional<std::vector<const word*>> copied_columns(const pipeline& program,
                                                                     const relation_list<Relation>& relations) {
  const segment& read = program.segments.front();
  const bool reads_rows = read.kind == expansion_kind::scan && read.scanned == scan_kind::rows;
  if (program.segments.size() != 1 || !reads_rows || !read.steps.empty() || !read.limits.bounds.empty())
    return std::nullopt;
  const Relation& source = *relations[read.source];
  if (read.source == program.target) return std::nullopt;
  if constexpr (requires { source.as_equivalence(); }) {
    if (source.as_equivalence() != nullptr) return std::nullopt;
  }
  std::vector<const word*> columns;
  for (const register_number wanted : program.head) {
    const auto bound = std::find_if(read.bindings.begin(), read.bindings.end(),
                                    [wanted](const binding& one) { return one.target == wanted; });
    if (bound == read.bindings.end()) return std::nullopt;
    columns.push_back(source.column(bound->column) + rows_of(source, read).begin);
  }
  return columns;
}

}  // namespace gpulog::kernels
