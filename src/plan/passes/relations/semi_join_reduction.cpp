#include "plan/passes/relations/semi_join_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "plan/cost/calibration.hpp"
#include "plan/passes/relations/step_candidates.hpp"
#include "plan/planning.hpp"
#include "plan/rules/rule_text.hpp"
#include "plan/rules/stratum_rules.hpp"
#include "plan/rules/variable_set.hpp"

namespace gpulog::plan {
namespace {

class semi_join_reduction {
 public:
  semi_join_reduction(planning& shared, stratum_rules& stratum)
      : shared_(shared), stratum_(stratum), growing_(stratum.members.begin(), stratum.members.end()) {
    for (const normalized_rule& pattern : stratum.patterns) growing_.insert(pattern.head);
  }

  void run() {
    for (normalized_rule& rule : stratum_.plain) {
      for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
        const body_atom& read = rule.atoms[atom];
        if (!is_member(read) || read.is_equivalence) continue;
        const std::optional<partner> best = rule.plans.empty() ? best_partner(rule, atom) : late_partner(rule, atom);
        if (best) read_reduced(rule, atom, *best);
      }
    }
  }

 private:
  /// The atom that reduces another atom.
  struct partner {
    std::uint32_t atom = 0;
    double share = 1;  ///< share of the values that both atoms have in common
    bool is_guess = false;
  };

  [[nodiscard]] bool grows(const body_atom& atom) const { return growing_.contains(atom.relation); }

  [[nodiscard]] bool is_member(const body_atom& atom) const {
    return std::find(stratum_.members.begin(), stratum_.members.end(), atom.relation) != stratum_.members.end();
  }

  [[nodiscard]] std::optional<partner> best_partner(const normalized_rule& rule, std::uint32_t atom) const {
    std::optional<partner> best;
    for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
      if (const auto share = share_of(rule, atom, other); share && (!best || *share < best->share)) {
        best = partner{other, *share};
      }
    }
    return best;
  }

