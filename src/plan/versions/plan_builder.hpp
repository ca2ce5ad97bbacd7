#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/plan.hpp"
#include "plan/rules/subsumption.hpp"
#include "plan/versions/version_builder.hpp"

/// The strata of a plan while their versions are built: indexes are chosen after all searches are known.
namespace gpulog::plan {

/// The recipe of a version: its body can be reordered when more sizes are known.
struct version_recipe {
  std::shared_ptr<const normalized_rule> rule;
  version_parts parts;
  bool is_forced = false;                 ///< `.plan` determines the order
  std::vector<std::uint32_t> atom_order;  ///< the present order; may be empty
};

struct phase_builder {
  std::deque<version_builder> versions;  // pointers to them stay valid
  std::vector<version_recipe> recipes;   ///< one per version
  std::vector<relation_id> advance;
};

struct stratum_builder {
  std::vector<relation_id> relations;
  bool recursive = false;
  phase_builder once;
  std::vector<phase_builder> loop;
  std::deque<subsumption_builder> subsumptions;
  std::set<relation_id> losing;                 ///< relations with subsumptions
  std::vector<relation_id> supplementary = {};  ///< stratum::supplementary

  /// Returns whether the stratum computes a step of the rules of a later stratum. Only strata up to the last of these
  /// rules read the step.
  [[nodiscard]] bool is_step() const { return !recursive && !supplementary.empty(); }
};

class planning;

/// Chooses indexes for the searches of all strata.
void choose_indexes(planning& shared);

/// Appends the strata to the plan, with versions as operators. The versions are moved from.
void make_operators(planning& shared);

}  // namespace gpulog::plan
