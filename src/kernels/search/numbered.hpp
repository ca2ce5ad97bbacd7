#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/join/appended_columns.hpp"
#include "kernels/search/decomposed.hpp"
#include "kernels/search/numbered_graph.hpp"

namespace gpulog::kernels {

/// The successors of a number.
class numbered_steps {
 public:
  explicit numbered_steps(const storage::adjacency& lists) : first_(lists.first.data()), all_(lists.all.data()) {}
  template <class Visit>
  std::uint64_t follow(word number, std::uint64_t tail, const Visit& visit) const {
    const std::uint32_t begin = first_[number];
    const std::uint32_t count = first_[number + 1ULL] - begin;
    return count == 0 ? tail : visit(tail, all_ + begin, count);
  }

 private:
  const std::uint32_t* first_;
  const word* all_;
};

/// Writes the results of searches to the columns of the members.
class numbered_results {
 public:
  numbered_results(backend::memory_resource& resource, const row_equations& task, const numbered_graph& graph,
                   const relation_list<storage::relation>& relations)
      : task_(&task), graph_(&graph), invariants_(graph.invariants->columns()) {
    for (std::size_t m = 0; m < task.members.size(); ++m) {
      const storage::relation& own = *relations[task.members[m].relation.value];
      results_.push_back(std::make_unique<appended_columns>(resource, 2 * own.rows() + 1024, own.arity()));
      nodes_.push_back(graph.nodes[m].columns());
    }
  }

  void add(std::uint64_t invariant, const word* numbers, std::uint64_t n) {
    const bool all_of_one = results_.size() == 1 && graph_->numbers == graph_->begins[1];
    for (std::size_t m = 0; m < results_.size(); ++m) {
      const std::uint32_t begin = graph_->begins[m];
      const std::uint32_t size = graph_->begins[m + 1] - begin;
      const auto is_own = [begin, size](word number) { return number - begin < size; };
      const auto own = all_of_one ? n : static_cast<std::uint64_t>(std::count_if(numbers, numbers + n, is_own));
      if (own == 0) continue;
      const row_member& member = task_->members[m];
      results_[m]->append(own, [&](const auto& column) {
        for (std::size_t c = 0; c < member.sources.size(); ++c)
          std::fill_n(column(member.sources[c]), own, invariants_[c][invariant]);
        for (std::size_t c = 0; c < member.targets.size(); ++c) {
          const word* const values = nodes_[m][c];
          word* out = column(member.targets[c]);
          for (std::uint64_t i = 0; i < n; ++i) {
            if (all_of_one || is_own(numbers[i])) *out++ = values[numbers[i] - begin];
          }
        }
      });
    }
  }

  /// Replaces the members' rows.
  void finish(const relation_list<storage::relation>& relations) {
    for (std::size_t m = 0; m < results_.size(); ++m) {
      const std::uint64_t rows = results_[m]->rows();
      relations[task_->members[m].relation.value]->replace(results_[m]->take(), rows);
    }
  }

 private:
  const row_equations* task_;
  const numbered_graph* graph_;
  std::vector<const word*> invariants_;                     // columns, by number
  std::vector<std::vector<const word*>> nodes_;             // by member: columns, by number
  std::vector<std::unique_ptr<appended_columns>> results_;  // by member
};

/// Runs the fixpoint and replaces the members' rows, the first tuples, by the result.
/// @param graph the graph of the task, if already built
/// @return nothing, without any effect, if numbering does not pay
/// @throws memory_exceeded, interrupted
template <class Backend>
std::optional<row_counts> run_numbered(Backend& backend, backend::memory_resource& resource, const row_equations& task,
                                       const relation_list<storage::relation>& relations, const numbering_cut_offs& cut,
                                       const std::atomic<bool>* stop,
                                       std::optional<numbered_graph> graph = std::nullopt) {
  if (!graph) graph = make_numbered_graph(backend::piece_runner(backend, cut.range), resource, task, relations, cut);
  if (!graph || graph->sources < cut.searches) return std::nullopt;
  numbered_results results(resource, task, *graph, relations);
  const numbered_steps steps(graph->steps);
  auto counts = search_all(
      backend, resource, steps, graph->numbers, graph->starts.first.data(), graph->sources,
      [&](std::uint64_t i) { return graph->starts.all[i]; },
      [&](unsigned, std::uint64_t group, const word* numbers, std::uint64_t n) { results.add(group, numbers, n); },
      stop);
  results.finish(relations);
  counts.numbers = graph->numbers;
  return counts;
}

}  // namespace gpulog::kernels
