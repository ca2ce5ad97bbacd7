#include <cstdint>

#include "engine/again/affected.hpp"
#include "engine/again/program_changes.hpp"
#include "engine/evaluations.hpp"

/// Replaces the program of an engine (docs/adr/0050-another-program.md).
namespace gpulog::detail {

void evaluations::prepare_for(const sema::program& next) {
  waiting_.clear();
  if (!has_begun()) return;
  const std::vector<bool> is_same = with_same_rules(next, analysed());
  const std::size_t relations = next.relations.size();
  stale_.resize(relations);
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    // Facts can no longer be distinguished from derived rows.
    if (!is_same[number] && is_plain_input(run_.relation(number)) && !is_plain_input(next.relations[number])) {
      for (staged_rows& block : results_of(number)) facts_.keep(number, std::move(block));
    }
    if (!is_same[number]) stale_[number] = true;
    if (!run_.relation(number).is_query) continue;
    // The number of a query is reused.
    homes_[number].reset();
    forget_indexes(number);
  }
  homes_.resize(relations);
  if (continuing_) continuing_->resize(relations);
}

}  // namespace gpulog::detail
