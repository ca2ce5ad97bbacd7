#include "plan/passes/demand/magic_sets_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/cost/calibration.hpp"

namespace gpulog::plan {

bool magic_sets_choice::prefers(column_place first, column_place second) const {
  const std::uint64_t in_first = costs_.distinct_values(first);
  const std::uint64_t in_second = costs_.distinct_values(second);
  return in_first != 0 && in_second != 0 && in_first < in_second;
}

/// Returns whether the relation has loaded rows or facts, which would have to be copied into the restricted relation.
bool magic_sets_choice::is_loaded(relation_id relation) const {
  if (source_[relation].has_directive(sema::directive_kind::input)) return true;
  if (relation.value < known_.relations.size() && known_.relations[relation.value].is_loaded) return true;
  return std::any_of(source_.facts.begin(), source_.facts.end(),
                     [relation](const sema::fact& fact) { return fact.relation == relation; });
}

std::optional<double> magic_sets_choice::share_of(relation_id relation, const demanded_column& asked) {
  std::vector<column_place> given;
  double constants = 0;
  for (const auto& [key, source] : asked.sources) {
    if (source.constant) {
      constants += 1;
    } else {
      given.push_back({source.atom.relation, source.column});
    }
  }
  return sources_.share_of_values({relation, asked.column}, given, constants);
}

std::optional<chosen_demand> magic_sets_choice::estimate(demand asked, std::vector<std::string>& remarks) {
  // If a relation reads itself or only copies relations, computing its restricted part inside the recursion is as much
  // work as computing the full relation after the recursion. If row-wise evaluation cannot compute the full relation, a
  // restriction gains little, and takes up to twice the time when most of the relation is demanded (bench/magic_sets).
  if (!asked.loses_join || asked.reads_itself || !asked.is_row_wise) return std::nullopt;
  const std::string name = name_of_(asked.relation);
  chosen_demand chosen;
  chosen.asked.relation = asked.relation;
  chosen.asked.loses_join = asked.loses_join;
  double all = 1;
  for (demanded_column& column : asked.columns) {
    const std::optional<double> share = share_of(asked.relation, column);
    if (!share) {
      remarks.push_back(
          fmt::format("{}: the recursion reads only some keys, but their share is unknown; not restricted", name));
      return std::nullopt;
    }
    if (*share > calibration::pointless_share) continue;
    all *= *share;
    chosen.asked.columns.push_back(std::move(column));
    chosen.shares.push_back(*share);
  }
  if (chosen.shares.empty() || all > calibration::largest_demanded_share) {
    remarks.push_back(fmt::format(
        "{}: the recursion reads only some keys, but these are {:.0f} % of all keys; not restricted", name, 100 * all));
    return std::nullopt;
  }
  return chosen;
}

std::optional<chosen_demand> magic_sets_choice::choose(std::vector<demand> found, std::vector<std::string>& remarks) {
  for (demand& asked : found) {
    if (declined_.contains(asked.relation) || is_loaded(asked.relation)) continue;
    if (is_forced_) {
      std::vector<double> shares;
      for (const demanded_column& column : asked.columns) {
        shares.push_back(share_of(asked.relation, column).value_or(calibration::guessed_share));
      }
      return chosen_demand{std::move(asked), std::move(shares)};
    }
    const relation_id relation = asked.relation;
    if (auto chosen = estimate(std::move(asked), remarks)) return chosen;
    declined_.insert(relation);
  }
  return std::nullopt;
}

}  // namespace gpulog::plan
