#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/join/appended_columns.hpp"
#include "kernels/search/decomposed_task.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// Values must be below this bound to fit into a bitmap.
constexpr std::uint64_t most_bitmap_values = 1ULL << 27;

/// The successors of a value, by indexes of relations.
class indexed_steps {
 public:
  indexed_steps(const value_steps& task, const relation_list<storage::relation>& relations) {
    for (const step_source& step : task.steps) {
      relations[step.relation]->index(step.index).for_each_run(true, true, [&](const storage::sorted_run& run) {
        runs_.push_back({&run.level(step.level), run.stored(step.stored)});
      });
    }
  }
  /// Calls tail = visit(tail, first value, count) for each step. By value, so that the tail stays in a register.
  template <class Visit>
  std::uint64_t follow(word value, std::uint64_t tail, const Visit& visit) const {
    for (const step_run& step : runs_) {
      const storage::row_range range = find(*step.level, value);
      if (range.count != 0) tail = visit(tail, step.values + range.first, range.count);
    }
    return tail;
  }

 private:
  struct step_run {
    const storage::key_level* level;
    const word* values;
  };

  static storage::row_range find(const storage::key_level& level, word value) {
    return level.is_direct() ? level.find_direct(value) : find_hashed(level, value);
  }
  /// Not inlined, to save registers: most keys are found directly.
  [[gnu::noinline]] static storage::row_range find_hashed(const storage::key_level& level, word value) {
    const std::uint64_t code = level.code([value](std::uint32_t) { return value; });
    return level.find(code, level.home(code), [value](std::uint32_t) { return value; });
  }

  std::vector<step_run> runs_;
};

/// The searches of one worker.
template <class Steps>
class reachability_search {
 public:
  /// @param values exclusive bound of all values
  reachability_search(const Steps& steps, backend::memory_resource& resource, std::uint64_t values)
      : steps_(steps), seen_(resource, values / 64 + 1), queue_(resource) {}

  /// @param starts number of start values, which may repeat
  /// @return all distinct values; valid until the next call
  template <class Start>
  std::pair<const word*, std::uint64_t> run(std::uint64_t starts, const Start& start) {
    std::uint64_t tail = 0;
    make_room(starts);
    tail = visit(tail, starts, start);
    std::uint64_t head = 0;
    std::uint64_t iterations = 0;
    while (head < tail) {
      ++iterations;
      for (const std::uint64_t end = tail; head < end; ++head) {
        tail = steps_.follow(queue_[head], tail, [this](std::uint64_t at, const word* next, std::uint32_t count) {
          candidates_ += count;
          make_room(at + count);
          return visit(at, count, [next](std::uint64_t i) { return next[i]; });
        });
      }
    }
    most_iterations_ = std::max(most_iterations_, iterations);
    for (std::uint64_t i = 0; i < tail; ++i) seen_[queue_[i] / 64] = 0;
    return {queue_.data(), tail};
  }

  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] std::uint64_t iterations() const { return most_iterations_; }

 private:
  /// Appends the new values among values(0) to values(count - 1): a store that the next store overwrites costs less
  /// than a branch. By value, so that everything stays in registers.
  /// @return the new tail
  template <class Values>
  std::uint64_t visit(std::uint64_t tail, std::uint64_t count, const Values& values) {
    std::uint64_t* const seen = seen_.data();
    word* const queue = queue_.data();
    for (std::uint64_t i = 0; i < count; ++i) {
      const word value = values(i);
      const std::uint64_t bit = 1ULL << (value % 64);
      const std::uint64_t bits = seen[value / 64];
      queue[tail] = value;
      tail += (bits & bit) == 0 ? 1 : 0;
      seen[value / 64] = bits | bit;
    }
    return tail;
  }
  /// Makes space for `values` values, and one more that gets overwritten.
  void make_room(std::uint64_t values) {
    if (values < queue_.capacity()) return;
    queue_.set_capacity(std::max<std::uint64_t>(values + 1, queue_.capacity() * 2));
  }

  Steps steps_;  // a copy, so that the data is nearby
  storage::array<std::uint64_t> seen_;
  storage::array<word> queue_;
  std::uint64_t candidates_ = 0;
  std::uint64_t most_iterations_ = 0;
};

/// Distributes all searches of a task over workers.
/// @param first by group, with one extra entry: its first start
/// @param start start(i) returns start value i
/// @param write write(worker, group, values, n) receives the result of a search
/// @throws interrupted
template <class Steps, class Backend, class Start, class Write>
row_counts search_all(Backend& backend, backend::memory_resource& resource, const Steps& steps, std::uint64_t values,
                      const std::uint32_t* first, std::uint64_t groups, const Start& start, const Write& write,
                      const std::atomic<bool>* stop) {
  std::vector<std::optional<reachability_search<Steps>>> searches(backend.workers());
  const std::uint64_t piece = std::clamp<std::uint64_t>(groups / (backend.workers() * 64ULL), 1, 64);
  backend.for_each_tile(groups, piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
    auto& search = searches[worker];
    if (!search) search.emplace(steps, resource, values);
    for (std::uint64_t group = begin; group < end; ++group) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw interrupted{};
      const std::uint32_t here = first[group];
      const auto found = search->run(first[group + 1] - here, [&](std::uint64_t i) { return start(here + i); });
      write(worker, group, found.first, found.second);
    }
  });
  row_counts counts;
  for (const auto& search : searches) {
    if (!search) continue;
    counts.candidates += search->candidates();
    counts.iterations = std::max(counts.iterations, search->iterations());
  }
  return counts;
}

/// Runs the fixpoint and replaces the target's rows, the first tuples, by the result.
/// @throws memory_exceeded, interrupted
template <class Backend>
row_counts run_decomposed(Backend& backend, backend::memory_resource& resource, const row_equations& task,
                          const value_steps& values, const relation_list<storage::relation>& relations,
                          const std::atomic<bool>* stop) {
  storage::relation& target = *relations[task.relation().value];
  const std::uint32_t source_column = task.members.front().sources.front();
  const std::uint32_t target_column = task.members.front().targets.front();
  const word* const targets = target.column(target_column);
  const word* const sources = target.column(source_column);
  const std::uint64_t rows = target.rows();

  // The first tuples by source.
  storage::array<std::uint32_t> sorted(resource);
  storage::sort_rows(backend, resource, target.columns(), {source_column}, 0, rows, sorted);
  const std::uint32_t* const row = sorted.data();
  storage::array<std::uint32_t> first(resource, rows + 1);
  const std::uint64_t groups = backend.select_if(
      rows, [&](std::uint64_t i) { return i == 0 || sources[row[i]] != sources[row[i - 1]]; }, first.data());
  first[groups] = static_cast<std::uint32_t>(rows);

  appended_columns results(resource, 2 * rows + 1024);
  const indexed_steps steps(values, relations);
  const auto counts = search_all(
      backend, resource, steps, values.values, first.data(), groups, [&](std::uint64_t i) { return targets[row[i]]; },
      [&](unsigned, std::uint64_t group, const word* reached, std::uint64_t n) {
        const word source = sources[row[first[group]]];
        results.append(n, [&](const auto& column) {
          std::fill_n(column(source_column), n, source);
          std::copy_n(reached, n, column(target_column));
        });
      },
      stop);
  const std::uint64_t result_rows = results.rows();
  target.replace(results.take(), result_rows);
  return counts;
}

}  // namespace gpulog::kernels
