#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/evaluations.hpp"
#include "exec/calibration.hpp"
#include "kernels/join/pipeline.hpp"

/// Erased facts: deletion and rederivation in the executor of a continued evaluation (docs/adr/0079-deletions.md).
namespace gpulog::detail {

std::size_t continued_evaluation::stratum_of(relation_id relation) const {
  const auto& strata = plan().strata;
  const auto found = std::find_if(strata.begin(), strata.end(), [relation](const plan::stratum& one) {
    return std::find(one.relations.begin(), one.relations.end(), relation) != one.relations.end();
  });
  return static_cast<std::size_t>(found - strata.begin());
}

/// Ends the search for deleted tuples after too many deleted tuples.
void continued_evaluation::tell(const exec::progress& now) {
  const std::atomic<bool>* const cancelled = run().options.cancelled;
  if (now.tuples > most_deleted_ || (cancelled != nullptr && *cancelled)) has_ended_ = true;
}

/// Finds all tuples with a derivation from an erased tuple.
bool continued_evaluation::find_deleted(const fact_store& facts, std::uint64_t most) {
  relation_id any;
  for (std::uint32_t number = 0; number < facts.size(); ++number) {
    if (!is_in(growing_, relation_id(number))) continue;
    any = erasing_.deleted[number];
    const staged_rows block = facts.erased(number);
    if (block.rows > 0) executor_->append(any, block.pointers(), block.rows);
  }
  most_deleted_ = most;
  has_ended_ = false;
  exec::stratum_stops stops;
  stops.now = &has_ended_;
  try {
    executor_->continue_stratum(stratum_of(any), stops);
  } catch (const kernels::interrupted&) {
    const std::atomic<bool>* const cancelled = run().options.cancelled;
    if (cancelled != nullptr && *cancelled) throw;
    return false;
  }
  most_deleted_ = UINT64_MAX;
  return true;
}

bool continued_evaluation::erase(const fact_store& facts, std::uint64_t most) {
  if (!find_deleted(facts, most)) return false;
  const auto for_each_growing = [&](const auto& visit) {
    for (std::uint32_t number = 0; number < growing_.size(); ++number) {
      if (growing_[number]) visit(relation_id(number), erasing_.deleted[number], erasing_.rederived[number]);
    }
  };
  for_each_growing([&](relation_id from, relation_id deleted, relation_id) {
    if (executor_->rows(deleted) > 0)
      note_erased(from, executor_->erase(from, executor_->columns(deleted), executor_->rows(deleted)));
  });
  for_each_growing([&](relation_id, relation_id, relation_id rederived) {
    if (rederived.valid()) executor_->run_stratum(stratum_of(rederived));
  });
  for_each_growing([&](relation_id from, relation_id deleted, relation_id rederived) {
    executor_->forget_columns(from);
    executor_->release(deleted);
    if (!rederived.valid()) return;
    if (executor_->rows(rederived) > 0)
      executor_->append(from, executor_->columns(rederived), executor_->rows(rederived));
    executor_->release(rederived);
  });
  return true;
}

/// Returns whether lost facts can be removed from the rows of their relations and of dependent relations.
bool evaluations::can_erase(const std::vector<bool>& growing) const {
  bool erases = false;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number]) continue;
    const bool is_input = is_plain_input(run_.relation(number));
    // Given facts of a relation with rules would count as derivations.
    if (!is_input && (facts_.has_erased(number) || !facts_.kept(number).empty() || facts_.rows(number) != 0))
      return false;
    erases = erases || facts_.has_erased(number);
  }
  return erases;
}

/// Returns the number of tuples that may be deleted for less than an evaluation from scratch.
std::uint64_t evaluations::most_deleted(const std::vector<bool>& growing) const {
  using namespace exec::calibration;
  std::uint64_t tuples = 0;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (growing[number]) tuples += rows(number);
  }
  const double scratch = seconds_from_scratch(growing);
  double seconds = scratch * seconds_share_of_deleted;
  // A restored engine, which may be evaluated only once, has also taken over the results.
  if (is_restored_) seconds = std::min(seconds, scratch * restored_share_for_deletions - seconds_taken_over_);
  const double most = std::max(0.0, seconds) * host_candidates_per_second / candidates_of_deleted_tuple;
  // An evaluation from scratch derives the second half, without a search for further derivations.
  const std::uint64_t half = std::max(least_deleted, tuples / 2);
  return std::clamp(static_cast<std::uint64_t>(most), least_deleted, half);
}

/// Removes the erased facts of growing relations, whose inserted facts remain staged.
bool evaluations::erase_facts(const std::vector<bool>& growing) {
  if (!can_erase(growing)) return true;
  const bool is_done = continuing_->erase(facts_, most_deleted(growing));
  erasing_factor_ = is_done ? std::max(1.0, erasing_factor_ / 2) : erasing_factor_ * 2;
  if (!is_done) return false;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (growing[number]) facts_.stage_before(number, {});
  }
  return true;
}

}  // namespace gpulog::detail
