#include "storage/factorized/trimmed_components.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/factorized/counting_sort.hpp"

namespace gpulog::storage {
namespace {

using backend::array;
using backend::fresh_memory;
using backend::memory_resource;
using backend::piece_runner;

void lower(std::uint32_t& to, std::uint32_t value) {
  const std::atomic_ref<std::uint32_t> shared(to);
  std::uint32_t known = shared.load(std::memory_order_relaxed);
  while (value < known && !shared.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

/// Sums become beginnings. @return their sum
std::uint64_t begin_each(std::vector<std::uint64_t>& sizes) {
  std::uint64_t sum = 0;
  for (std::uint64_t& size : sizes) sum += std::exchange(size, sum);
  return sum;
}

class trimmed_search {
 public:
  trimmed_search(const piece_runner& workers, memory_resource& resource, const list_view& graph, std::uint64_t vertices)
      : workers_(workers),
        resource_(resource),
        graph_(graph),
        vertices_(vertices),
        round_(resource, vertices),
        number_(resource, vertices, fresh_memory::anything),
        core_(resource),
        core_first_(resource),
        core_all_(resource) {}

  /// @return whether enough was put aside
  bool trim() {
    while (rounds_ < calibration::most_trimming_rounds) {
      const std::uint64_t share = rounds_ == 0 ? calibration::trimmed_share : 4 * calibration::trimmed_share;
      const std::uint64_t found = trim_once();
      if (found != 0) ++rounds_;
      if (found == 0 || found < vertices_ / share) break;
      is_worth_it_ = true;
    }
    return is_worth_it_;
  }

  numbered_components find(const std::uint32_t* starts, std::uint64_t start_count) {
    make_core();
    const std::vector<std::uint32_t> core_starts = take_starts(starts, start_count);
    numbered_components core = find_components(resource_, {core_first_.data(), core_all_.data()}, core_.size(),
                                               core_starts.data(), core_starts.size());
    find_keys(core, starts, start_count);
    return number(core);
  }

 private:
  template <class Action>
  void for_each_of_round(std::uint32_t round, const Action& action) const {
    workers_.for_each_range(vertices_, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t vertex = begin; vertex < end; ++vertex) {
        if (round_[vertex] == round) action(static_cast<std::uint32_t>(vertex));
      }
    });
  }
  template <class Action>
  void for_each_next(std::uint32_t vertex, const Action& action) const {
    for (std::uint32_t i = graph_.first[vertex]; i < graph_.first[vertex + 1ULL]; ++i) action(graph_.all[i]);
  }

  /// number_ has how many successors of a vertex, from the last one on, are known to be put aside.
  std::uint64_t trim_once() {
    const auto own_round = static_cast<std::uint8_t>(rounds_ + 1);
    std::vector<std::uint64_t> found(workers_.ranges(vertices_));
    workers_.for_each_range(vertices_, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t vertex = begin; vertex < end; ++vertex) {
        if (round_[vertex] != 0) continue;
        std::uint32_t left = rounds_ == 0 ? graph_.first[vertex + 1] - graph_.first[vertex] : number_[vertex];
        for (; left != 0; --left) {
          const std::atomic_ref<std::uint8_t> next(round_[graph_.all[graph_.first[vertex] + left - 1]]);
          const std::uint8_t round = next.load(std::memory_order_relaxed);
          if (round == 0 || round == own_round) break;  // so rounds do not depend on who comes first
        }
        number_[vertex] = left;
        if (left != 0) continue;
        std::atomic_ref<std::uint8_t>(round_[vertex]).store(own_round, std::memory_order_relaxed);
        ++found[range];
      }
    });
    return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
  }

