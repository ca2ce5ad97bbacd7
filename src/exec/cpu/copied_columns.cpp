#include "exec/cpu/copied_columns.hpp"

#include <algorithm>

namespace gpulog::exec {

std::optional<std::vector<const word*>> copied_columns(const kernels::pipeline& program,
                                                       const kernels::relation_list<storage::relation>& relations) {
  const kernels::segment& read = program.segments.front();
  const bool reads_rows = read.kind == kernels::expansion_kind::scan && read.scanned == kernels::scan_kind::rows;
  if (program.segments.size() != 1 || !reads_rows || !read.steps.empty() || !read.limits.bounds.empty())
    return std::nullopt;
  const storage::relation& source = *relations[read.source];
  if (source.as_equivalence() != nullptr || read.source == program.target) return std::nullopt;
  std::vector<const word*> columns;
  for (const kernels::register_number wanted : program.head) {
    const auto bound = std::find_if(read.bindings.begin(), read.bindings.end(),
                                    [wanted](const kernels::binding& one) { return one.target == wanted; });
    if (bound == read.bindings.end()) return std::nullopt;
    columns.push_back(source.column(bound->column) + kernels::rows_of(source, read).begin);
  }
  return columns;
}

}  // namespace gpulog::exec
