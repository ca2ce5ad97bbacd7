#include "exec/ranks/rank_divider.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "exec/calibration.hpp"
#include "exec/hybrid/expected_work.hpp"
#include "exec/ranks/division_order.hpp"
#include "plan/reads.hpp"
#include "support/long_vector.hpp"

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

/// Returns the partition columns of a stratum; an empty optional: ranks cannot evaluate the stratum without messages.
std::optional<partition_columns> partition_columns_of(const plan::program& program, std::size_t number,
                                                      const partition_columns& known) {
  const plan::stratum& stratum = program.strata[number];
  if (program.words != word_size::bits32 || !stratum.subsumptions.empty()) return std::nullopt;
  for (const relation_id one : relations_of(stratum)) {
    if (!has_plain_rows(program.relations[one.value])) return std::nullopt;
  }
  return find_partition(program, number, known);
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

bool rank_divider::pays(double seconds, double waiting, std::uint64_t bytes, double received_rows) const {
  if (mode_ == tuning_mode::always) return true;
  const double others = ranks_->size() - 1;
  const double saved = seconds * others / ranks_->size();
  const double sent = static_cast<double>(bytes) * others / calibration::rank_bytes_per_second;
  const double exchanged = received_rows * means_.exchanged_row_seconds;
  return saved > 2 * (waiting + calibration::rank_task_seconds + sent + exchanged);
}

std::vector<relation_id> rank_divider::take_unneeded(const plan::program& program, std::size_t number, side where) {
  std::vector<bool> is_needed(program.relations.size(), false);
  for (std::size_t later = number; later < program.strata.size(); ++later) {
    for (const relation_id one : relations_of(program.strata[later])) is_needed[one.value] = true;
  }
  std::vector<bool>& is_held = held_at(where).is_held;
  std::vector<relation_id> unneeded;
  for (std::uint32_t r = 0; r < is_held.size(); ++r) {
    if (!is_held[r] || is_needed[r]) continue;
    is_held[r] = false;
    unneeded.emplace_back(r);
  }
  return unneeded;
}

void rank_divider::start_devices() {
  ranks_->begin(device_task).broadcast(&means_.first_device, sizeof(means_.first_device));
}

void rank_divider::begin_program() {
  is_new_ = true;
  division_.reset();
  held_ = {};
}

void rank_divider::note_results() {
  if (division_ == nullptr || is_noted_ || !division_->is_finished()) return;
  is_noted_ = true;
  const std::vector<relation_id>& members = program_->strata[divided_].relations;
  held_relations& held = held_at(divided_where_);
  if (division_->is_partitioned()) {
    held.partitioned = *division_->share().partition;
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::vector<std::uint64_t>& rows = held.rows_by_rank[members[i]];
      for (const std::vector<std::uint64_t>& of_rank : division_->rows_by_rank()) rows.push_back(of_rank[i]);
    }
  } else if (!division_->has_abandoned()) {
    for (const relation_id one : members) held.is_held[one.value] = true;
  }
}

std::optional<std::uint64_t> rank_divider::list_relations(const stratum_executor& executor,
                                                          const plan::program& program, division_order& order) const {
  const held_relations& held = held_at(order.where);
  std::uint64_t bytes = 0;
  for (const relation_id one : relations_of(order.stratum)) {
    if (held.is_held[one.value] || (order.partition && held.partitioned.contains(one))) continue;
    if (!executor.key_searches(one).empty()) return std::nullopt;  // a matrix, whose rows have no columns
    const std::uint64_t rows = executor.rows(one);
    if (rows == 0) continue;
    order.sent.push_back({one, rows, executor.old_rows(one)});
    bytes += rows * program.relations[one.value].kinds.size() * sizeof(word);
  }
  return bytes;
}

void rank_divider::prepare(const plan::program& program) {
  note_results();
  for (held_relations& one : held_) one.is_held.resize(program.relations.size(), false);
}

division* rank_divider::divide(stratum_executor& executor, const plan::program& program, std::size_t number,
                               const undivided_work* before) {
  if (!can_divide(program, number)) return nullptr;
  prepare(program);
  const plan::stratum& stratum = program.strata[number];
  // The number of iterations is unknown before the loop, and each iteration costs messages.
  if (before == nullptr && stratum.recursive && mode_ != tuning_mode::always) return nullptr;
  division_order order;
  order.stratum = stratum;
  order.number = number;
  order.resumes = before != nullptr;
  if (before != nullptr) order.deltas = before->deltas;
  const std::optional<std::uint64_t> bytes = list_relations(executor, program, order);
  if (!bytes) return nullptr;
  const auto rows_of = [&executor](relation_id one) { return executor.rows(one); };
  const double seconds = before != nullptr ? before->seconds
                                           : expected_work(stratum, rows_of).candidates /
                                                 (calibration::host_candidates_per_second * means_.threads);
  // Recursion, the worst case: each rank finds all rows and sends all rows to every rank. Without recursion, the
  // planner's estimate counts once, as if a single rank found each row: rank 0 decides again when ranks count the rows.
  const double received =
      before != nullptr ? static_cast<double>(before->new_rows) * (ranks_->size() - 1) : expected_results(stratum);
  if (!pays(seconds, 0, *bytes, received)) return nullptr;
  std::optional<solo_limits> alone;
  if (mode_ != tuning_mode::always) {
    alone.emplace().exchanged_row_seconds = means_.exchanged_row_seconds;
    if (before != nullptr) alone->rows_per_second = static_cast<double>(before->new_rows) / before->seconds;
  }
  return begin(executor, program, std::move(order), alone);
}

