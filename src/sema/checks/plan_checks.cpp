#include "sema/checks/plan_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "sema/checks/needed_relations.hpp"

namespace gpulog::sema {

namespace {

/// Returns whether the rule has a positive atom of one of the relations.
bool reads_any(const rule& rule, const std::vector<bool>& relations) {
  return std::any_of(rule.body.begin(), rule.body.end(), [&](const literal& part) {
    const auto* body = std::get_if<atom>(&part);
    return body != nullptr && !body->negated && relations[body->relation.value];
  });
}

/// Returns the relations without inputs, facts, and rules over non-empty relations.
std::vector<bool> relations_without_rows(const program& program) {
  std::vector<bool> is_empty(program.relations.size());
  for (bool changed = true; changed;) {
    std::vector<bool> has_rows(program.relations.size());
    for (const fact& one : program.facts) has_rows[one.relation.value] = true;
    for (const rule& rule : program.rules) {
      if (!reads_any(rule, is_empty)) has_rows[rule.head.relation.value] = true;
    }
    changed = false;
    for (std::size_t number = 0; number < is_empty.size(); ++number) {
      if (is_empty[number] || has_rows[number]) continue;
      if (program.relations[number].has_directive(directive_kind::input)) continue;
      is_empty[number] = changed = true;
    }
  }
  return is_empty;
}

struct planned_atoms {
  std::uint32_t all = 0;        ///< number of positive atoms
  std::uint32_t recursive = 0;  ///< number of recursive positive atoms, which equals the number of versions of the rule
};

planned_atoms count_atoms(const rule& rule, const std::vector<std::uint32_t>& stratum_of) {
  planned_atoms count;
  for (const literal& part : rule.body) {
    const atom* body = std::get_if<atom>(&part);
    if (body == nullptr || body->negated) continue;
    ++count.all;
    if (stratum_of[body->relation.value] == stratum_of[rule.head.relation.value]) ++count.recursive;
  }
  return count;
}

bool is_complete(const syntax::plan_order& plan, std::uint32_t atoms) {
  std::vector<bool> seen(atoms, false);
  for (std::uint32_t position : plan.order) {
    if (position < 1 || position > atoms || seen[position - 1]) return false;
    seen[position - 1] = true;
  }
  return plan.order.size() == atoms;
}

void reject_order(const syntax::plan_order& plan, std::uint32_t atoms, diagnostics& diagnostics) {
  diagnostics.error(plan.span, "Invalid execution order in plan: each of the " + std::to_string(atoms) +
                                   " positive atoms has to occur once");
}

void reject_unused_plans(const std::vector<syntax::plan_order>& plans, std::uint32_t versions,
                         diagnostics& diagnostics) {
  for (const syntax::plan_order& plan : plans) {
    if (plan.version < versions) continue;
    diagnostics.error(plan.span, "Invalid execution plan: the rule has no version " + std::to_string(plan.version) +
                                     (versions == 0 ? " since it is not recursive" : ""));
  }
}

/// Decides which plans are checked.
class plan_checker {
 public:
  plan_checker(program& analysed, diagnostics& diagnostics)
      : program_(analysed),
        diagnostics_(diagnostics),
        needed_(needed_relations(analysed)),
        all_count_(std::find(needed_.begin(), needed_.end(), true) == needed_.end()),
        is_empty_(relations_without_rows(analysed)),
        stratum_of_(analysed.relations.size()) {
    for (std::uint32_t number = 0; number < analysed.strata.size(); ++number) {
      for (relation_id id : analysed.strata[number].relations) stratum_of_[id.value] = number;
    }
  }

  void check_rules(const std::vector<const syntax::clause*>& clause_of_rule) {
    // A clause with several heads has one plan for all heads, of which only some may be recursive.
    std::unordered_map<const syntax::clause*, std::uint32_t> versions_of_clause;
    for (rule& rule : program_.rules) {
      const syntax::clause* const written = clause_of_rule[rule.id.value];
      if (written->plan.empty()) continue;
      const planned_atoms atoms = count_atoms(rule, stratum_of_);
      const bool counts = is_judged(rule);
      if (counts) {
        std::uint32_t& versions = versions_of_clause[written];
        versions = std::max(versions, atoms.recursive);
      }
      for (const syntax::plan_order& plan : written->plan) {
        if (!is_complete(plan, atoms.all)) {
          if (counts) reject_order(plan, atoms.all, diagnostics_);
        } else if (plan.version < atoms.recursive) {
          execution_order& order = rule.plans.emplace_back();
          order.version = plan.version;
          for (std::uint32_t position : plan.order) order.order.push_back(position - 1);
        }
      }
    }
    for (const auto& [written, versions] : versions_of_clause)
      reject_unused_plans(written->plan, versions, diagnostics_);
  }

  /// Only checks the plans of subsumptions.
  void check_subsumptions(const std::vector<const syntax::subsumption*>& written) {
    // The first two atoms of a subsumptive rule are its two heads.
    for (std::size_t number = 0; number < written.size(); ++number) {
      const rule& subsumptive = program_.subsumptions[number];
      if (!is_judged(subsumptive)) continue;
      const planned_atoms atoms = count_atoms(subsumptive, stratum_of_);
      for (const syntax::plan_order& plan : written[number]->plan) {
        if (!is_complete(plan, atoms.all)) reject_order(plan, atoms.all, diagnostics_);
      }
      reject_unused_plans(written[number]->plan, atoms.recursive, diagnostics_);
    }
  }

 private:
  [[nodiscard]] bool is_judged(const rule& rule) const {
    return (all_count_ || needed_[rule.head.relation.value]) && !reads_any(rule, is_empty_);
  }

  program& program_;
  diagnostics& diagnostics_;
  std::vector<bool> needed_;
  bool all_count_;
  std::vector<bool> is_empty_;
  std::vector<std::uint32_t> stratum_of_;  ///< by relation
};

}  // namespace

void check_plans(program& analysed, const written_rules& written, diagnostics& diagnostics) {
  const auto has_plan = [](const auto* clause) { return !clause->plan.empty(); };
  if (std::none_of(written.of_rules.begin(), written.of_rules.end(), has_plan) &&
      std::none_of(written.of_subsumptions.begin(), written.of_subsumptions.end(), has_plan)) {
    return;
  }
  plan_checker checker(analysed, diagnostics);
  checker.check_rules(written.of_rules);
  checker.check_subsumptions(written.of_subsumptions);
}

}  // namespace gpulog::sema
