#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "engine/evaluations.hpp"
#include "engine/rows/row_difference.hpp"
#include "gpulog/error.hpp"

/// Finds the tuples that the last evaluation added and removed.
namespace gpulog::detail {

void evaluations::keep_changes(std::uint32_t relation) {
  if (changes_kept_.size() <= relation) changes_kept_.resize(relation + 1);
  changes_kept_[relation] = true;
}

bool evaluations::keeps_changes(std::uint32_t relation) const {
  return run_.options.changes || !run_.options.changes_directory.empty() ||
         (relation < changes_kept_.size() && changes_kept_[relation]);
}

/// Returns whether a continuing evaluation replaces or moves rows of the relation instead of only appending and erasing
/// rows.
bool evaluations::moves_rows(std::uint32_t relation) const {
  return run_.relation(relation).is_aggregate || run_.is_equivalence(relation) ||
         run_.options.storage == storage_kind::hisa;
}

/// Notes the rows before an evaluation.
void evaluations::note_rows_before() {
  before_.clear();
  before_.resize(facts_.size());
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    if (!keeps_changes(number)) continue;
    earlier_rows& before = before_[number].emplace();
    before.home = home(number);
    if (!before.home) continue;
    if (before.home == continuing_ && continuing_->growing()[number] && moves_rows(number)) {
      before.copy = joined(results_of(number), run_.relation(number).attributes.size(), run_.values.memory);
    }
  }
}

row_changes evaluations::changes_of(std::uint32_t relation) const {
  row_changes result;
  if (!keeps_changes(relation)) throw input_error("changes need an engine with the option changes");
  if (relation >= before_.size() || !homes_[relation]) return result;
  if (!before_[relation]) {
    throw input_error(fmt::format("the tuples of relation {} before the last evaluation were not kept",
                                  run_.relation(relation).name));
  }
  backend::memory_resource& memory = run_.values.memory;
  const std::size_t arity = run_.relation(relation).attributes.size();
  const earlier_rows& before = *before_[relation];
  if (before.continued) return before.continued->changes_of(relation);
  if (before.home == homes_[relation] && !before.copy) return result;
  staged_rows pairs_earlier;
  staged_rows pairs_now;
  row_view earlier{std::vector<const word*>(arity), 0};
  if (before.copy) {
    earlier = {before.copy->pointers(), before.copy->rows};
  } else if (before.home) {
    earlier = rows_in(*before.home, relation, pairs_earlier);
  }
  const row_view now = rows_in(*homes_[relation], relation, pairs_now);
  return difference_of(earlier, now, true, memory);
}

void continued_evaluation::note_rows() {
  changes_.clear();
  changes_.resize(growing_.size());
  for (std::uint32_t number = 0; number < growing_.size(); ++number) {
    if (growing_[number]) changes_[number].tuples = executor_->rows(relation_id(number));
  }
}

void continued_evaluation::note_erased(relation_id relation, const std::vector<std::uint64_t>& numbers) {
  row_change& change = changes_[relation.value];
  if (!numbers.empty()) has_lost_[relation.value] = true;
  change.tuples -= numbers.size();
  change.erased.rows = numbers.size();
  for (const word* const column : executor_->columns(erasing_.deleted[relation.value])) {
    word* to = change.erased.columns.emplace_back(run().values.memory, numbers.size()).data();
    for (const std::uint64_t number : numbers) *to++ = column[number];
  }
}

row_changes continued_evaluation::changes_of(std::uint32_t relation) const {
  const row_change& change = changes_[relation];
  const relation_id id(relation);
  row_view erased{change.erased.pointers(), change.erased.rows};
  row_view appended{executor_->appended_columns(id, change.tuples), executor_->rows(id) - change.tuples};
  for (row_view* const view : {&erased, &appended}) view->columns.resize(run().relation(relation).attributes.size());
  return difference_of(erased, appended, true, run().values.memory);
}

/// @param pairs memory for the pairs of an equivalence relation
row_view evaluations::rows_in(evaluation& home, std::uint32_t relation, staged_rows& pairs) const {
  const std::size_t arity = run_.relation(relation).attributes.size();
  const std::uint64_t rows = home.executor().rows(relation_id(relation));
  if (run_.is_equivalence(relation)) {
    pairs = joined(rows_of(home, relation), arity, run_.values.memory);
    return {pairs.pointers(), rows};
  }
  row_view view{arity == 0 ? std::vector<const word*>() : columns_of(home, relation), rows};
  view.columns.resize(arity);
  return view;
}

}  // namespace gpulog::detail