  /// For a rule with `.plan`, which never becomes a join with steps: returns an atom that would form a step with the
  /// atom, and that some version searches only after the atom. The reduction keeps the written order, and its measured
  /// gain decides during the run (exec/fixpoint/supplementary_costs.hpp).
  [[nodiscard]] std::optional<partner> late_partner(const normalized_rule& rule, std::uint32_t atom) const {
    for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
      const body_atom& late = rule.atoms[other];
      if (other == atom || late.is_equivalence || (grows(late) && !is_member(late))) continue;
      if (is_late(rule, atom, other) && is_step(rule, atom, other))
        return partner{other, calibration::guessed_share, true};
    }
    return std::nullopt;
  }

  /// Returns whether a written order searches the first atom before any variable of the second is bound.
  [[nodiscard]] bool is_late(const normalized_rule& rule, std::uint32_t atom, std::uint32_t other) const {
    std::uint32_t version = 0;
    for (std::uint32_t delta = 0; delta < rule.atoms.size(); ++delta) {
      if (!grows(rule.atoms[delta])) continue;
      const std::vector<std::uint32_t>* const order = forced_order(rule, version++);
      if (order == nullptr || delta == atom) continue;
      variable_set bound;
      for (auto next = order->begin(); *next != atom; ++next) bound.merge(variables_of(rule.atoms[*next]));
      const bool is_bound = intersect(bound, variables_of(rule.atoms[atom]));
      if (is_bound && !intersect(bound, variables_of(rule.atoms[other]))) return true;
    }
    return false;
  }

  /// Returns the expected share of the atom's rows that remain; empty: do not reduce the atom by `other`.
  [[nodiscard]] std::optional<double> share_of(const normalized_rule& rule, std::uint32_t atom,
                                               std::uint32_t other) const {
    const body_atom& read = rule.atoms[atom];
    const body_atom& complete = rule.atoms[other];
    const bool is_forced = shared_.chosen.modes.is_always("semi-join-reduction");
    const bool may_reduce = !grows(complete) || (is_forced && other != atom && is_member(complete));
    if (!may_reduce || complete.is_equivalence) return std::nullopt;
    const variable_set of_read = variables_of(read);
    const variable_set of_complete = variables_of(complete);
    if (!intersect(of_read, of_complete)) return std::nullopt;
    if (!is_forced && (!is_searched_before(rule, atom, other) || is_step(rule, atom, other))) return std::nullopt;
    std::optional<double> least;
    for (std::uint32_t column = 0; column < read.arguments.size(); ++column) {
      for (std::uint32_t tested = 0; tested < complete.arguments.size(); ++tested) {
        if (!read.arguments[column].is_variable() || complete.arguments[tested] != read.arguments[column]) continue;
        const auto share = shared_.values.share_of_values({read.relation, column}, {{complete.relation, tested}});
        if (share && (!least || *share < *least)) least = share;
      }
    }
    if (is_forced) return least.value_or(calibration::guessed_share);
    return least && *least <= calibration::largest_demanded_share ? least : std::nullopt;
  }

  /// Returns whether a new row of a third atom would search the first atom before any variable of the second is bound.
  [[nodiscard]] bool is_searched_before(const normalized_rule& rule, std::uint32_t atom, std::uint32_t other) const {
    const variable_set of_read = variables_of(rule.atoms[atom]);
    const variable_set of_complete = variables_of(rule.atoms[other]);
    for (std::uint32_t third = 0; third < rule.atoms.size(); ++third) {
      if (third == atom || !grows(rule.atoms[third])) continue;
      const variable_set of_third = variables_of(rule.atoms[third]);
      if (intersect(of_third, of_read) && !intersect(of_third, of_complete)) return true;
    }
    return false;
  }

  /// Returns whether both atoms become a supplementary relation of their join (supplementary.hpp), which is even
  /// smaller.
  [[nodiscard]] bool is_step(const normalized_rule& rule, std::uint32_t atom, std::uint32_t other) const {
    const std::uint32_t first = std::min(atom, other);
    const std::uint32_t second = std::max(atom, other);
    bool found = false;
    step_candidates(rule, growing_, [](const step_candidate&) { return 1; }).for_each([&](const step_candidate& step) {
      found |= step.first == first && step.second == second;
    });
    return found;
  }

  void read_reduced(normalized_rule& rule, std::uint32_t atom, const partner& by) {
    const body_atom read = rule.atoms[atom];
    body_atom test = rule.atoms[by.atom];
    for (term& argument : test.arguments) {
      if (!argument.is_variable()) continue;
      const auto common = std::find(read.arguments.begin(), read.arguments.end(), argument);
      if (common == read.arguments.end()) {
        argument = {term::form::unnamed, 0, argument.kind};
      } else {
        argument.value = static_cast<std::uint32_t>(common - read.arguments.begin());
      }
    }
    const std::size_t known = stratum_.patterns.size();
    rule.original = original_of(rule);
    rule.atoms[atom] = shared_.restrictions.restrict_atom(read, {test}, rule, stratum_.patterns);
    if (stratum_.patterns.size() == known) return;
    const relation_id reduced = stratum_.patterns.back().head;
    const relation_id whole = stratum_.patterns.back().atoms.front().relation;
    shared_.result.relations[reduced.value].reduced = semi_join{whole, columns_tested(read, test)};
    shared_.costs.set_rows(reduced, shared_.costs.rows(whole, row_part::all) * by.share);
    shared_.remark(fmt::format("{}: rows of {} with a join partner in {}, {}{:.2g} % of the values",
                               shared_.name_of(reduced), shared_.name_of(whole), shared_.name_of(test.relation),
                               by.is_guess ? "perhaps " : "", 100 * by.share));
    growing_.insert(reduced);
    stratum_.reduced.push_back(reduced);
  }

  /// Returns the columns of the reduced relation, which has the named columns of the atom, that the test has in common.
  [[nodiscard]] static std::vector<std::uint32_t> columns_tested(const body_atom& whole, const body_atom& test) {
    std::vector<std::uint32_t> tested;
    std::uint32_t number = 0;
    for (std::uint32_t column = 0; column < whole.arguments.size(); ++column) {
      if (whole.arguments[column].what == term::form::unnamed) continue;
      const bool is_common = std::any_of(test.arguments.begin(), test.arguments.end(), [column](const term& argument) {
        return argument.is_variable() && argument.value == column;
      });
      if (is_common) tested.push_back(number);
      ++number;
    }
    return tested;
  }

  planning& shared_;
  stratum_rules& stratum_;
  std::set<relation_id> growing_;
};

}  // namespace

void reduce_by_semi_joins(planning& shared, stratum_rules& stratum) {
  if (!stratum.recursive || !stratum.may_factor || !stratum.restrictions.empty()) return;
  if (shared.chosen.has_device && !shared.chosen.modes.is_always("semi-join-reduction")) return;
  if (notices_order(stratum, shared.result.relations)) return;
  semi_join_reduction(shared, stratum).run();
}

}  // namespace gpulog::plan
