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
      if (!rule.plans.empty()) continue;
      for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) reduce(rule, atom);
    }
  }

 private:
  /// The atom that reduces another atom.
  struct partner {
    std::uint32_t atom = 0;
    double share = 1;  ///< share of the values that both atoms have in common, or a guess
  };

  [[nodiscard]] bool grows(const body_atom& atom) const { return growing_.contains(atom.relation); }

  void reduce(normalized_rule& rule, std::uint32_t atom) {
    const body_atom& read = rule.atoms[atom];
    const bool is_member =
        std::find(stratum_.members.begin(), stratum_.members.end(), read.relation) != stratum_.members.end();
    if (!is_member || read.is_equivalence) return;
    std::optional<partner> best;
    for (std::uint32_t other = 0; other < rule.atoms.size(); ++other) {
      if (const auto share = share_of(rule, atom, other); share && (!best || *share < best->share)) {
        best = partner{other, *share};
      }
    }
    if (best) read_reduced(rule, atom, *best);
  }

  /// Returns the expected share of the atom's rows that remain; empty: do not reduce the atom by `other`.
  [[nodiscard]] std::optional<double> share_of(const normalized_rule& rule, std::uint32_t atom,
                                               std::uint32_t other) const {
    const body_atom& read = rule.atoms[atom];
    const body_atom& complete = rule.atoms[other];
    if (grows(complete) || complete.is_equivalence) return std::nullopt;
    const variable_set of_read = variables_of(read);
    const variable_set of_complete = variables_of(complete);
    if (!intersect(of_read, of_complete)) return std::nullopt;
    const bool is_forced = shared_.chosen.modes.is_always("semi-join-reduction");
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
    const body_atom& read = rule.atoms[atom];
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
    shared_.costs.set_rows(reduced, shared_.costs.rows(whole, row_part::all) * by.share);
    shared_.remark(fmt::format("{}: rows of {} that have a partner in {}, {:.2g} % of its values",
                               shared_.name_of(reduced), shared_.name_of(whole), shared_.name_of(test.relation),
                               100 * by.share));
    growing_.insert(reduced);
    stratum_.reduced.push_back(reduced);
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
