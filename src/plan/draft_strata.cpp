#include "plan/draft_strata.hpp"

#include <utility>

#include "plan/passes/index_selection.hpp"
#include "plan/planning.hpp"

namespace gpulog::plan {
namespace {

phase finish_phase(draft_phase& from) {
  phase finished;
  for (draft& version : from.versions) finished.versions.push_back(finish(std::move(version)));
  finished.advance = std::move(from.advance);
  return finished;
}

std::vector<draft*> drafts_of(std::deque<draft_stratum>& strata) {
  std::vector<draft*> drafts;
  const auto collect = [&drafts](draft_phase& from) {
    for (draft& version : from.versions) drafts.push_back(&version);
  };
  for (draft_stratum& planned : strata) {
    collect(planned.once);
    for (draft_phase& repeated : planned.loop) collect(repeated);
    for (draft_subsumption& made : planned.subsumptions) drafts.push_back(&made.version);
  }
  return drafts;
}

}  // namespace

void choose_indexes(planning& shared) {
  shared.result.indexes = select_indexes(drafts_of(shared.strata), shared.arities, shared.equivalences);
}

void make_operators(planning& shared) {
  for (draft_stratum& planned : shared.strata) {
    stratum& added = shared.result.strata.emplace_back();
    added.relations = std::move(planned.relations);
    added.recursive = planned.recursive;
    added.watch = std::move(planned.watch);
    added.only_if = planned.only_if;
    added.once = finish_phase(planned.once);
    for (draft_phase& repeated : planned.loop) added.loop.push_back(finish_phase(repeated));
    for (draft_subsumption& made : planned.subsumptions) added.subsumptions.push_back(finish(std::move(made)));
  }
}

}  // namespace gpulog::plan
