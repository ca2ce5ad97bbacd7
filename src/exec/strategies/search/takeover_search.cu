#include "exec/strategies/search/takeover_search.hpp"

#include <memory>
#include <utility>

#include "backend/gpu/stage_clock.hpp"
#include "exec/strategies/search/device_graph.hpp"
#include "exec/strategies/search/takeover_rows.hpp"

namespace gpulog::exec {

namespace {

using storage::gpu::device_relation;

std::optional<device_graph> graph_of(const backend::gpu::device_context& context, backend::memory_resource& resource,
                                     const row_equations& task, std::uint64_t bound,
                                     const kernels::relation_list<device_relation>& relations,
                                     const takeover_cut_offs& cut) {
  if (bound != 0) return make_graph_of_values(context, resource, task, relations, bound);
  if (!kernels::may_number(task, relations, cut.numbering)) return std::nullopt;
  std::optional<device_graph> graph = make_device_graph(context, resource, task, relations, cut.numbering.searches);
  // Keys with numbers of their own are not nodes.
  if (!graph || graph->numbers != graph->nodes[0].size()) return std::nullopt;
  return graph;
}

}  // namespace

std::optional<kernels::row_counts> run_takeover(const backend::gpu::device_context& context,
                                                backend::memory_resource& resource, const row_equations& task,
                                                std::uint64_t bound,
                                                const kernels::relation_list<device_relation>& relations,
                                                const takeover_cut_offs& cut) {
  if (task.members.size() != 1) return std::nullopt;
  const row_member& member = task.members.front();
  if (member.sources.size() + member.targets.size() > kernels::gpu::expansion_arguments::most_columns)
    return std::nullopt;
  device_relation& target = *relations[member.relation.value];
  if (target.rows() == 0 || target.rows() > UINT32_MAX) return std::nullopt;
  backend::gpu::stage_clock clock(context.stream());
  std::optional<device_graph> graph = graph_of(context, resource, task, bound, relations, cut);
  if (!graph) return std::nullopt;
  clock.end("graph");
  const long_search_shape shape = long_shape_for(context, graph->numbers, cut.block_row_bytes);
  if (shape.blocks == 0) return std::nullopt;
  auto rows = std::make_unique<takeover_rows>(context, resource, member, *std::move(graph), shape, cut.kept_words);
  rows->search(clock);
  const kernels::gpu::takeover_arguments::totals& totals = rows->totals();
  const kernels::row_counts counts{totals.candidates, totals.iterations, totals.taken_over, 0, clock.seconds()};
  target.replace(std::move(rows));
  return counts;
}

}  // namespace gpulog::exec