division* rank_divider::begin(stratum_executor& executor, const plan::program& program, division_order order,
                              std::optional<solo_limits> alone) {
  order.is_new_program = is_new_;
  order.means = means_;
  order.relations = program.relations;
  order.indexes = program.indexes;
  if (is_new_) order.strata = program.strata;
  order.unneeded = take_unneeded(program, order.number, order.where);
  ranks::archive_writer write;
  write(order);
  ranks::communicator& messages = ranks_->begin(division_task);
  static_cast<void>(messages.broadcast(write.take()));
  is_new_ = false;
  divided_ = order.number;
  divided_where_ = order.where;
  program_ = &program;
  is_noted_ = false;
  division_ = std::make_unique<rank_division>(messages, program, nullptr, order.number, order.partition, order.resumes,
                                              alone, [this](unsigned rank) { return ranks_->name(rank); });
  static_cast<void>(division_->meet({}));
  const std::vector<relation_id>& members = order.stratum.relations;
  for (const sent_relation& sent : order.sent) {
    for (const word* const column : executor.columns(sent.relation)) {
      // broadcast() writes at followers only.
      messages.broadcast(const_cast<word*>(column), sent.rows * sizeof(word));
    }
    executor.forget_columns(sent.relation);
    if (std::find(members.begin(), members.end(), sent.relation) == members.end())
      held_at(order.where).is_held[sent.relation.value] = true;
  }
  return division_.get();
}

bool rank_divider::stays_partitioned(const plan::program& program, std::size_t number,
                                     partition_columns columns) const {
  for (std::size_t later = number + 1; later < program.strata.size(); ++later) {
    const std::set<relation_id> read = relations_of(program.strata[later]);
    if (std::none_of(read.begin(), read.end(), [&columns](relation_id one) { return columns.contains(one); })) continue;
    std::optional<partition_columns> extended = partition_columns_of(program, later, columns);
    if (!extended) return false;
    columns = *std::move(extended);
  }
  return true;
}

division* rank_divider::partition(stratum_executor& executor, const plan::program& program, std::size_t number,
                                  side where, partition_need need) {
  if (mode_ == tuning_mode::off) return nullptr;
  prepare(program);
  const held_relations& held = held_at(where);
  const plan::stratum& stratum = program.strata[number];
  division_order order;
  order.stratum = stratum;
  order.number = number;
  order.where = where;
  order.partition = partition_columns_of(program, number, held.partitioned);
  if (!order.partition) return nullptr;
  // Otherwise, several ranks would have these rows.
  if (std::any_of(stratum.relations.begin(), stratum.relations.end(),
                  [&executor](relation_id one) { return executor.rows(one) != 0; }))
    return nullptr;
  const std::optional<std::uint64_t> bytes = list_relations(executor, program, order);
  if (!bytes) return nullptr;
  const std::set<relation_id> read = relations_of(stratum);
  const bool reads_parts =
      std::any_of(read.begin(), read.end(), [&held](relation_id one) { return held.partitioned.contains(one); });
  if (!reads_parts && need == partition_need::none && mode_ != tuning_mode::always) {
    // On processors, ranks count the rows of closures (rank_strips.hpp) and divide bindings.
    if (where == side::host || !stays_partitioned(program, number, *order.partition)) return nullptr;
    const stratum_work work = expected_work(stratum, [&executor](relation_id one) { return executor.rows(one); });
    const double waiting = has_devices_ ? 0 : calibration::rank_device_seconds;
    if (!pays(placement_costs(means_.threads).seconds(where, work), waiting, *bytes, 0)) return nullptr;
  }
  if (where == side::device) has_devices_ = true;
  return begin(executor, program, std::move(order), {});
}

std::optional<std::uint64_t> rank_divider::rows_elsewhere(relation_id relation, side where) {
  note_results();
  const auto& all = held_at(where).rows_by_rank;
  const auto found = all.find(relation);
  if (found == all.end()) return std::nullopt;
  return std::accumulate(found->second.begin() + 1, found->second.end(), std::uint64_t{0});
}

std::vector<rows_of_rank> rank_divider::messages_of(relation_id relation, side where) {
  note_results();
  std::vector<rows_of_rank> messages;
  const std::vector<std::uint64_t>& rows_by_rank = held_at(where).rows_by_rank.at(relation);
  for (unsigned rank = 1; rank < rows_by_rank.size(); ++rank) {
    for (std::uint64_t first = 0; first < rows_by_rank[rank]; first += calibration::rows_of_rank_message)
      messages.push_back({rank, first, std::min(calibration::rows_of_rank_message, rows_by_rank[rank] - first)});
  }
  return messages;
}

std::string rank_divider::receive_rows(relation_id relation, side where, const rows_of_rank& asked) {
  const std::lock_guard lock(receiving_);
  ranks::archive_writer write;
  write(rows_order{relation, where, asked});
  ranks::communicator& messages = ranks_->begin(rows_task);
  static_cast<void>(messages.broadcast(write.take()));
  rank_division meeting(messages, *program_, nullptr, divided_, {}, true, {},
                        [this](unsigned rank) { return ranks_->name(rank); });
  static_cast<void>(meeting.meet({}));
  return std::move(messages.gather({})[asked.rank]);
}

void rank_divider::end_partition(relation_id relation, side where) {
  note_results();
  held_at(where).partitioned.erase(relation);
  held_at(where).rows_by_rank.erase(relation);
}

}  // namespace gpulog::exec
