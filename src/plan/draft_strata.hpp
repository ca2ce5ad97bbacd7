#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "plan/cost_model.hpp"
#include "plan/draft.hpp"
#include "plan/plan.hpp"
#include "plan/subsumption.hpp"

/// The strata of a plan while their versions are drafts: indexes are chosen when all searches are known.
namespace gpulog::plan {

struct draft_phase {
  std::deque<draft> versions;  // pointers to them stay valid
  std::vector<relation_id> advance;
};

struct draft_stratum {
  std::vector<relation_id> relations;
  bool recursive = false;
  draft_phase once;
  std::vector<draft_phase> loop;
  std::deque<draft_subsumption> subsumptions;
  std::set<relation_id> losing;  ///< relations with subsumptions
  std::optional<restriction_watch> watch;
  std::optional<stratum_condition> only_if;
};

class planning;

/// Chooses indexes for the searches of all strata.
void choose_indexes(planning& shared);

/// Appends the strata to the plan, their versions as operators. Drafts are moved from.
void make_operators(planning& shared);

}  // namespace gpulog::plan
