#include "kernels/search/numbered_graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/calibration.hpp"
#include "storage/factorized/counting_sort.hpp"

namespace gpulog::kernels {
namespace {

using backend::array;
using backend::fresh_memory;
using storage::relation;

std::vector<const word*> columns_of(const relation& source, const std::vector<std::uint32_t>& columns) {
  std::vector<const word*> found;
  for (const std::uint32_t column : columns) found.push_back(source.rows() == 0 ? nullptr : source.column(column));
  return found;
}

/// Builds the successor lists of pairs of a number and a successor. Skips pairs whose number is not below `numbers`.
number_lists lists_of(const backend::piece_runner& workers, backend::memory_resource& resource,
                      const std::uint32_t* keys, const word* values, std::uint64_t pairs, std::uint64_t numbers) {
  number_lists made{{}, array<word>(resource)};
  made.first = storage::counting_sort(
      workers, resource, static_cast<std::uint32_t>(pairs), numbers,
      [&](std::uint32_t i) { return keys[i] < numbers ? keys[i] : storage::no_key; },
      [&](std::uint64_t all) { made.all = array<word>(resource, all, fresh_memory::anything); },
      [&](std::uint32_t i, std::uint32_t place) { made.all[place] = values[i]; });
  return made;
}

/// Pairs of numbers, collected and then sorted by key.
class number_pairs {
 public:
  explicit number_pairs(backend::memory_resource& resource) : keys_(resource), values_(resource) {}

  /// Adds space for n pairs, and returns where to write their keys and successors.
  std::pair<std::uint32_t*, word*> add(std::uint64_t n) {
    const std::uint64_t before = keys_.size();
    keys_.resize(before + n);
    values_.resize(before + n);
    return {keys_.data() + before, values_.data() + before};
  }
  [[nodiscard]] std::uint64_t size() const { return keys_.size(); }
  [[nodiscard]] std::uint32_t* keys() { return keys_.data(); }
  [[nodiscard]] word* values() { return values_.data(); }

  /// Skips pairs without a key.
  /// @param numbers exclusive bound of the keys
  [[nodiscard]] number_lists sort(const backend::piece_runner& workers, std::uint64_t numbers) const {
    return lists_of(workers, keys_.resource(), keys_.data(), values_.data(), keys_.size(), numbers);
  }

