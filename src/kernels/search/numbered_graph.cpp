#include "kernels/search/numbered_graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/calibration.hpp"
#include "support/long_vector.hpp"

namespace gpulog::kernels {
namespace {

using backend::array;
using backend::fresh_memory;
using storage::relation;

/// Removes numbers with an empty list.
/// @return the remaining numbers
array<word> take_empty_lists_out(const backend::piece_runner& workers, storage::adjacency& lists) {
  const std::uint64_t numbers = lists.first.size() - 2;  // as make_adjacency() returns it
  const auto is_empty = [&lists](std::uint64_t number) { return lists.first[number] == lists.first[number + 1]; };
  long_vector<std::uint64_t> begins(workers.ranges(numbers) + 1);
  workers.for_each_range(numbers, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0;
    for (std::uint64_t number = begin; number < end; ++number) own += is_empty(number) ? 0 : 1;
    begins[range + 1] = own;
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  backend::memory_resource& resource = lists.first.resource();
  array<word> left(resource, begins.back(), fresh_memory::anything);
  array<std::uint32_t> first(resource, begins.back() + 1, fresh_memory::anything);
  workers.for_each_range(numbers, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t place = begins[range];
    for (std::uint64_t number = begin; number < end; ++number) {
      if (is_empty(number)) continue;
      left[place] = static_cast<word>(number);
      first[place++] = lists.first[number];
    }
  });
  first[begins.back()] = static_cast<std::uint32_t>(lists.all.size());
  lists.first = std::move(first);
  return left;
}

/// A key column and a value column of a relation's rows.
struct value_pairs {
  const word* keys = nullptr;
  const word* values = nullptr;
  std::uint64_t rows = 0;
};

/// If one binary relation is followed along one relation, and values are hardly larger than the number of rows, values
/// serve directly as numbers: no lookups, and no copies of rows. Values without rows lead nowhere.
std::optional<numbered_graph> make_graph_of_values(const backend::piece_runner& workers,
                                                   backend::memory_resource& resource, const row_equations& task,
                                                   const relation_list<relation>& relations) {
  if (task.members.size() != 1 || task.steps.size() != 1) return std::nullopt;
  const row_member& member = task.members.front();
  const row_step& step = task.steps.front();
  if (member.sources.size() != 1 || member.targets.size() != 1 || step.copies() || !asks_whole_node(task, step))
    return std::nullopt;
  const auto pairs_of = [&relations](relation_id of, std::uint32_t key, std::uint32_t value) {
    const relation& from = *relations[of.value];
    if (from.rows() == 0) return value_pairs{};
    return value_pairs{from.column(key), from.column(value), from.rows()};
  };
  const value_pairs first = pairs_of(member.relation, member.sources.front(), member.targets.front());
  const value_pairs next = pairs_of(step.relation, step.key.front(), step.columns.front());
  if (std::max(first.rows, next.rows) > UINT32_MAX) return std::nullopt;
  const auto is_small = [](std::uint64_t bound, std::uint64_t rows) {
    return bound <= rows * calibration::numbers_of_row && bound < most_numbers;
  };
  const std::uint64_t invariants = tuple_numbering::bound_of(workers, {{{first.keys}, first.rows}});
  if (!is_small(invariants, first.rows)) return std::nullopt;
  const std::uint64_t nodes =
      tuple_numbering::bound_of(workers, {{{first.values}, first.rows}, {{next.values}, next.rows}});
  if (!is_small(nodes, first.rows + next.rows)) return std::nullopt;

  numbered_graph made;
  made.starts = storage::make_adjacency(workers, resource, first.keys, first.values, first.rows, invariants);
  made.invariants.emplace(take_empty_lists_out(workers, made.starts));
  made.sources = made.invariants->size();
  array<word> values(resource, nodes, fresh_memory::anything);
  workers.for_each_range(nodes, [&values](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::iota(values.data() + begin, values.data() + end, static_cast<word>(begin));
  });
  made.steps = storage::make_adjacency(workers, resource, next.keys, next.values, next.rows, nodes);
  made.numbers = nodes;
  made.begins.push_back(static_cast<std::uint32_t>(nodes));
  made.ordered_starts = first.values;
  made.nodes.emplace_back(std::move(values));
  return made;
}

}  // namespace

std::optional<tuple_numbering> host_numbers::number(std::size_t arity,
                                                    const std::vector<numbered_tuples>& tuples) const {
  std::optional<tuple_numbering> made(std::in_place, *resource, arity);
  made->add_all(*workers, tuples);
  if (made->is_full()) return std::nullopt;
  return made;
}

void host_numbers::find(const tuple_numbering& in, const numbered_tuples& tuples) const {
  workers->for_each_range(tuples.rows, [&](std::uint64_t, std::uint64_t from, std::uint64_t to) {
    std::vector<const word*> own = tuples.columns;
    for (const word*& column : own) column += from;
    in.find(own, to - from, tuples.first, tuples.numbers + from);
  });
}

void host_numbers::number_keys(std::uint32_t first, number_pairs& pairs) {
  for (std::uint64_t i = 0; i < pairs.keys.size(); ++i)
    pairs.keys[i] = pairs.values[i] == tuple_numbering::none ? pairs.values[i] : first + static_cast<std::uint32_t>(i);
}

void host_numbers::list(numbered_graph& made, std::vector<number_pairs> steps, const number_pairs& starts) const {
  made.starts = lists_of(starts.keys.data(), starts.values.data(), starts.keys.size(), made.sources);
  array<std::uint32_t>& keys = steps.front().keys;
  array<word>& values = steps.front().values;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const std::uint64_t before = keys.size();
    keys.resize(before + steps[i].keys.size());
    values.resize(keys.size());
    std::copy(steps[i].keys.begin(), steps[i].keys.end(), keys.data() + before);
    std::copy(steps[i].values.begin(), steps[i].values.end(), values.data() + before);
  }
  made.steps = lists_of(keys.data(), values.data(), keys.size(), made.numbers);
}

std::optional<numbered_graph> make_numbered_graph(const backend::piece_runner& workers,
                                                  backend::memory_resource& resource, const row_equations& task,
                                                  const relation_list<relation>& relations,
                                                  const numbering_cut_offs& cut) {
  if (!may_number(task, relations, cut)) return std::nullopt;
  if (auto of_values = make_graph_of_values(workers, resource, task, relations)) {
    if (of_values->sources < cut.searches) return std::nullopt;
    return of_values;
  }
  return build_graph(host_numbers{&workers, &resource}, resource, task, relations, cut.searches);
}

}  // namespace gpulog::kernels
