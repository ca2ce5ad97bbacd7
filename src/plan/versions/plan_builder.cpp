#include "plan/versions/plan_builder.hpp"

#include <utility>

#include "plan/passes/bodies/index_selection.hpp"
#include "plan/planning.hpp"

namespace gpulog::plan {
namespace {

phase finish_phase(phase_builder& from) {
  phase finished;
  for (version_builder& version : from.versions) finished.versions.push_back(finish(std::move(version)));
  finished.advance = std::move(from.advance);
  return finished;
}

std::vector<version_builder*> builders_of(std::deque<stratum_builder>& strata) {
  std::vector<version_builder*> builders;
  const auto collect = [&builders](phase_builder& from) {
    for (version_builder& version : from.versions) builders.push_back(&version);
  };
  for (stratum_builder& planned : strata) {
    collect(planned.once);
    for (phase_builder& repeated : planned.loop) collect(repeated);
    for (subsumption_builder& made : planned.subsumptions) builders.push_back(&made.version);
  }
  return builders;
}

}  // namespace

void choose_indexes(planning& shared) {
  shared.result.indexes = select_indexes(builders_of(shared.strata), shared.arities, shared.equivalences);
}

void make_operators(planning& shared) {
  for (stratum_builder& planned : shared.strata) {
    stratum& added = shared.result.strata.emplace_back();
    added.relations = std::move(planned.relations);
    added.recursive = planned.recursive;
    added.supplementary = planned.supplementary;
    added.once = finish_phase(planned.once);
    for (phase_builder& repeated : planned.loop) added.loop.push_back(finish_phase(repeated));
    for (subsumption_builder& made : planned.subsumptions) added.subsumptions.push_back(finish(std::move(made)));
  }
}

}  // namespace gpulog::plan
