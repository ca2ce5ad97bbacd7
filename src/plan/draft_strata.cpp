#include "plan/draft_strata.hpp"

#include <utility>

#include "plan/decomposition.hpp"
#include "plan/domains.hpp"
#include "plan/index_selection.hpp"
#include "plan/intersections.hpp"
#include "plan/row_evaluation.hpp"

namespace gpulog::plan {
namespace {

void intersect(draft_stratum& stratum, const planned_relations& known, const program& result) {
  const std::set<relation_id> own(stratum.relations.begin(), stratum.relations.end());
  const auto intersect_versions = [&](draft_phase& from, const std::set<searched_columns>& kept) {
    for (draft& version : from.versions)
      find_intersections(version, known.costs, known.arities, {own, kept, known.equivalences});
  };
  std::set<searched_columns> kept;
  intersect_versions(stratum.once, kept);
  for (draft_phase& repeated : stratum.loop) {
    for (draft& version : repeated.versions) append_searches(version, known.arities, kept);
  }
  // Where rows may be lost, or wait to be chosen, an index and a tuple set need not know the same ones.
  std::erase_if(kept, [&](const searched_columns& search) {
    return !stratum.subsumptions.empty() || !result.relations[search.relation.value].choice_domains.empty();
  });
  for (draft_phase& repeated : stratum.loop) intersect_versions(repeated, kept);
}

phase finish_phase(draft_phase& from) {
  phase finished;
  for (draft& version : from.versions) finished.versions.push_back(finish(std::move(version)));
  finished.advance = std::move(from.advance);
  return finished;
}

void find_rows(const program& result, stratum& planned) {
  planned.by_rows = find_row_evaluation(result, planned);
  const auto find_in = [&](phase& searched) {
    for (rule_version& version : searched.versions) version.by_rows = find_version_rows(result, planned, version);
  };
  if (!planned.by_rows) find_in(planned.once);
  for (phase& repeated : planned.loop) find_in(repeated);
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

void finish_strata(std::deque<draft_stratum>& strata, const planned_relations& known, bool intersects,
                   program& result) {
  if (intersects) {
    for (draft_stratum& planned : strata) intersect(planned, known, result);
  }
  result.indexes = select_indexes(drafts_of(strata), known.arities, known.equivalences);
  for (draft_stratum& planned : strata) {
    stratum& added = result.strata.emplace_back();
    added.relations = std::move(planned.relations);
    added.recursive = planned.recursive;
    added.watch = std::move(planned.watch);
    added.only_if = planned.only_if;
    added.once = finish_phase(planned.once);
    for (draft_phase& repeated : planned.loop) added.loop.push_back(finish_phase(repeated));
    for (draft_subsumption& made : planned.subsumptions) added.subsumptions.push_back(finish(std::move(made)));
    added.decomposed = find_decomposition(result, added);
    find_rows(result, added);
    added.domains = find_domains(result, added);
  }
}

}  // namespace gpulog::plan
