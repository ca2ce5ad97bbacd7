#include "exec/cpu/matrix_scan.hpp"

#include <optional>

namespace gpulog::exec {

bool reads_matrix(const kernels::pipeline& program, const kernels::relation_list<storage::relation>& relations) {
  return std::any_of(program.segments.begin(), program.segments.end(), [&](const kernels::segment& one) {
    const bool reads = one.kind == kernels::expansion_kind::scan || one.kind == kernels::expansion_kind::match;
    return (reads && relations[one.source]->matrix() != nullptr) ||
           std::any_of(one.steps.begin(), one.steps.end(), [&](const kernels::step& taken) {
             const bool asks =
                 taken.kind == kernels::step_kind::exists_tuple || taken.kind == kernels::step_kind::exists_key;
             return asks && relations[taken.source]->matrix() != nullptr;
           });
  });
}

matrix_scan::matrix_scan(backend::memory_resource& resource, storage::host_row_matrix& matrix,
                         const kernels::segment& scan, bool once)
    : resource_(&resource), matrix_(&matrix), rows_(matrix.rows()) {
  is_bound_.resize(matrix.source_columns().size() + matrix.target_columns().size());
  for (const kernels::binding& bound : scan.bindings) is_bound_[bound.column] = true;
  if (!once) return;
  const auto binds = [this](const std::vector<std::uint32_t>& columns) {
    return std::any_of(columns.begin(), columns.end(), [this](std::uint32_t column) { return is_bound_[column]; });
  };
  const bool binds_sources = binds(matrix.source_columns());
  if (binds_sources && binds(matrix.target_columns())) return;
  has_columns_ = true;
  columns_.resize(is_bound_.size());
  if (scan.bindings.empty()) {
    rows_ = std::min<std::uint64_t>(rows_, 1);
  } else {
    take_side(binds_sources);
  }
}

void matrix_scan::take_side(bool of_sources) {
  const std::vector<std::uint32_t>& side = of_sources ? matrix_->source_columns() : matrix_->target_columns();
  const std::optional<std::vector<std::uint32_t>> places = matrix_->places_with_rows(of_sources);
  rows_ = places ? places->size() : matrix_->values_of(side.front()).count;
  for (const std::uint32_t column : side) {
    const word* const all = matrix_->values_of(column).values;
    columns_[column] = all;
    if (!places) continue;
    word* const out = taken_.emplace_back(*resource_, rows_, backend::fresh_memory::anything).data();
    for (std::uint64_t i = 0; i < rows_; ++i) out[i] = all[(*places)[static_cast<std::size_t>(i)]];
    columns_[column] = out;
  }
}

matrix_scan::buffer matrix_scan::make_buffer() const {
  buffer made;
  made.columns.resize(is_bound_.size());
  for (std::size_t column = 0; column < is_bound_.size(); ++column) {
    if (!is_bound_[column]) continue;
    made.memory.emplace_back(*resource_, calibration::written_piece_rows, backend::fresh_memory::anything);
    made.columns[column] = made.memory.back().data();
  }
  return made;
}

}  // namespace gpulog::exec
