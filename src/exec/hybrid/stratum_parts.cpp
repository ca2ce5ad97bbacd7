#include "exec/hybrid/stratum_parts.hpp"

#include <cstddef>

namespace gpulog::exec {

void add_part(stratum_statistics& sum, const stratum_statistics& part) {
  sum.iterations = part.iterations;  // the later part continued the count
  sum.tail_iterations = part.tail_iterations;
  sum.looped_iterations += part.looped_iterations;
  sum.rows_taken_over += part.rows_taken_over;
  sum.search_numbers += part.search_numbers;
  sum.strategies.insert(sum.strategies.end(), part.strategies.begin(), part.strategies.end());
  sum.seconds += part.seconds;
  sum.join_seconds += part.join_seconds;
  sum.populate_delta_seconds += part.populate_delta_seconds;
  sum.merge_seconds += part.merge_seconds;
  sum.index_seconds += part.index_seconds;
  sum.clear_seconds += part.clear_seconds;
  sum.deltas.append(part.deltas);
  sum.allocation_seconds += part.allocation_seconds;
  sum.materialize_seconds += part.materialize_seconds;
  sum.stages.insert(sum.stages.end(), part.stages.begin(), part.stages.end());
  for (std::size_t v = sum.versions.size(); v < part.versions.size(); ++v) {
    // It was planned after the move.
    version_statistics& added = sum.versions.emplace_back();
    added.rule = part.versions[v].rule;
    added.delta_atom = part.versions[v].delta_atom;
    added.text = part.versions[v].text;
  }
  for (std::size_t v = 0; v < sum.versions.size(); ++v) {
    // If both sides ran a version, the counts of one side are meaningless.
    if (sum.versions[v].runs == 0) sum.versions[v].counted = part.versions[v].counted;
    if (sum.versions[v].runs != 0 && part.versions[v].runs != 0) sum.versions[v].counted = nullptr;
    for (std::size_t change = sum.versions[v].former.size(); change < part.versions[v].former.size(); ++change) {
      const plan_work& until = part.versions[v].former[change];
      sum.versions[v].former.push_back({sum.versions[v].runs + until.runs, sum.versions[v].bindings + until.bindings,
                                        sum.versions[v].delta_rows + until.delta_rows,
                                        sum.versions[v].seconds + until.seconds});
    }
    sum.versions[v].runs += part.versions[v].runs;
    sum.versions[v].delta_rows += part.versions[v].delta_rows;
    sum.versions[v].row_wise_runs += part.versions[v].row_wise_runs;
    sum.versions[v].candidates += part.versions[v].candidates;
    sum.versions[v].bindings += part.versions[v].bindings;
    sum.versions[v].tuples += part.versions[v].tuples;
    sum.versions[v].seconds += part.versions[v].seconds;
  }
  sum.relations = part.relations;
  for (const index_statistics& index : part.indexes) {
    index_statistics& index_sum = sum.of_index(index.index, index.version);
    index_sum.refreshes += index.refreshes;
    index_sum.seconds += index.seconds;
    index_sum.is_timed = index_sum.is_timed && index.is_timed;
    index_sum.bytes += index.bytes;
  }
}

}  // namespace gpulog::exec
