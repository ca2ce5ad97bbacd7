#include "exec/ranks/rank_divider.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "exec/calibration.hpp"
#include "exec/hybrid/expected_work.hpp"
#include "exec/ranks/division_order.hpp"
#include "plan/reads.hpp"

namespace gpulog::exec {
namespace {

/// Returns whether each tuple is a row, and no tuple disappears.
bool has_plain_rows(const plan::relation& relation) {
  return relation.choice_domains.empty() && !relation.is_equivalence && !relation.best && relation.size_limit == 0 &&
         !relation.loses_tuples;
}

std::set<relation_id> relations_of(const plan::stratum& stratum) {
  std::set<relation_id> relations(stratum.relations.begin(), stratum.relations.end());
  for_each_version(stratum, [&](const plan::rule_version& version) {
    for_each_read(
        version, [&](relation_id read, index_id, bool) { relations.insert(read); }, true);
  });
  return relations;
}

/// Returns the planner's estimate of the rows that the versions before the loop derive.
double expected_results(const plan::stratum& stratum) {
  double rows = 0;
  for (const plan::rule_version& version : stratum.once.versions) {
    if (!version.estimates.empty()) rows += version.estimates.back();
  }
  return rows;
}

}  // namespace

bool rank_divider::can_divide(const plan::program& program, std::size_t number) const {
  const plan::stratum& stratum = program.strata[number];
  if (mode_ == tuning_mode::off || program.words != word_size::bits32 || !stratum.subsumptions.empty()) return false;
  bool any = false;
  for_each_version(stratum, [&](const plan::rule_version& version) {
    any = any || (!version.is_retired && can_be_divided(version));
  });
  const std::set<relation_id> relations = relations_of(stratum);
  return any && std::all_of(relations.begin(), relations.end(),
                            [&](relation_id one) { return has_plain_rows(program.relations[one.value]); });
}

bool rank_divider::pays(double seconds, std::uint64_t bytes, double new_rows) const {
  if (mode_ == tuning_mode::always) return true;
  const double others = ranks_->size() - 1;
  const double saved = seconds * others / ranks_->size();
  const double sent = static_cast<double>(bytes) * others / calibration::rank_bytes_per_second;
  // In the worst case, each rank finds all rows and sends the rows to all other ranks.
  const double exchanged = new_rows * others * calibration::exchanged_row_seconds;
  return saved > 2 * (calibration::rank_task_seconds + sent + exchanged);
}

std::vector<relation_id> rank_divider::take_unneeded(const plan::program& program, std::size_t number) {
  std::vector<bool> is_needed(program.relations.size(), false);
  for (std::size_t later = number; later < program.strata.size(); ++later) {
    for (const relation_id one : relations_of(program.strata[later])) is_needed[one.value] = true;
  }
  std::vector<relation_id> unneeded;
  for (std::uint32_t r = 0; r < held_.size(); ++r) {
    if (!held_[r] || is_needed[r]) continue;
    held_[r] = false;
    unneeded.emplace_back(r);
  }
  return unneeded;
}

division* rank_divider::divide(stratum_executor& executor, const plan::program& program, std::size_t number,
                               const undivided_work* before) {
  if (!can_divide(program, number)) return nullptr;
  if (is_new_) held_.assign(program.relations.size(), false);
  if (!is_new_ && division_ && division_->is_finished() && !division_->has_abandoned()) {
    for (const relation_id one : program.strata[divided_].relations) held_[one.value] = true;
  }
  division_.reset();
  const plan::stratum& stratum = program.strata[number];
  // The number of iterations is unknown before the loop, and each iteration costs messages.
  if (before == nullptr && stratum.recursive && mode_ != tuning_mode::always) return nullptr;
  division_order order;
  order.is_new_program = is_new_;
  order.means = means_;
  order.relations = program.relations;
  order.indexes = program.indexes;
  order.stratum = stratum;
  order.number = number;
  order.resumes = before != nullptr;
  if (before != nullptr) order.deltas = before->deltas;
  std::uint64_t bytes = 0;
  for (const relation_id one : relations_of(stratum)) {
    if (held_[one.value]) continue;
    if (!executor.key_searches(one).empty()) return nullptr;  // a matrix, whose rows have no columns
    const std::uint64_t rows = executor.rows(one);
    if (rows == 0) continue;
    order.sent.push_back({one, rows, executor.old_rows(one)});
    bytes += rows * program.relations[one.value].kinds.size() * sizeof(word);
  }
  const auto rows_of = [&executor](relation_id one) { return executor.rows(one); };
  const double seconds = before != nullptr ? before->seconds
                                           : expected_work(stratum, rows_of).candidates /
                                                 (calibration::host_candidates_per_second * means_.threads);
  const double new_rows = before != nullptr ? static_cast<double>(before->new_rows) : expected_results(stratum);
  if (!pays(seconds, bytes, new_rows)) return nullptr;
  if (is_new_) order.strata = program.strata;
  order.unneeded = take_unneeded(program, number);

  ranks::archive_writer write;
  write(order);
  ranks::communicator& messages = ranks_->begin(division_task);
  static_cast<void>(messages.broadcast(write.take()));
  is_new_ = false;
  divided_ = number;
  const bool may_end = before != nullptr && mode_ != tuning_mode::always;
  const double rate = may_end ? static_cast<double>(before->new_rows) / before->seconds : 0;
  division_ = std::make_unique<rank_division>(messages, program, nullptr, number, rate,
                                              [this](unsigned rank) { return ranks_->name(rank); });
  static_cast<void>(division_->meet({}));
  for (const sent_relation& sent : order.sent) {
    for (const word* const column : executor.columns(sent.relation)) {
      // broadcast() writes at followers only.
      messages.broadcast(const_cast<word*>(column), sent.rows * sizeof(word));
    }
    const auto& members = stratum.relations;
    if (std::find(members.begin(), members.end(), sent.relation) == members.end()) held_[sent.relation.value] = true;
  }
  return division_.get();
}

}  // namespace gpulog::exec
