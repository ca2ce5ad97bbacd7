#include "storage/factorized/graph_rows.hpp"

#include <algorithm>

#include "storage/calibration.hpp"
#include "storage/factorized/graph_reader.hpp"

namespace gpulog::storage {

using backend::array;

namespace {

/// Returns the list that contains each place.
/// @param first by list, with one extra entry
array<std::uint32_t> lists_of_places(backend::memory_resource& resource, const array<std::uint32_t>& first,
                                     std::uint64_t lists) {
  array<std::uint32_t> made(resource, first[lists], backend::fresh_memory::anything);
  for (std::uint32_t list = 0; list < lists; ++list)
    std::fill(made.data() + first[list], made.data() + first[list + 1ULL], list);
  return made;
}

class strip_piece final : public row_piece {
 public:
  strip_piece(backend::memory_resource& resource, const factorized_values& values)
      : values_(values), reader_(resource, *values.graph) {}
  void make(std::uint32_t number) override {
    reader_.make(number);
    reader_.prepare(values_);
  }
  [[nodiscard]] std::unique_ptr<row_cursor> cursor() const override {
    return std::make_unique<strip_cursor>(reader_, values_);
  }

 private:
  const factorized_values& values_;
  strip_reader reader_;
};

}  // namespace

std::unique_ptr<row_piece> graph_rows::make_piece() { return std::make_unique<strip_piece>(*resource_, values_); }

std::unique_ptr<matrix_reader> graph_rows::make_reader() { return std::make_unique<graph_reader>(*this); }

std::optional<std::vector<std::uint32_t>> graph_rows::places_with_rows(bool of_sources) {
  if (!of_sources) return std::nullopt;  // each value has a source that leads to it
  const factorized_graph& graph = *values_.graph;
  graph_reader reader(*this);
  std::vector<std::uint32_t> places;
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    if (graph.sources_at(vertex) == 0 || !reader.has_targets(vertex)) continue;
    for (std::uint32_t place = graph.source_first[vertex]; place < graph.source_first[vertex + 1ULL]; ++place)
      places.push_back(place);
  }
  return places;
}

std::uint64_t graph_rows::bytes() const {
  return values_.bytes() + source_places_.bytes() + value_places_.bytes() + vertices_.bytes() + components_.bytes() +
         (labels_ ? labels_->bytes() : 0) + predecessors_.first.bytes() + predecessors_.all.bytes() +
         value_counts_.bytes();
}

void graph_rows::place_sources() {
  const factorized_graph& graph = *values_.graph;
  vertices_ = lists_of_places(*resource_, graph.source_first, graph.vertices);
  source_places_ = tuple_places(*resource_, graph.sources, vertices_.size());
}

void graph_rows::place_values() {
  const factorized_graph& graph = *values_.graph;
  components_ = lists_of_places(*resource_, values_.first, graph.components);
  value_places_ = tuple_places(*resource_, values_.values, components_.size());
  all_have_values_ = true;
  for (std::uint64_t component = 0; component < graph.components; ++component)
    all_have_values_ = all_have_values_ && values_.first[component] != values_.first[component + 1];
}

void graph_rows::make_labels() { labels_.emplace(*resource_, *values_.graph); }

void graph_rows::turn_around() {
  const factorized_graph& graph = *values_.graph;
  const array<std::uint32_t> from = lists_of_places(*resource_, graph.first, graph.vertices);
  predecessors_ = make_adjacency(backend::piece_runner(), *resource_, graph.successors.data(), from.data(), from.size(),
                                 graph.components);
}

void graph_rows::tell_count_steps() {
  count_steps_ = values_.graph->row_words(backend::piece_runner()) / calibration::row_words_of_a_step;
}

void graph_rows::count_values() {
  const factorized_graph& graph = *values_.graph;
  array<std::uint64_t> counts(*resource_, graph.vertices);
  strip_reader reader(*resource_, graph);
  for (std::uint32_t strip = 0; strip < graph.strips(); ++strip) {
    reader.make(strip);
    reader.add_counts(values_, counts.data());
  }
  value_counts_ = std::move(counts);
}

}  // namespace gpulog::storage
