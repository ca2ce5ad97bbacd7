#include "kernels/search/condensed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gpulog::kernels {

using storage::factorized_graph;
using storage::factorized_values;

namespace {

/// The searches of the sample are spread evenly.
sampled_meetings sample_numbers(const backend::piece_runner& workers, backend::memory_resource& resource,
                                const numbered_graph& graph, std::uint64_t wanted, std::uint64_t most) {
  const std::uint64_t searches = graph.sources;
  const std::uint64_t samples = std::min(wanted, searches);
  const auto starts = [&](std::uint64_t sample, const auto& visit) {
    const std::uint64_t search = sample * searches / samples;
    std::for_each(graph.starts.all.begin() + graph.starts.first[search],
                  graph.starts.all.begin() + graph.starts.first[search + 1], visit);
  };
  return sample_searches(workers, resource, numbered_steps(graph.steps), graph.numbers, samples, starts, most);
}

/// Converts a number of values per search to a total over the sample.
std::uint64_t all_of_sample(double met, const numbered_graph& graph, const condensation_cut_offs& cut) {
  const std::uint64_t samples = std::min<std::uint64_t>(cut.samples, graph.sources);
  return static_cast<std::uint64_t>(std::ceil(met * static_cast<double>(samples)));
}

}  // namespace

bool has_long_searches(const backend::piece_runner& workers, backend::memory_resource& resource,
                       const numbered_graph& graph, double least, const condensation_cut_offs& cut) {
  return sample_numbers(workers, resource, graph, cut.samples, all_of_sample(least, graph, cut)).average() >= least;
}

namespace {

/// Returns the strip width: wide enough to pay, with enough strips for all workers. On average, the first strip takes
/// twice as long as a later strip.
std::uint32_t strip_words(std::uint32_t components, unsigned workers) {
  if (workers == 1) return factorized_graph::most_strip_words;
  const std::uint32_t even = components / 64 / workers;
  return std::bit_floor(std::clamp(even, factorized_graph::least_strip_words, factorized_graph::most_strip_words));
}

/// Returns, by source, the number of its namesake: the node with the same tuple.
/// @param numbers buffer, used if sources are not numbers themselves
/// @return nullptr if sources and nodes have different columns
const std::uint32_t* nodes_of_sources(const backend::piece_runner& workers, const row_equations& task,
                                      const numbered_graph& graph, backend::array<std::uint32_t>& numbers) {
  const auto& member = task.members.front();
  if (task.members.size() != 1 || member.sources.size() != member.targets.size()) return nullptr;
  const std::vector<const word*> sources = graph.invariants->columns();
  if (graph.is_of_values()) return sources.front();
  numbers.resize(graph.sources);
  workers.for_each_range(numbers.size(), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::vector<const word*> own = sources;
    for (const word*& column : own) column += begin;
    graph.nodes.front().find(own, end - begin, 0, numbers.data() + begin);
  });
  return numbers.data();
}

}  // namespace

std::optional<std::vector<factorized_values>> factorize(const backend::piece_runner& workers,
                                                        backend::memory_resource& resource, const row_equations& task,
                                                        const numbered_graph& graph, unsigned processes,
                                                        stage_clock& clock) {
  // Each source may add a vertex and a list.
  const bool has_places =
      graph.numbers + graph.sources < UINT32_MAX && graph.steps.all.size() + graph.starts.all.size() < UINT32_MAX;
  if (!has_places) return std::nullopt;
  const storage::list_view steps = graph.steps.view();
  storage::condensation condensed =
      storage::condense(workers, resource, steps, graph.numbers,
                        graph.is_of_values() ? graph.ordered_starts : graph.starts.all.data(), graph.starts.all.size());
  clock.end("components");
  backend::array<std::uint32_t> numbers(resource);
  factorized_graph made =
      storage::factorize(workers, resource, condensed, graph.starts.view(), graph.invariants->columns(), graph.sources,
                         {nodes_of_sources(workers, task, graph, numbers), steps});
  made.strip_words = strip_words(made.components, workers.workers() * processes);
  const auto shared = std::make_shared<const factorized_graph>(std::move(made));
  std::vector<factorized_values> members;
  for (std::size_t m = 0; m < task.members.size(); ++m) {
    const tuple_numbering& nodes = graph.nodes[m];
    members.push_back(storage::place_values(workers, resource, shared, condensed.component.data() + graph.begins[m],
                                            nodes.columns(), nodes.size()));
    members.back().source_columns = task.members[m].sources;
    members.back().value_columns = task.members[m].targets;
  }
  clock.end("places");
  return members;
}

bool condensation_pays(const backend::piece_runner& workers, backend::memory_resource& resource,
                       const numbered_graph& graph, const factorized_graph& condensed,
                       const condensation_cut_offs& cut) {
  const double seconds = condensed.row_words(workers) / cut.row_words;
  const double wanted = seconds * cut.searched / static_cast<double>(graph.sources);
  const std::uint64_t enough = all_of_sample(wanted, graph, cut);
  const auto most =
      static_cast<std::uint64_t>(std::max(cut.least_sample_values, seconds * cut.sample_share * cut.searched));
  const sampled_meetings sampled = sample_numbers(workers, resource, graph, cut.samples, std::min(most, enough));
  return sampled.met >= enough || sampled.average() >= wanted;
}

}  // namespace gpulog::kernels
