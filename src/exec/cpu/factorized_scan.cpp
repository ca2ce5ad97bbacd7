#include "exec/cpu/factorized_scan.hpp"

#include "storage/factorized/factorized_reader.hpp"

namespace gpulog::exec {

bool reads_factorized(const kernels::pipeline& program, const kernels::relation_list<storage::relation>& relations) {
  return std::any_of(program.segments.begin(), program.segments.end(), [&](const kernels::segment& one) {
    const bool reads = one.kind == kernels::expansion_kind::scan || one.kind == kernels::expansion_kind::match;
    return (reads && relations[one.source]->is_factorized()) ||
           std::any_of(one.steps.begin(), one.steps.end(), [&](const kernels::step& taken) {
             const bool asks =
                 taken.kind == kernels::step_kind::exists_tuple || taken.kind == kernels::step_kind::exists_key;
             return asks && relations[taken.source]->is_factorized();
           });
  });
}

factorized_scan::factorized_scan(storage::factorized_lookup& lookup, const kernels::segment& scan, bool once)
    : lookup_(&lookup), rows_(lookup.values().rows()) {
  const storage::factorized_values& values = lookup.values();
  is_bound_.resize(values.source_columns.size() + values.value_columns.size());
  for (const kernels::binding& bound : scan.bindings) is_bound_[bound.column] = true;
  if (!once) return;
  const auto binds = [this](const std::vector<std::uint32_t>& columns) {
    return std::any_of(columns.begin(), columns.end(), [this](std::uint32_t column) { return is_bound_[column]; });
  };
  const bool binds_sources = binds(values.source_columns);
  if (binds_sources && binds(values.value_columns)) return;
  has_columns_ = true;
  columns_.resize(is_bound_.size());
  if (scan.bindings.empty()) {
    rows_ = std::min<std::uint64_t>(rows_, 1);
  } else if (binds_sources) {
    take_sources();
  } else {
    // Each value is here because a source leads to it.
    rows_ = values.first[values.graph->components];
    for (std::size_t c = 0; c < values.values.size(); ++c) columns_[values.value_columns[c]] = values.values[c].data();
  }
}

void factorized_scan::take_sources() {
  const storage::factorized_values& values = lookup_->values();
  const storage::factorized_graph& graph = *values.graph;
  storage::factorized_reader reader(*lookup_);
  std::vector<std::uint32_t> vertices;
  rows_ = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    if (graph.sources_at(vertex) == 0 || !reader.has_values(vertex)) continue;
    vertices.push_back(vertex);
    rows_ += graph.sources_at(vertex);
  }
  for (std::size_t c = 0; c < graph.sources.size(); ++c) {
    sources_.emplace_back(lookup_->resource(), rows_, backend::fresh_memory::anything);
    word* out = sources_.back().data();
    for (const std::uint32_t vertex : vertices)
      out = std::copy_n(graph.sources[c].data() + graph.source_first[vertex], graph.sources_at(vertex), out);
    columns_[values.source_columns[c]] = sources_.back().data();
  }
}

factorized_scan::buffer factorized_scan::make_buffer() const {
  buffer made;
  made.columns.resize(is_bound_.size());
  for (std::size_t column = 0; column < is_bound_.size(); ++column) {
    if (!is_bound_[column]) continue;
    made.memory.emplace_back(lookup_->resource(), calibration::written_strip_rows, backend::fresh_memory::anything);
    made.columns[column] = made.memory.back().data();
  }
  return made;
}

}  // namespace gpulog::exec
