#include "exec/strategies/search/device_graph.hpp"

#include <utility>

#include "backend/array.hpp"

namespace gpulog::exec {

namespace {

using backend::array;
using backend::fresh_memory;
using storage::gpu::device_relation;

tuple_rows tuples_of(const device_relation& source, const std::vector<std::uint32_t>& columns) {
  tuple_rows found{{}, source.rows()};
  for (const std::uint32_t column : columns)
    found.columns.at[found.columns.arity++] = source.rows() == 0 ? nullptr : source.column(column);
  return found;
}

class graph_builder {
 public:
  graph_builder(const backend::gpu::device_context& context, backend::memory_resource& resource,
                const row_equations& task, const kernels::relation_list<device_relation>& relations)
      : context_(context), resource_(resource), task_(task), relations_(relations) {}

  /// @return whether numbers fit into 32 bits and there are enough invariants
  bool build(std::uint64_t least_invariants, device_graph& made) {
    std::vector<tuple_rows> invariants;
    for (const row_member& member : task_.members)
      invariants.push_back(tuples_of(*relations_[member.relation.value], member.sources));
    if (!number(invariants, made.invariants) || made.invariants->size() < least_invariants) return false;
    made.begins = {0};
    const auto sources = kernels::target_tuples(task_);
    for (std::size_t m = 0; m < task_.members.size(); ++m) {
      std::vector<tuple_rows> parts;
      for (const kernels::tuple_source& source : sources[m])
        parts.push_back(tuples_of(*relations_[source.relation.value], source.columns));
      if (!number(parts, made.nodes.emplace_back())) return false;
      made.numbers += made.nodes[m]->size();
      if (made.numbers > kernels::most_numbers) return false;
      made.begins.push_back(static_cast<std::uint32_t>(made.numbers));
    }
    made.sources = made.invariants->size();
    pairs starts;
    pairs steps;
    if (!collect_starts(made, starts) || !collect_steps(made, steps)) return false;
    made.lists =
        sort_by_key(context_, resource_,
                    {{steps.keys.data(), steps.values.data(), steps.used, 0},
                     {starts.keys.data(), starts.values.data(), starts.used, static_cast<std::uint32_t>(made.numbers)}},
                    made.numbers + made.sources);
    return true;
  }

 private:
  /// Pairs of keys and successors, as numbers.
  struct pairs {
    pairs() = default;
    pairs(backend::memory_resource& resource, std::uint64_t n)
        : keys(resource, n, fresh_memory::anything), values(resource, n, fresh_memory::anything) {}
    array<std::uint32_t> keys;
    array<word> values;
    std::uint64_t used = 0;
  };

  bool number(const std::vector<tuple_rows>& parts, std::unique_ptr<device_numbering>& made) const {
    std::uint64_t rows = 0;
    for (const tuple_rows& part : parts) rows += part.rows;
    if (rows > kernels::most_numbers) return false;
    made = std::make_unique<device_numbering>(context_, resource_, parts);
    return true;
  }

  bool collect_starts(device_graph& made, pairs& all) const {
    std::uint64_t rows = 0;
    for (const row_member& member : task_.members) rows += relations_[member.relation.value]->rows();
    if (rows > UINT32_MAX) return false;
    all = pairs(resource_, rows);
    for (std::size_t m = 0; m < task_.members.size(); ++m) {
      const device_relation& own = *relations_[task_.members[m].relation.value];
      made.invariants->find(tuples_of(own, task_.members[m].sources), 0, all.keys.data() + all.used);
      made.nodes[m]->find(tuples_of(own, task_.members[m].targets), made.begins[m], all.values.data() + all.used);
      all.used += own.rows();
    }
    return true;
  }

  bool collect_steps(device_graph& made, pairs& all) const {
    std::uint64_t most = 0;
    for (const row_step& step : task_.steps) {
      if (!step.copies()) most += relations_[step.relation.value]->rows();
      if (step.copies() || !kernels::asks_whole_node(task_, step)) most += made.nodes[step.from]->size();
    }
    if (most > UINT32_MAX) return false;
    all = pairs(resource_, most);
    for (const row_step& step : task_.steps) {
      if (!collect_step(step, made, all)) return false;
    }
    return true;
  }

  bool collect_step(const row_step& step, device_graph& made, pairs& all) const {
    const device_numbering& from = *made.nodes[step.from];
    tuple_rows asked{{}, from.size()};
    for (const std::uint32_t place : step.copies() ? step.columns : step.from_targets)
      asked.columns.at[asked.columns.arity++] = from.found().tuples.at[place];
    const auto number_nodes = [&](const device_numbering& targets, std::uint32_t first) {
      targets.find(asked, first, all.values.data() + all.used);
      number_keys(context_, made.begins[step.from], all.values.data() + all.used, from.size(),
                  all.keys.data() + all.used);
      all.used += from.size();
    };
    if (step.copies()) {
      number_nodes(*made.nodes[step.to], made.begins[step.to]);
      return true;
    }
    const device_relation& searched = *relations_[step.relation.value];
    const auto add_rows = [&](const device_numbering& keys, const std::vector<std::uint32_t>& key,
                              std::uint32_t first) {
      keys.find(tuples_of(searched, key), first, all.keys.data() + all.used);
      made.nodes[step.to]->find(tuples_of(searched, step.columns), made.begins[step.to], all.values.data() + all.used);
      all.used += searched.rows();
    };
    if (kernels::asks_whole_node(task_, step)) {
      std::vector<std::uint32_t> key(step.key.size());
      for (std::size_t i = 0; i < key.size(); ++i) key[step.from_targets[i]] = step.key[i];
      add_rows(from, key, made.begins[step.from]);
      return true;
    }
    std::unique_ptr<device_numbering> parts;
    if (!number({tuples_of(searched, step.key)}, parts)) return false;
    const auto first = static_cast<std::uint32_t>(made.numbers);
    made.numbers += parts->size();
    if (made.numbers > kernels::most_numbers) return false;
    number_nodes(*parts, first);
    add_rows(*parts, step.key, first);
    return true;
  }

  const backend::gpu::device_context& context_;
  backend::memory_resource& resource_;
  const row_equations& task_;
  const kernels::relation_list<device_relation>& relations_;
};

}  // namespace

std::optional<device_graph> make_device_graph(const backend::gpu::device_context& context,
                                              backend::memory_resource& resource, const row_equations& task,
                                              const kernels::relation_list<device_relation>& relations,
                                              std::uint64_t least_invariants) {
  device_graph graph;
  if (!graph_builder(context, resource, task, relations).build(least_invariants, graph)) return std::nullopt;
  return graph;
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
    const tuple_rows pairs = tuples_of(*relations[relation.value], {key, value});
    if (pairs.rows != 0)
      parts.push_back({pairs.columns.at[0], pairs.columns.at[1], pairs.rows, static_cast<std::uint32_t>(begin)});
  };
  for (const row_step& step : task.steps) add(step.relation, step.key.front(), step.columns.front(), 0);
  add(member.relation, member.sources.front(), member.targets.front(), made.numbers);
  made.lists = sort_by_key(context, resource, parts, made.numbers + made.sources);
  return made;
}

}  // namespace gpulog::exec
