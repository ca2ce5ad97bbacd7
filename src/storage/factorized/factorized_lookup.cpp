#include "storage/factorized/factorized_lookup.hpp"

#include <algorithm>

#include "storage/calibration.hpp"
#include "storage/factorized/counting_sort.hpp"

namespace gpulog::storage {

using backend::array;

namespace {

/// By place: which list it stands in. first: by list, and one more at the end.
array<std::uint32_t> lists_of_places(backend::memory_resource& resource, const array<std::uint32_t>& first,
                                     std::uint64_t lists) {
  array<std::uint32_t> made(resource, first[lists], backend::fresh_memory::anything);
  for (std::uint32_t list = 0; list < lists; ++list)
    std::fill(made.data() + first[list], made.data() + first[list + 1ULL], list);
  return made;
}

}  // namespace

std::uint64_t factorized_lookup::bytes() const {
  return source_places_.bytes() + value_places_.bytes() + vertices_.bytes() + components_.bytes() +
         (labels_ ? labels_->bytes() : 0) + predecessor_first_.bytes() + predecessors_.bytes() + value_counts_.bytes();
}

void factorized_lookup::place_sources() {
  const factorized_graph& graph = *values_->graph;
  vertices_ = lists_of_places(*resource_, graph.source_first, graph.vertices);
  source_places_ = tuple_places(*resource_, graph.sources, vertices_.size());
}

void factorized_lookup::place_values() {
  const factorized_graph& graph = *values_->graph;
  components_ = lists_of_places(*resource_, values_->first, graph.components);
  value_places_ = tuple_places(*resource_, values_->values, components_.size());
  all_have_values_ = true;
  for (std::uint64_t component = 0; component < graph.components; ++component)
    all_have_values_ = all_have_values_ && values_->first[component] != values_->first[component + 1];
}

void factorized_lookup::make_labels() { labels_.emplace(*resource_, *values_->graph); }

void factorized_lookup::turn_around() {
  const factorized_graph& graph = *values_->graph;
  const array<std::uint32_t> from = lists_of_places(*resource_, graph.first, graph.vertices);
  predecessor_first_ = counting_sort(
      backend::piece_runner(), *resource_, static_cast<std::uint32_t>(from.size()), graph.components,
      [&](std::uint32_t edge) { return graph.successors[edge]; },
      [&](std::uint64_t all) {
        predecessors_ = array<std::uint32_t>(*resource_, all, backend::fresh_memory::anything);
      },
      [&](std::uint32_t edge, std::uint32_t place) { predecessors_[place] = from[edge]; });
}

void factorized_lookup::tell_count_steps() {
  count_steps_ = values_->graph->row_words(backend::piece_runner()) / calibration::row_words_of_a_step;
}

void factorized_lookup::count_values() {
  const factorized_graph& graph = *values_->graph;
  array<std::uint64_t> counts(*resource_, graph.vertices);
  strip_reader reader(*resource_, graph);
  for (std::uint32_t strip = 0; strip < graph.strips(); ++strip) {
    reader.make(strip);
    reader.add_counts(*values_, counts.data());
  }
  value_counts_ = std::move(counts);
}

}  // namespace gpulog::storage
