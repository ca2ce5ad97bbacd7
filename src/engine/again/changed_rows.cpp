#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

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

/// Notes the rows before an evaluation. A continuing evaluation appends to its rows, but may replace and move some.
void evaluations::note_rows_before() {
  before_.clear();
  before_.resize(facts_.size());
  bool erases = false;
  for (std::uint32_t number = 0; number < facts_.size(); ++number) erases = erases || facts_.has_erased(number);
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    if (!keeps_changes(number)) continue;
    earlier_rows& before = before_[number].emplace();
    before.home = home(number);
    if (!before.home) continue;
    before.rows = before.home->executor().rows(relation_id(number));
    const bool only_appends = !erases && !run_.relation(number).is_aggregate && !run_.is_equivalence(number) &&
                              run_.options.storage != storage_kind::hisa;
    if (before.home == continuing_ && continuing_->growing()[number] && !only_appends) {
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
  if (before.home == homes_[relation] && !before.copy) {
    result.added.rows = rows(relation) - before.rows;
    for (std::size_t c = 0; c < arity && result.added.rows > 0; ++c) {
      std::copy_n(columns_of(relation)[c] + before.rows, result.added.rows,
                  result.added.columns.emplace_back(memory, result.added.rows).data());
    }
    return result;
  }
  staged_rows pairs_earlier;
  staged_rows pairs_now;
  row_view earlier{std::vector<const word*>(arity), 0};
  if (before.copy) {
    earlier = {before.copy->pointers(), before.copy->rows};
  } else if (before.home) {
    earlier = rows_in(*before.home, relation, pairs_earlier);
  }
  const row_view now = rows_in(*homes_[relation], relation, pairs_now);
  result.added = rows_only_in(now, earlier, memory);
  result.removed = rows_only_in(earlier, now, memory);
  return result;
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
