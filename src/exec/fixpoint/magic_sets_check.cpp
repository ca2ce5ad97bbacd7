#include "exec/fixpoint/magic_sets_check.hpp"

#include <algorithm>
#include <set>

namespace gpulog::exec {
namespace {

/// Returns whether a later stratum evaluates the full relation row by row. The second evaluation is then cheap, so a
/// restriction pays for a larger share.
bool is_evaluated_row_wise(const plan::program& program, std::size_t number, relation_id relation) {
  return std::any_of(program.strata.begin(), program.strata.end(), [&](const plan::stratum& behind) {
    return behind.only_if && behind.only_if->stratum == number && !behind.only_if->given_up && behind.row_wise &&
           behind.relations.front() == relation;
  });
}

}  // namespace

magic_sets_check::magic_sets_check(const plan::program& program, std::size_t number, const options& chosen) {
  const plan::stratum& stratum = program.strata[number];
  if (!stratum.watch) return;
  watch_ = &*stratum.watch;
  const bool evaluates_row_wise = chosen.storage != storage::storage_mode::hisa;
  std::set<relation_id> copies;
  for (const plan::watched_restriction& one : watch_->relations) {
    const bool row_wise = evaluates_row_wise && is_evaluated_row_wise(program, number, one.relation);
    largest_shares_.push_back(row_wise ? watch_->largest_row_wise_share : watch_->largest_share);
    for (const auto& rule : one.rules) {
      for (const plan::restricted_read& read : rule) {
        if (read.copy != read.whole) copies.insert(read.copy);
      }
    }
  }
  for (std::size_t phase = 0; phase < stratum.loop.size(); ++phase) {
    const std::vector<relation_id>& advanced = stratum.loop[phase].advance;
    const bool extends_copies =
        std::any_of(advanced.begin(), advanced.end(), [&](relation_id id) { return copies.contains(id); });
    if (extends_copies) first_phase_ = phase + 1;
  }
}

bool magic_sets_check::restricts(relation_id head) const {
  return std::any_of(watch_->relations.begin(), watch_->relations.end(),
                     [head](const plan::watched_restriction& one) { return one.restricted == head; });
}

std::optional<double> magic_sets_check::too_large_share(const row_count& rows, const work& done) const {
  for (std::size_t number = 0; number < watch_->relations.size(); ++number) {
    const std::optional<double> share = share_of(watch_->relations[number], rows);
    if (share && *share > largest_shares_[number] && is_worth_giving_up(done, *share)) return share;
  }
  return std::nullopt;
}

/// Without restrictions, restricted relations would have had 1 / share times as many candidates, and unrestricted
/// relations the same number. The candidates of unrestricted relations are lost if the stratum is abandoned.
bool magic_sets_check::is_worth_giving_up(const work& done, double share) const {
  if (done.joined_share <= watch_->largest_joined_share) return true;
  const double lost = done.candidates - done.restricted_candidates;
  return lost <= watch_->largest_lost_share * (lost + done.restricted_candidates / share);
}

/// Returns the weighted average share over the rules that derive the relation. A rule reads at least the rows of its
/// largest relation, and its share is the product of the shares of its copies.
std::optional<double> magic_sets_check::share_of(const plan::watched_restriction& one, const row_count& rows) const {
  double read = 0;
  double asked = 0;
  for (const auto& rule : one.rules) {
    double share = 1;
    std::uint64_t largest = 0;
    for (const plan::restricted_read& part : rule) {
      const std::uint64_t whole = rows(part.whole);
      largest = std::max(largest, whole);
      if (part.copy != part.whole && whole != 0)
        share *= static_cast<double>(rows(part.copy)) / static_cast<double>(whole);
    }
    read += static_cast<double>(largest);
    asked += share * static_cast<double>(largest);
  }
  if (read == 0 || read < static_cast<double>(watch_->least_rows)) return std::nullopt;
  return asked / read;
}

bool is_to_run(const plan::stratum& stratum, const std::vector<stratum_statistics>& done) {
  return !stratum.only_if || done[stratum.only_if->stratum].given_up.has_value() == stratum.only_if->given_up;
}

}  // namespace gpulog::exec
