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

/// What is known of the relations of a plan.
struct planned_relations {
  const cost_model& costs;
  const std::vector<std::uint32_t>& arities;  ///< by relation
  const std::set<relation_id>& equivalences;
};

/// Chooses indexes for the searches of all strata, and appends the finished strata to the plan. Drafts are moved from.
/// @param intersects whether bindings may choose among several searches (ADR 0016)
void finish_strata(std::deque<draft_stratum>& strata, const planned_relations& known, bool intersects, program& result);

}  // namespace gpulog::plan
