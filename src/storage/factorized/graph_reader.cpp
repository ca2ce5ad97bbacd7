#include "storage/factorized/graph_reader.hpp"

#include <algorithm>

#include "storage/calibration.hpp"

namespace gpulog::storage {
namespace {

/// Marks a number.
/// @return whether it was unmarked before
bool mark(backend::array<std::uint64_t>& marks, std::uint32_t number) {
  std::uint64_t& bits = marks[number / 64];
  const std::uint64_t bit = 1ULL << number % 64;
  const bool is_new = (bits & bit) == 0;
  bits |= bit;
  return is_new;
}

}  // namespace

void graph_reader::contains(const word* const* values, std::uint32_t n, std::uint8_t* found) {
  const factorized_values& rows = rows_->values();
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t vertex = rows_->vertex_of([&](std::size_t c) { return values[rows.source_columns[c]][i]; });
    const std::uint32_t component =
        vertex == none ? none : rows_->component_of([&](std::size_t c) { return values[rows.value_columns[c]][i]; });
    found[i] = component != none && leads(vertex, component) ? 1 : 0;
  }
  rows_->add_work(steps_ + n);
  steps_ = 0;
}

bool graph_reader::leads(std::uint32_t vertex, std::uint32_t component) {
  if (forward_.begin == vertex) return forward_.has(component);
  if (backward_.begin == component) return backward_.has(vertex);
  if (const std::optional<bool> told = rows_->labels().leads(vertex, component)) return *told;
  if (last_vertex_ != vertex) vertex_steps_ = 0;
  if (last_component_ != component) component_steps_ = 0;
  last_vertex_ = vertex;
  last_component_ = component;
  // Once single pairs of a vertex have cost as much as finding all reachable components, all are found.
  if (vertex_steps_ > std::max(forward_.steps, calibration::least_pair_steps)) {
    find_all_from(vertex);
    return forward_.has(component);
  }
  if (component_steps_ > std::max(backward_.steps, calibration::least_pair_steps)) {
    find_all_to(component);
    return backward_.has(vertex);
  }
  const std::uint64_t before = steps_;
  const bool is_led = search_for(vertex, component);
  vertex_steps_ += steps_ - before;
  component_steps_ += steps_ - before;
  return is_led;
}

bool graph_reader::search_for(std::uint32_t vertex, std::uint32_t component) {
  const factorized_graph& graph = *rows_->values().graph;
  const path_labels& labels = rows_->labels();
  if (seen_.size() == 0) seen_ = backend::array<std::uint64_t>(rows_->resource(), graph.components / 64 + 1ULL);
  queue_.assign(1, vertex);
  bool is_led = false;
  for (std::size_t head = 0; head < queue_.size() && !is_led; ++head) {
    const std::uint32_t* const begin = graph.successors.data() + graph.first[queue_[head]];
    const std::uint32_t* next = graph.successors.data() + graph.first[queue_[head] + 1ULL];
    // Smaller numbers cannot lead to the component.
    for (; next != begin && !is_led && next[-1] >= component; --next) {
      ++steps_;
      if (next[-1] == component) {
        is_led = true;
      } else if (const std::optional<bool> told = labels.leads(next[-1], component)) {
        is_led = *told;
      } else if (mark(seen_, next[-1])) {
        queue_.push_back(next[-1]);
      }
    }
  }
  for (std::size_t i = 1; i < queue_.size(); ++i) seen_[queue_[i] / 64] = 0;
  return is_led;
}

void graph_reader::run(search& from, std::uint32_t begin, std::uint64_t numbers, const list_view& lists) {
  if (from.marks.size() == 0) from.marks = backend::array<std::uint64_t>(rows_->resource(), numbers / 64 + 1);
  for (const std::uint32_t number : from.found) from.marks[number / 64] = 0;
  from.found.clear();
  from.begin = none;
  const auto visit = [&](std::uint32_t of) {
    for (std::uint32_t i = lists.first[of]; i < lists.first[of + 1ULL]; ++i) {
      if (mark(from.marks, lists.all[i])) from.found.push_back(lists.all[i]);
    }
    from.steps += lists.first[of + 1ULL] - lists.first[of] + 1;
  };
  from.steps = 0;
  if (begin < rows_->values().graph->components && rows_->values().graph->is_cyclic[begin] != 0) {
    mark(from.marks, begin);
    from.found.push_back(begin);
  } else {
    visit(begin);
  }
  // Vertices after the components have no incoming edges and therefore no list.
  const std::uint32_t ends = rows_->values().graph->components;
  for (std::size_t head = 0; head < from.found.size(); ++head) {
    if (&from == &forward_ || from.found[head] < ends) visit(from.found[head]);
  }
  from.begin = begin;
  steps_ += from.steps;
}

void graph_reader::find_all_from(std::uint32_t vertex) {
  if (forward_.begin == vertex) return;
  const factorized_graph& graph = *rows_->values().graph;
  run(forward_, vertex, graph.components, {graph.first.data(), graph.successors.data()});
}

void graph_reader::find_all_to(std::uint32_t component) {
  if (backward_.begin == component) return;
  run(backward_, component, rows_->values().graph->vertices, rows_->predecessors());
}

const std::vector<std::uint32_t>& graph_reader::reached_from(std::uint32_t vertex) {
  find_all_from(vertex);
  rows_->add_work(steps_);
  steps_ = 0;
  return forward_.found;
}

const std::vector<std::uint32_t>& graph_reader::leading_to(std::uint32_t component) {
  find_all_to(component);
  rows_->add_work(steps_);
  steps_ = 0;
  return backward_.found;
}

found_places graph_reader::targets_of(std::uint32_t vertex) {
  return {&reached_from(vertex), rows_->values().first.data()};
}

found_places graph_reader::sources_of(std::uint32_t component) {
  return {&leading_to(component), rows_->values().graph->source_first.data()};
}

std::uint64_t graph_reader::count_targets(std::uint32_t vertex) {
  const factorized_values& rows = rows_->values();
  // Once searches have taken as long as computing all rows of bits, these are computed.
  if (rows_->counts_all()) return rows_->value_counts()[vertex];
  std::uint64_t sum = 0;
  for (const std::uint32_t component : reached_from(vertex))
    sum += rows.first[component + 1ULL] - rows.first[component];
  return sum;
}

std::uint64_t graph_reader::count_sources(std::uint32_t component) {
  std::uint64_t sum = 0;
  for (const std::uint32_t vertex : leading_to(component)) sum += rows_->values().graph->sources_at(vertex);
  return sum;
}

bool graph_reader::has_targets(std::uint32_t vertex) {
  if (rows_->values().graph->lowest[vertex] == UINT32_MAX) return false;
  return rows_->all_have_values() || count_targets(vertex) != 0;
}

}  // namespace gpulog::storage
