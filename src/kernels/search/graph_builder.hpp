#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "kernels/search/numbered_task.hpp"
#include "kernels/search/tuple_numbering.hpp"

/// Builds the graph of a task (numbered_task.hpp) with the operations of a machine.
namespace gpulog::kernels {

/// A graph over numbers: nodes of the first member, nodes of the other members, then keys of steps that search by some
/// columns of a node. An edge leads from the node to the key, and edges lead from the key to the targets of the step.
template <class Dictionary>
struct task_graph {
  std::vector<Dictionary> nodes;            ///< by member; empty: values are numbers
  std::vector<std::uint32_t> begins = {0};  ///< by member, with one extra entry: its first number
  std::uint64_t numbers = 0;                ///< nodes and keys
  std::optional<Dictionary> invariants;     ///< nothing: values are numbers
  std::uint64_t sources = 0;                ///< number of invariants
};

/// Pairs of a number and a successor. The key `none` of a dictionary marks an unused pair.
struct number_pairs {
  number_pairs(backend::memory_resource& resource, std::uint64_t n)
      : keys(resource, n, backend::fresh_memory::anything), values(resource, n, backend::fresh_memory::anything) {}
  backend::array<std::uint32_t> keys;
  backend::array<word> values;
};

template <class Relation>
[[nodiscard]] std::vector<const word*> columns_of(const Relation& source, const std::vector<std::uint32_t>& columns) {
  std::vector<const word*> found;
  for (const std::uint32_t column : columns) found.push_back(source.rows() == 0 ? nullptr : source.column(column));
  return found;
}

/// Builds the graph of a task.
/// @tparam Numbers operations of a machine:
///   number(arity, tuples): builds a dictionary and writes numbers of tuples; nothing if numbers exceed 32 bits
///   find(dictionary, tuples): writes numbers of tuples
///   columns(dictionary): returns columns by number
///   number_keys(first, pairs): numbers keys from `first` on; pairs without a value get no key
///   list(graph, steps, starts): sorts pairs by key and stores the lists in the graph
/// @return nothing if numbers exceed 32 bits, or for fewer invariants
/// @throws backend::memory_exceeded
template <class Numbers, class Relations>
std::optional<typename Numbers::graph> build_graph(const Numbers& on, backend::memory_resource& resource,
                                                   const row_equations& task, const Relations& relations,
                                                   std::uint64_t least_invariants) {
  std::uint64_t first_tuples = 0;
  for (const row_member& member : task.members) first_tuples += relations[member.relation.value]->rows();
  if (first_tuples > UINT32_MAX) return std::nullopt;
  typename Numbers::graph made;
  number_pairs starts(resource, first_tuples);
  std::vector<numbered_tuples> tuples;
  std::uint64_t begin = 0;
  for (const row_member& member : task.members) {
    const auto& own = *relations[member.relation.value];
    tuples.push_back({columns_of(own, member.sources), own.rows(), 0, starts.keys.data() + begin});
    begin += own.rows();
  }
  made.invariants = on.number(task.members.front().sources.size(), tuples);
  if (!made.invariants || made.invariants->size() < least_invariants) return std::nullopt;
  made.sources = made.invariants->size();

  // Steps that search a relation have one pair per row.
  std::vector<std::uint64_t> first_pairs;  // by step
  std::uint64_t all_pairs = 0;
  for (const row_step& step : task.steps) {
    first_pairs.push_back(all_pairs);
    all_pairs += step.copies() ? 0 : relations[step.relation.value]->rows();
  }
  if (all_pairs > UINT32_MAX) return std::nullopt;
  std::vector<number_pairs> steps;
  steps.reserve(task.steps.size() + 1);
  number_pairs& searched = steps.emplace_back(resource, all_pairs);
  const auto sources = target_tuples(task);
  begin = 0;
  for (std::uint32_t m = 0; m < task.members.size(); ++m) {
    const row_member& member = task.members[m];
    const auto& own = *relations[member.relation.value];
    const std::uint32_t first = made.begins[m];
    tuples = {{columns_of(own, member.targets), own.rows(), first, starts.values.data() + begin}};
    begin += own.rows();
    for (std::size_t s = 0; s < task.steps.size(); ++s) {
      const row_step& step = task.steps[s];
      if (step.copies() || step.to != m) continue;
      const auto& from = *relations[step.relation.value];
      tuples.push_back({columns_of(from, step.columns), from.rows(), first, searched.values.data() + first_pairs[s]});
    }
    for (const tuple_source& source : sources[m]) {
      const auto& from = *relations[source.relation.value];
      if (source.is_copied) tuples.push_back({columns_of(from, source.columns), from.rows(), 0, nullptr});
    }
    auto nodes = on.number(member.targets.size(), tuples);
    if (!nodes) return std::nullopt;
    made.numbers += nodes->size();
    if (made.numbers > most_numbers) return std::nullopt;
    made.nodes.push_back(*std::move(nodes));
    made.begins.push_back(static_cast<std::uint32_t>(made.numbers));
  }

  for (std::size_t s = 0; s < task.steps.size(); ++s) {
    const row_step& step = task.steps[s];
    const auto& from = made.nodes[step.from];
    const auto number_nodes = [&](const auto& targets, std::uint32_t first) {
      std::vector<const word*> looked_up;
      for (const std::uint32_t place : step.copies() ? step.columns : step.from_targets)
        looked_up.push_back(on.columns(from)[place]);
      number_pairs& pairs = steps.emplace_back(resource, from.size());
      on.find(targets, {looked_up, from.size(), first, pairs.values.data()});
      on.number_keys(made.begins[step.from], pairs);
      all_pairs += from.size();
    };
    if (step.copies()) {
      number_nodes(made.nodes[step.to], made.begins[step.to]);
      continue;
    }
    const auto& rows = *relations[step.relation.value];
    const auto find_keys = [&](const auto& keys, const std::vector<std::uint32_t>& key, std::uint32_t first) {
      on.find(keys, {columns_of(rows, key), rows.rows(), first, searched.keys.data() + first_pairs[s]});
    };
    if (asks_whole_node(task, step)) {
      std::vector<std::uint32_t> key(step.key.size());
      for (std::size_t i = 0; i < key.size(); ++i) key[step.from_targets[i]] = step.key[i];
      find_keys(from, key, made.begins[step.from]);
      continue;
    }
    const auto keys = on.number(step.key.size(), {{columns_of(rows, step.key), rows.rows(), 0, nullptr}});
    const auto first = static_cast<std::uint32_t>(made.numbers);
    if (!keys) return std::nullopt;
    made.numbers += keys->size();
    if (made.numbers > most_numbers) return std::nullopt;
    number_nodes(*keys, first);
    find_keys(*keys, step.key, first);
  }
  if (all_pairs > UINT32_MAX) return std::nullopt;
  on.list(made, std::move(steps), std::move(starts));
  return made;
}

}  // namespace gpulog::kernels