  /// What is left, with numbers of its own, which go to number_.
  void make_core() {
    std::vector<std::uint64_t> vertices(workers_.ranges(vertices_));
    for_each_core_range([&](std::uint64_t range, std::uint32_t) { ++vertices[range]; });
    core_ = array<std::uint32_t>(resource_, begin_each(vertices), fresh_memory::anything);
    for_each_core_range([&](std::uint64_t range, std::uint32_t vertex) {
      number_[vertex] = static_cast<std::uint32_t>(vertices[range]);
      core_[vertices[range]++] = vertex;
    });
    core_first_ = array<std::uint32_t>(resource_, core_.size() + 1, fresh_memory::anything);
    std::vector<std::uint64_t> edges(workers_.ranges(core_.size()));
    workers_.for_each_range(core_.size(), [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t c = begin; c < end; ++c) {
        for_each_next(core_[c], [&](std::uint32_t next) { edges[range] += round_[next] == 0 ? 1 : 0; });
      }
    });
    core_all_ = array<std::uint32_t>(resource_, begin_each(edges), fresh_memory::anything);
    workers_.for_each_range(core_.size(), [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t place = edges[range];
      for (std::uint64_t c = begin; c < end; ++c) {
        core_first_[c] = static_cast<std::uint32_t>(place);
        for_each_next(core_[c], [&](std::uint32_t next) {
          if (round_[next] == 0) core_all_[place++] = number_[next];
        });
      }
    });
    core_first_[core_.size()] = static_cast<std::uint32_t>(core_all_.size());
  }
  template <class Action>
  void for_each_core_range(const Action& action) const {
    workers_.for_each_range(vertices_, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t vertex = begin; vertex < end; ++vertex) {
        if (round_[vertex] == 0) action(range, static_cast<std::uint32_t>(vertex));
      }
    });
  }

  [[nodiscard]] std::vector<std::uint32_t> take_starts(const std::uint32_t* starts, std::uint64_t count) const {
    std::vector<std::uint32_t> taken;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (round_[starts[i]] == 0) taken.push_back(number_[starts[i]]);
    }
    return taken;
  }

  /// Of what was put aside: the first component of the core that leads there; behind all of them, where only starts
  /// do; or no_component. Goes to number_, which has components of the core for its vertices.
  void find_keys(const numbered_components& core, const std::uint32_t* starts, std::uint64_t start_count) {
    workers_.for_each_range(vertices_, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t vertex = begin; vertex < end; ++vertex)
        number_[vertex] = round_[vertex] == 0 ? core.component[number_[vertex]] : no_component;
    });
    workers_.for_each_range(start_count, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (round_[starts[i]] != 0) lower(number_[starts[i]], core.components);
      }
    });
    const auto pass_on = [&](std::uint32_t vertex) {
      const std::uint32_t key = number_[vertex];
      if (key == no_component) return;
      for_each_next(vertex, [&](std::uint32_t next) {
        if (round_[next] != 0) lower(number_[next], key);
      });
    };
    for_each_of_round(0, pass_on);
    for (std::uint32_t round = rounds_; round > 1; --round) for_each_of_round(round, pass_on);
  }

  numbered_components number(const numbered_components& core) {
    numbered_components made;
    made.component = array<std::uint32_t>(resource_, vertices_, fresh_memory::anything);
    std::uint32_t trimmed = 0;
    const auto vertices = static_cast<std::uint32_t>(vertices_);
    const array<std::uint32_t> first = counting_sort(
        workers_, resource_, vertices, (core.components + 1ULL) * rounds_,
        [&](std::uint32_t vertex) {
          if (round_[vertex] == 0 || number_[vertex] == no_component) return no_key;
          return number_[vertex] * rounds_ + round_[vertex] - 1;
        },
        [&](std::uint64_t all) { trimmed = static_cast<std::uint32_t>(all); },
        [&](std::uint32_t vertex, std::uint32_t place) { made.component[vertex] = place + number_[vertex]; });
    made.components = core.components + trimmed;
    made.lowest = array<std::uint32_t>(resource_, made.components, fresh_memory::anything);
    const auto number_of = [&](std::uint32_t component) {
      return component + first[(component + std::uint64_t{1}) * rounds_];
    };
    for_each_of_round(0, [&](std::uint32_t vertex) {
      made.component[vertex] = number_[vertex] == no_component ? no_component : number_of(number_[vertex]);
    });
    workers_.for_each_range(core.components, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t c = begin; c < end; ++c) made.lowest[number_of(static_cast<std::uint32_t>(c))] = no_component;
    });
    for (std::uint32_t round = 1; round <= rounds_; ++round) {
      for_each_of_round(round, [&](std::uint32_t vertex) {
        if (number_[vertex] == no_component) {
          made.component[vertex] = no_component;
        } else {
          made.lowest[made.component[vertex]] = lowest_behind(made, vertex);
        }
      });
    }
    for_each_of_round(0, [&](std::uint32_t vertex) {
      if (made.component[vertex] != no_component)
        lower(made.lowest[made.component[vertex]], lowest_behind(made, vertex));
    });
    find_lowest_of_core(core, made, number_of);
    return made;
  }

  /// Of what was put aside.
  [[nodiscard]] std::uint32_t lowest_behind(const numbered_components& made, std::uint32_t vertex) const {
    std::uint32_t lowest = no_component;
    for_each_next(vertex, [&](std::uint32_t next) {
      if (round_[next] == 0) return;
      const std::uint32_t component = made.component[next];
      lowest = std::min({lowest, component, made.lowest[component]});
    });
    return lowest;
  }

  /// In the order of numbers, so by one worker.
  template <class NumberOf>
  void find_lowest_of_core(const numbered_components& core, numbered_components& made, const NumberOf& number_of) {
    array<std::uint32_t> by_component(resource_);
    counting_sort(
        workers_, resource_, static_cast<std::uint32_t>(core_.size()), core.components,
        [&](std::uint32_t vertex) { return core.component[vertex]; },
        [&](std::uint64_t all) { by_component = array<std::uint32_t>(resource_, all, fresh_memory::anything); },
        [&](std::uint32_t vertex, std::uint32_t place) { by_component[place] = vertex; });
    for (std::uint64_t i = 0; i < by_component.size(); ++i) {
      const std::uint32_t vertex = by_component[i];
      const std::uint32_t own = number_of(core.component[vertex]);
      std::uint32_t lowest = made.lowest[own];
      for (std::uint32_t n = core_first_[vertex]; n < core_first_[vertex + 1ULL]; ++n) {
        const std::uint32_t next = made.component[core_[core_all_[n]]];
        if (next != own) lowest = std::min({lowest, next, made.lowest[next]});
      }
      made.lowest[own] = lowest;
    }
  }

  const piece_runner& workers_;
  memory_resource& resource_;
  list_view graph_;
  std::uint64_t vertices_;
  array<std::uint8_t> round_;    // by vertex, when it was put aside, from 1 on; 0: it was not
  array<std::uint32_t> number_;  // by vertex, of what each step needs
  array<std::uint32_t> core_;    // vertices that are left
  array<std::uint32_t> core_first_;
  array<std::uint32_t> core_all_;
  std::uint32_t rounds_ = 0;
  bool is_worth_it_ = false;
};

}  // namespace

numbered_components find_components(const piece_runner& workers, memory_resource& resource, const list_view& graph,
                                    std::uint64_t vertices, const std::uint32_t* starts, std::uint64_t start_count,
                                    std::uint64_t least_vertices) {
  const bool may_trim = vertices >= std::max<std::uint64_t>(least_vertices, 1) &&
                        vertices < UINT32_MAX / calibration::most_trimming_rounds;
  if (workers.workers() > 1 && may_trim) {
    trimmed_search search(workers, resource, graph, vertices);
    if (search.trim()) return search.find(starts, start_count);
  }
  return find_components(resource, graph, vertices, starts, start_count);
}

}  // namespace gpulog::storage
