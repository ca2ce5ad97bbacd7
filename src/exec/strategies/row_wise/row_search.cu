#include "exec/strategies/row_wise/row_search.hpp"

#include <memory>
#include <numeric>

#include "exec/strategies/row_wise/row_inputs.hpp"
#include "exec/strategies/row_wise/row_launches.cuh"
#include "kernels/calibration.hpp"

namespace gpulog::exec {

using row_launches::row_search;

std::optional<std::vector<std::uint64_t>> run_row_wise(
    const backend::gpu::device_context& context, backend::memory_resource& resource, const kernels::row_wise_task& task,
    const kernels::relation_list<storage::gpu::device_relation>& relations, const kernels::row_wise_cut_offs& cut,
    const std::atomic<bool>* stop) {
  std::uint64_t rows_read = 0;
  for (const row_rule& rule : task.rules) {
    rows_read += relations[rule.left->relation.value]->rows();
    if (rule.right) rows_read += relations[rule.right->relation.value]->rows();
  }
  if (!task.forced && rows_read < cut.least_rows) return std::nullopt;
  row_inputs inputs(context, resource, task, relations);
  if (!inputs.can_be_prepared() || inputs.values() > kernels::most_row_values) return std::nullopt;
  if (!task.forced) {
    const std::optional<double> expected = inputs.expected_candidates();
    if (expected && !cut.pays(*expected, inputs.rows_read())) return std::nullopt;
  }
  inputs.prepare();
  const std::vector<std::uint64_t>& counts = inputs.candidates();
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const auto candidates = static_cast<double>(all);
  if (!task.forced && !cut.pays(candidates, inputs.rows_read())) return std::nullopt;
  if (inputs.total_work() == 0) return task.forced ? std::optional(counts) : std::nullopt;

  row_search<false> search(context, resource, inputs, task, stop);
  const double words_per_result = search.run_sample(all);
  const double candidates_per_word = candidates / static_cast<double>(inputs.total_work());
  const bool repeats =
      words_per_result == 0 || words_per_result * candidates_per_word >= cut.least_candidates_per_result;
  if (!task.forced && task.needs_set && !repeats) return std::nullopt;
  search.run_all();
  const std::uint64_t rows = search.rows();
  relations[task.relation().value]->replace(search.take(), rows);
  return counts;
}

namespace {

using relation_list = kernels::relation_list<storage::gpu::device_relation>;

std::uint64_t rows_of(const relation_list& relations, const column_pairs& pairs) {
  const kernels::part_rows read = kernels::rows_of(*relations[pairs.relation.value], pairs.rows);
  return read.end - read.begin;
}

kernels::row_wise_task only(const kernels::row_wise_task& task, const std::vector<std::size_t>& rules) {
  kernels::row_wise_task part = task;
  part.rules.clear();
  for (const std::size_t r : rules) part.rules.push_back(task.rules[r]);
  return part;
}

/// Returns the rules that may pay according to their last runs; sampling the remaining rules would cost more than it
/// saves.
std::vector<std::size_t> rules_to_consider(const relation_list& relations, const kernels::row_wise_task& task,
                                           const kernels::row_wise_cut_offs& cut) {
  std::vector<std::size_t> considered;
  double together = 0;
  for (std::size_t r = 0; r < task.rules.size(); ++r) {
    const row_rule& rule = task.rules[r];
    const std::uint64_t from = rows_of(relations, *rule.left);
    const std::uint64_t to = rows_of(relations, *rule.right);
    if (from == 0 || to == 0 || (!task.forced && from + to < cut.least_rows)) continue;
    together += task.last_candidates[r];
    considered.push_back(r);
  }
  if (!task.forced && together * kernels::calibration::most_growth < cut.least_candidates) considered.clear();
  return considered;
}

/// Returns the rules of a task that pay according to a sample.
std::vector<std::size_t> rules_that_pay(const relation_list& relations, const row_inputs& inputs,
                                        const kernels::row_wise_task& task, const kernels::row_wise_cut_offs& cut) {
  std::vector<std::size_t> chosen;
  double together = 0;
  for (std::size_t r = 0; r < task.rules.size(); ++r) {
    const row_rule& rule = task.rules[r];
    const std::uint64_t rows = rows_of(relations, *rule.left) + rows_of(relations, *rule.right);
    const std::optional<double> expected = inputs.expected_candidates(rule);
    if (!expected || *expected < cut.least_candidates_per_row * static_cast<double>(rows)) continue;
    together += *expected;
    chosen.push_back(r);
  }
  if (together < cut.least_candidates) chosen.clear();
  return chosen;
}

}  // namespace

std::vector<std::optional<std::uint64_t>> add_rows(const backend::gpu::device_context& context,
                                                   backend::memory_resource& resource,
                                                   const kernels::row_wise_task& task, const relation_list& relations,
                                                   const kernels::row_wise_cut_offs& cut, row_refusals& refusals,
                                                   const std::atomic<bool>* stop) {
  std::vector<std::optional<std::uint64_t>> done(task.rules.size());
  storage::gpu::device_relation& target = *relations[task.relation().value];
  if (target.arity() != 2 || target.only_appends() || target.keeps_best()) return done;
  std::vector<std::size_t> numbers = rules_to_consider(relations, task, cut);
  if (numbers.empty() || (!task.forced && refusals.rests(task))) return done;
  kernels::row_wise_task paying = only(task, numbers);
  auto inputs = std::make_unique<row_inputs>(context, resource, paying, relations);
  if (!inputs->can_be_prepared()) return done;
  if (!task.forced) {
    const std::vector<std::size_t> chosen = rules_that_pay(relations, *inputs, paying, cut);
    if (chosen.empty()) {
      refusals.refused(task);
      return done;
    }
    if (chosen.size() != numbers.size()) {
      std::vector<std::size_t> kept;
      for (const std::size_t r : chosen) kept.push_back(numbers[r]);
      numbers = kept;
      paying = only(task, numbers);
      inputs = std::make_unique<row_inputs>(context, resource, paying, relations);
    }
  }
  if (inputs->values() > kernels::most_row_values) return done;
  inputs->prepare();
  if (inputs->total_work() != 0) {
    const std::vector<std::uint64_t>& counts = inputs->candidates();
    const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    row_search<true> search(context, resource, *inputs, paying, stop, &target);
    const double words_per_result = search.run_sample(all);
    const double per_word = static_cast<double>(all) / static_cast<double>(inputs->total_work());
    // The sample's results stay.
    const bool repeats = words_per_result == 0 || words_per_result * per_word >= cut.least_candidates_per_result;
    if (!task.forced && !repeats) {
      refusals.refused(task);
      target.release_outgrown();
      return done;
    }
    search.run_all();
    target.release_outgrown();
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) done[numbers[i]] = inputs->candidates()[i];
  return done;
}

}  // namespace gpulog::exec
