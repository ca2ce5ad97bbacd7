#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/search/decomposed.hpp"
#include "kernels/search/numbered.hpp"
#include "storage/factorized/factorized_values.hpp"
#include "storage/factorized/graph_rows.hpp"

/// A decomposed fixpoint over the strongly connected components of its graph. All vertices of a component reach the
/// same vertices, and a component reaches the union of what its successors reach: Nuutila 1995. Rows of bits are
/// computed for a strip of components at a time, so that they stay in a cache.
namespace gpulog::kernels {

struct condensation_cut_offs {
  double step_rows = 64;  ///< as in numbering_cut_offs
  /// Minimum number of values that searches visit per numbered row: below, searches end before components would be
  /// found.
  double met_by_row = 0;
  // Expected speed of a worker per second.
  double row_words = 0;  ///< words united
  double searched = 0;   ///< values visited by searches
  // The sample: number of searches, maximum share of the expected saving to spend on the sample, and a number of values
  // that the sample may always visit.
  std::uint64_t samples = 1;
  double sample_share = 0;
  double least_sample_values = 0;
  std::uint64_t range = backend::piece_runner::usual_range;  ///< minimum elements per worker
  bool always = false;                                       ///< even if searches are expected to be faster
};

/// Result of a sample of searches.
struct sampled_meetings {
  std::uint64_t met = 0;
  std::uint64_t searches = 1;  ///< started searches
  [[nodiscard]] double average() const { return static_cast<double>(met) / static_cast<double>(searches); }
};

/// Runs sample searches. starts(sample, visit) calls visit(value) for each start of a search.
/// @param values exclusive bound of all values
/// @param most total number of visited values after which all searches stop
template <class Steps, class Starts>
sampled_meetings sample_searches(const backend::piece_runner& workers, backend::memory_resource& resource,
                                 const Steps& steps, std::uint64_t values, std::uint64_t samples, const Starts& starts,
                                 std::uint64_t most) {
  // Each worker batches its count, because sharing every update would bounce a cache line between workers.
  constexpr std::uint64_t told_together = 256;
  std::atomic<std::uint64_t> all_met{0};
  std::atomic<std::uint64_t> begun{0};
  const auto go_on = [&all_met, most] { return all_met.load(std::memory_order_relaxed) < most; };
  workers.run(std::min<std::uint64_t>(samples, workers.workers()), [&](std::uint64_t) {
    storage::array<std::uint64_t> seen(resource, values / 64 + 1);
    std::vector<word> queue;
    const auto visit = [&](word value) {
      std::uint64_t& bits = seen[value / 64];
      const std::uint64_t bit = 1ULL << (value % 64);
      if ((bits & bit) == 0) queue.push_back(value);
      bits |= bit;
    };
    while (go_on()) {
      const std::uint64_t sample = begun.fetch_add(1, std::memory_order_relaxed);
      if (sample >= samples) return;
      queue.clear();
      starts(sample, visit);
      std::uint64_t met = 0;  // not yet added to the shared count
      for (std::size_t head = 0; head < queue.size(); ++head) {
        ++met;
        static_cast<void>(steps.follow(queue[head], 0, [&](std::uint64_t, const word* next, std::uint32_t count) {
          met += count;
          std::for_each(next, next + count, visit);
          return std::uint64_t{0};
        }));
        if (met < told_together) continue;
        all_met.fetch_add(std::exchange(met, 0), std::memory_order_relaxed);
        if (!go_on()) break;
      }
      all_met.fetch_add(met, std::memory_order_relaxed);
      for (const word value : queue) seen[value / 64] = 0;
    }
  });
  return {all_met, std::clamp<std::uint64_t>(begun, 1, std::max<std::uint64_t>(samples, 1))};
}

/// Returns the minimum average number of values per search, if each search starts at a first tuple.
template <class Relations>
[[nodiscard]] double least_met(const row_equations& task, const Relations& relations, double met_by_row) {
  double first_rows = 0;
  double step_rows = 0;
  for (const row_member& member : task.members)
    first_rows += static_cast<double>(relations[member.relation.value]->rows());
  for (const row_step& step : task.steps)
    step_rows += step.copies() ? 0 : static_cast<double>(relations[step.relation.value]->rows());
  return met_by_row * (first_rows + step_rows) / std::max(first_rows, 1.0);
}

/// Returns whether searches are long enough for components to pay.
[[nodiscard]] bool has_long_searches(const backend::piece_runner& workers, backend::memory_resource& resource,
                                     const numbered_graph& graph, double least, const condensation_cut_offs& cut);

/// Builds the members' rows over the graph's components, without row counts. The graph keeps the tuples.
/// @param processes that may count rows
/// @return nothing if numbers exceed 32 bits
/// @throws backend::memory_exceeded
[[nodiscard]] std::optional<std::vector<storage::factorized_values>> factorize(const backend::piece_runner& workers,
                                                                               backend::memory_resource& resource,
                                                                               const row_equations& task,
                                                                               const numbered_graph& graph,
                                                                               unsigned processes, stage_clock& clock);

/// Returns whether uniting rows is expected to be faster than searches. The sample stops when it has visited enough
/// values to decide, or has used its share of the time.
[[nodiscard]] bool condensation_pays(const backend::piece_runner& workers, backend::memory_resource& resource,
                                     const numbered_graph& graph, const storage::factorized_graph& condensed,
                                     const condensation_cut_offs& cut);

/// The strips that a process counts: `process`, `process` + `processes`, and so on.
struct strip_share {
  std::uint32_t process = 0;
  std::uint32_t processes = 1;