 private:
  array<std::uint32_t> keys_;
  array<word> values_;
};

/// Removes numbers with an empty list.
/// @return the remaining numbers
array<word> take_empty_lists_out(const backend::piece_runner& workers, number_lists& lists) {
  const std::uint64_t numbers = lists.first.size() - 2;  // as counting_sort() returns it
  const auto is_empty = [&lists](std::uint64_t number) { return lists.first[number] == lists.first[number + 1]; };
  std::vector<std::uint64_t> begins(workers.ranges(numbers) + 1);
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

  number_lists starts = lists_of(workers, resource, first.keys, first.values, first.rows, invariants);
  array<word> sources = take_empty_lists_out(workers, starts);
  array<word> values(resource, nodes, fresh_memory::anything);
  workers.for_each_range(nodes, [&values](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::iota(values.data() + begin, values.data() + end, static_cast<word>(begin));
  });
  numbered_graph made{{},
                      {0, static_cast<std::uint32_t>(nodes)},
                      nodes,
                      lists_of(workers, resource, next.keys, next.values, next.rows, nodes),
                      tuple_numbering(std::move(sources)),
                      std::move(starts),
                      first.values};
  made.nodes.emplace_back(std::move(values));
  return made;
}

}  // namespace

std::optional<numbered_graph> make_numbered_graph(const backend::piece_runner& workers,
                                                  backend::memory_resource& resource, const row_equations& task,
                                                  const relation_list<relation>& relations,
                                                  const numbering_cut_offs& cut) {
  if (!may_number(task, relations, cut)) return std::nullopt;
  if (auto of_values = make_graph_of_values(workers, resource, task, relations)) {
    if (of_values->invariants.size() < cut.searches) return std::nullopt;
    return of_values;
  }
  numbered_graph made{{}, {0}, 0, {}, {resource, task.members.front().sources.size()}, {}};
  number_pairs starts(resource);
  std::uint64_t first_tuples = 0;
  for (const row_member& member : task.members) first_tuples += relations[member.relation.value]->rows();
  const auto [start_keys, start_values] = starts.add(first_tuples);
  std::vector<numbered_tuples> tuples;
  std::uint64_t begin = 0;
  for (const row_member& member : task.members) {
    const relation& own = *relations[member.relation.value];
    tuples.push_back({columns_of(own, member.sources), own.rows(), 0, start_keys + begin});
    begin += own.rows();
  }
  made.invariants.add_all(workers, tuples);
  if (made.invariants.is_full() || made.invariants.size() < cut.searches) return std::nullopt;
  // Steps that search a relation start with one pair per row, whose successor is known first.
  number_pairs steps(resource);
  std::vector<std::uint64_t> first_pairs;  // by step
  std::uint64_t searched_rows = 0;
  for (const row_step& step : task.steps) {
    first_pairs.push_back(searched_rows);
    searched_rows += step.copies() ? 0 : relations[step.relation.value]->rows();
  }
  steps.add(searched_rows);
  const auto sources = target_tuples(task);
  begin = 0;
  for (std::uint32_t m = 0; m < task.members.size(); ++m) {
    tuple_numbering& nodes = made.nodes.emplace_back(resource, task.members[m].targets.size());
    const relation& own = *relations[task.members[m].relation.value];
    const std::uint32_t first = made.begins[m];
    tuples = {{columns_of(own, task.members[m].targets), own.rows(), first, start_values + begin}};
    begin += own.rows();
    for (std::size_t s = 0; s < task.steps.size(); ++s) {
      const row_step& step = task.steps[s];
      if (step.copies() || step.to != m) continue;
      const relation& searched = *relations[step.relation.value];
      tuples.push_back({columns_of(searched, step.columns), searched.rows(), first, steps.values() + first_pairs[s]});
    }
    for (const tuple_source& source : sources[m]) {
      const relation& from = *relations[source.relation.value];
      if (source.is_copied) tuples.push_back({columns_of(from, source.columns), from.rows(), 0, nullptr});
    }
    nodes.add_all(workers, tuples);
    made.numbers += nodes.size();
    if (nodes.is_full() || made.numbers > most_numbers) return std::nullopt;
    made.begins.push_back(static_cast<std::uint32_t>(made.numbers));
  }

  const auto find = [&workers](const tuple_numbering& in, const std::vector<const word*>& columns, std::uint64_t rows,
                               std::uint32_t first, std::uint32_t* numbers) {
    workers.for_each_range(rows, [&](std::uint64_t, std::uint64_t from, std::uint64_t to) {
      std::vector<const word*> own = columns;
      for (const word*& column : own) column += from;
      in.find(own, to - from, first, numbers + from);
    });
  };
  for (std::size_t s = 0; s < task.steps.size(); ++s) {
    const row_step& step = task.steps[s];
    const tuple_numbering& from = made.nodes[step.from];
    const tuple_numbering& to = made.nodes[step.to];
    std::vector<const word*> asked;  // columns of nodes
    for (const std::uint32_t place : step.copies() ? step.columns : step.from_targets)
      asked.push_back(from.columns()[place]);
    const auto number_nodes = [&](const tuple_numbering& targets, std::uint32_t first) {
      const auto [keys, values] = steps.add(from.size());
      for (std::uint64_t i = 0; i < from.size(); ++i) keys[i] = static_cast<std::uint32_t>(made.begins[step.from] + i);
      find(targets, asked, from.size(), first, values);
      for (std::uint64_t i = 0; i < from.size(); ++i) {
        if (values[i] == tuple_numbering::none) keys[i] = tuple_numbering::none;
      }
    };
    if (step.copies()) {
      number_nodes(to, made.begins[step.to]);
      continue;
    }
    const relation& searched = *relations[step.relation.value];
    const auto add_rows = [&](const tuple_numbering& keys_of, const std::vector<std::uint32_t>& key,
                              std::uint32_t first) {
      find(keys_of, columns_of(searched, key), searched.rows(), first, steps.keys() + first_pairs[s]);
    };
    if (asks_whole_node(task, step)) {
      std::vector<std::uint32_t> key(step.key.size());
      for (std::size_t i = 0; i < key.size(); ++i) key[step.from_targets[i]] = step.key[i];
      add_rows(from, key, made.begins[step.from]);
      continue;
    }
    tuple_numbering parts(resource, step.key.size());
    parts.add_all(workers, {{columns_of(searched, step.key), searched.rows(), 0, nullptr}});
    const auto first = static_cast<std::uint32_t>(made.numbers);
    made.numbers += parts.size();
    if (parts.is_full() || made.numbers > most_numbers) return std::nullopt;
    number_nodes(parts, first);
    add_rows(parts, step.key, first);
  }
  if (starts.size() > UINT32_MAX || steps.size() > UINT32_MAX) return std::nullopt;
  made.starts = starts.sort(workers, made.invariants.size());
  made.steps = steps.sort(workers, made.numbers);
  return made;
}

}  // namespace gpulog::kernels
