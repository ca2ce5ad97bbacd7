#include "exec/strategies/search/device_graph.hpp"

#include <algorithm>

#include "backend/array.hpp"
#include "backend/gpu/for_each.hpp"

namespace gpulog::exec {

namespace {

using kernels::numbered_tuples;
using kernels::gpu::number_list;
using storage::gpu::device_relation;

struct make_range {
  const std::uint32_t* first;  // by number, with one extra entry
  number_list* ranges;
  __device__ void operator()(std::uint64_t number) const {
    ranges[number] = {first[number], first[number + 1] - first[number]};
  }
};

struct number_key {
  const word* values;
  std::uint32_t* keys;
  std::uint32_t first;
  __device__ void operator()(std::uint64_t i) const {
    keys[i] = values[i] == device_numbering::none ? device_numbering::none : first + static_cast<std::uint32_t>(i);
  }
};

tuple_rows rows_of(const numbered_tuples& tuples) {
  tuple_rows made{{}, tuples.rows};
  for (const word* const column : tuples.columns) made.columns.at[made.columns.arity++] = column;
  return made;
}

}  // namespace

std::optional<device_numbering> device_numbers::number(std::size_t /*arity*/,
                                                       const std::vector<numbered_tuples>& tuples) const {
  std::vector<tuple_rows> parts;
  std::uint64_t rows = 0;
  for (auto part = tuples.begin(); part != tuples.end(); ++part) {
    const auto is_equal = [part](const numbered_tuples& other) { return other.columns == part->columns; };
    if (part->rows == 0 || std::any_of(tuples.begin(), part, is_equal)) continue;
    parts.push_back(rows_of(*part));
    rows += part->rows;
  }
  if (rows > kernels::most_numbers) return std::nullopt;
  if (parts.empty()) parts.push_back(rows_of(tuples.front()));
  std::optional<device_numbering> made(std::in_place, *context, *resource, parts);
  for (const numbered_tuples& part : tuples) {
    if (part.numbers != nullptr) find(*made, part);
  }
  return made;
}

void device_numbers::find(const device_numbering& in, const numbered_tuples& tuples) {
  in.find(rows_of(tuples), tuples.first, tuples.numbers);
}

std::vector<const word*> device_numbers::columns(const device_numbering& of) {
  return {of.view().values, of.view().values + of.view().arity};
}

void device_numbers::number_keys(std::uint32_t first, kernels::number_pairs& pairs) const {
  backend::gpu::for_each(context->stream(), pairs.keys.size(),
                         number_key{pairs.values.data(), pairs.keys.data(), first});
}

void device_numbers::list(device_graph& made, const std::vector<kernels::number_pairs>& steps,
                          const kernels::number_pairs& starts) const {
  std::vector<key_values> parts;
  for (const auto& pairs : steps) parts.push_back({pairs.keys.data(), pairs.values.data(), pairs.keys.size(), 0});
  parts.push_back(
      {starts.keys.data(), starts.values.data(), starts.keys.size(), static_cast<std::uint32_t>(made.numbers)});
  made.lists = sort_by_key(*context, *resource, parts, made.numbers + made.sources);
}

device_numbers::lists device_numbers::lists_of(const std::uint32_t* keys, const word* values, std::uint64_t pairs,
                                               std::uint64_t numbers) const {
  lists made{sort_by_key(*context, *resource, {{keys, values, pairs}}, numbers),
             backend::array<number_list>(*resource, numbers, backend::fresh_memory::anything)};
  backend::gpu::for_each(context->stream(), numbers, make_range{made.sorted.first.data(), made.ranges.data()});
  return made;
}

device_graph make_graph_of_values(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                  const row_equations& task, const kernels::relation_list<device_relation>& relations,
                                  std::uint64_t bound) {
  device_graph made;
  made.numbers = made.sources = bound;
  made.begins = {0, static_cast<std::uint32_t>(bound)};
  const row_member& member = task.members.front();
  std::vector<key_values> parts;
  const auto add = [&](relation_id relation, std::uint32_t key, std::uint32_t value, std::uint64_t begin) {
    const device_relation& from = *relations[relation.value];
    if (from.rows() != 0)
      parts.push_back({from.column(key), from.column(value), from.rows(), static_cast<std::uint32_t>(begin)});
  };
  for (const row_step& step : task.steps) add(step.relation, step.key.front(), step.columns.front(), 0);
  add(member.relation, member.sources.front(), member.targets.front(), made.numbers);
  made.lists = sort_by_key(context, resource, parts, made.numbers + made.sources);
  return made;
}

}  // namespace gpulog::exec