  [[nodiscard]] std::uint32_t strips(const storage::factorized_graph& graph) const {
    return (graph.strips() + processes - 1 - process) / processes;
  }
};

/// Further processes that count strips.
class strip_counters {
 public:
  strip_counters() = default;
  strip_counters(const strip_counters&) = delete;
  strip_counters& operator=(const strip_counters&) = delete;
  virtual ~strip_counters() = default;

  /// Returns the number of processes including this process, whose share is the first.
  [[nodiscard]] virtual unsigned processes() const = 0;
  /// Returns whether the others save more time than they cost.
  /// @param seconds expected time of one process for all strips
  [[nodiscard]] virtual bool pay(double seconds, const storage::factorized_graph& graph) const = 0;
  /// Begins to count the shares of the other processes.
  virtual void begin(const std::vector<storage::factorized_values>& members) = 0;
  /// Adds the counts to `rows_in_front`.
  virtual void end(std::vector<storage::factorized_values>& members) = 0;
};

/// Sets rows_in_front[strip + 1] to the number of rows in the strip, for the strips of a share.
/// @throws backend::memory_exceeded, interrupted
template <class Backend>
void count_strips(Backend& backend, backend::memory_resource& resource,
                  std::vector<storage::factorized_values>& members, const strip_share& share,
                  const std::atomic<bool>* stop) {
  const storage::factorized_graph& graph = *members.front().graph;
  // The first strips take longest and start first.
  std::atomic<std::uint32_t> next{0};
  const std::uint32_t strips = share.strips(graph);
  backend.for_each_tile(std::min<std::uint64_t>(backend.workers(), strips), 1,
                        [&](unsigned, std::uint64_t, std::uint64_t) {
                          storage::strip_reader reader(resource, graph);
                          for (std::uint32_t number = next++; number < strips; number = next++) {
                            const std::uint32_t strip = share.process + number * share.processes;
                            if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw interrupted{};
                            reader.make(strip);
                            for (auto& member : members) member.rows_in_front[strip + 1ULL] = reader.count(member);
                          }
                        });
}

/// Counts the rows of all members, strip by strip.
/// @param others nullptr: none
/// @throws as count_strips(), and the exceptions of `others`
template <class Backend>
void count_rows(Backend& backend, backend::memory_resource& resource, std::vector<storage::factorized_values>& members,
                strip_counters* others, const std::atomic<bool>* stop) {
  const storage::factorized_graph& graph = *members.front().graph;
  for (auto& member : members) member.rows_in_front = storage::array<std::uint64_t>(resource, graph.strips() + 1ULL);
  if (others != nullptr) others->begin(members);
  std::exception_ptr failure;
  try {
    count_strips(backend, resource, members, {0, others == nullptr ? 1 : others->processes()}, stop);
  } catch (...) {
    failure = std::current_exception();
  }
  if (others != nullptr) others->end(members);
  if (failure) std::rethrow_exception(failure);
  for (auto& member : members) {
    for (std::uint32_t strip = 0; strip < graph.strips(); ++strip)
      member.rows_in_front[strip + 1ULL] += member.rows_in_front[strip];
  }
}

/// Runs the fixpoint and replaces the members' rows, the first tuples, by matrices.
/// @param others processes that may count rows; nullptr: none
/// @param numbered receives the graph of numbers if it was built but components do not pay
/// @return nothing, without any effect, if components do not pay
/// @throws memory_exceeded, interrupted
template <class Backend>
std::optional<row_counts> run_condensed(Backend& backend, backend::memory_resource& resource, const row_equations& task,
                                        const relation_list<storage::relation>& relations,
                                        const condensation_cut_offs& cut, strip_counters* others,
                                        const std::atomic<bool>* stop, std::optional<numbered_graph>& numbered) {
  const backend::piece_runner workers(backend, cut.range);
  stage_clock clock;
  const double least = least_met(task, relations, cut.met_by_row);
  numbered = make_numbered_graph(workers, resource, task, relations, {cut.step_rows, 1});
  clock.end("numbers");
  if (!numbered) return std::nullopt;
  if (!cut.always && !has_long_searches(workers, resource, *numbered, least, cut)) return std::nullopt;
  clock.end("sample");
  auto members = factorize(workers, resource, task, *numbered, others == nullptr ? 1 : others->processes(), clock);
  if (!members) return std::nullopt;
  if (!cut.always && !condensation_pays(workers, resource, *numbered, *members->front().graph, cut))
    return std::nullopt;
  numbered.reset();
  if (others != nullptr && !cut.always) {
    const storage::factorized_graph& graph = *members->front().graph;
    if (!others->pay(graph.row_words(workers) / cut.row_words / backend.workers(), graph)) others = nullptr;
  }
  clock.end("sample");
  count_rows(backend, resource, *members, others, stop);
  clock.end(others == nullptr ? "strips" : "strips on all ranks");
  row_counts counts{0, 1};
  counts.stages = clock.stages();
  for (std::size_t m = 0; m < members->size(); ++m) {
    counts.candidates += (*members)[m].rows();
    relations[task.members[m].relation.value]->replace(
        std::make_unique<storage::graph_rows>(resource, std::move((*members)[m])));
  }
  return counts;
}

}  // namespace gpulog::kernels
