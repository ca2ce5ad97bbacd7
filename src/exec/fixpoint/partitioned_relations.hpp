#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "exec/fixpoint/plan_relations.hpp"
#include "exec/ranks/division.hpp"
#include "plan/reads.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {

/// Partitioned relations at rank 0. Without other ranks, no relation is partitioned.
template <class Machine>
class partitioned_relations {
 public:
  static constexpr side here = Machine::abilities.device_columns ? side::device : side::host;

  explicit partitioned_relations(plan_relations<Machine>& shared) : shared_(&shared) {}

  [[nodiscard]] bool contains(relation_id relation) const {
    stratum_divider* const divider = shared_->chosen.divider;
    return divider != nullptr && divider->rows_elsewhere(relation, here).has_value();
  }
  /// Returns how many rows of a relation other ranks have.
  [[nodiscard]] std::uint64_t rows_elsewhere(relation_id relation) const {
    stratum_divider* const divider = shared_->chosen.divider;
    return divider == nullptr ? 0 : divider->rows_elsewhere(relation, here).value_or(0);
  }

  /// Returns the columns with the rows of all ranks, in host memory; valid until forget_columns().
  /// @param relation contains()
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) {
    std::vector<long_vector<word>>& columns = gathered_[relation];
    if (columns.empty()) gather(relation, columns);
    std::vector<const word*> all;
    for (const long_vector<word>& column : columns) all.push_back(column.data());
    return all;
  }
  void forget_columns(relation_id relation) { gathered_.erase(relation); }

  /// Ends the partitions of relations that a stratum reads: rank 0 receives all rows.
  /// @return whether any relation was partitioned
  bool gather(const plan::stratum& stratum) {
    if (shared_->chosen.divider == nullptr) return false;
    bool any = false;
    std::set<relation_id> read;
    for_each_version(stratum, [&](const plan::rule_version& version) {
      for_each_read(
          version, [&read](relation_id one, index_id, bool) { read.insert(one); }, true);
    });
    for (const relation_id relation : read) {
      if (!contains(relation)) continue;
      any = true;
      const std::uint64_t others = rows_elsewhere(relation);
      const std::uint64_t rows = shared_->relation_of(relation).rows() + others;
      if (others == 0) {
        end(relation);
        continue;
      }
      std::vector<const word*> all;
      shared_->guarded({"copying", relation, nullptr}, [&] { all = columns(relation); });
      shared_->chosen.divider->end_partition(relation, here);
      shared_->make_relation(relation);
      shared_->adopt_relation(relation, all, rows);
      gathered_.erase(relation);
    }
    return any;
  }
  /// Ends the partition of a relation without rows.
  void end(relation_id relation) {
    gathered_.erase(relation);
    if (shared_->chosen.divider != nullptr) shared_->chosen.divider->end_partition(relation, here);
  }

 private:
  void gather(relation_id relation, std::vector<long_vector<word>>& columns) {
    auto& part = shared_->relation_of(relation);
    const std::uint64_t rows = part.rows();
    for (const word* own : shared_->machine.host_columns(part)) columns.emplace_back(own, own + rows);
    shared_->machine.forget_host_columns(part);
    for (long_vector<word>& column : columns) column.reserve(memory_size(rows + rows_elsewhere(relation)));
    shared_->chosen.divider->receive_rows(relation, here, [&](const std::vector<const word*>& from, std::uint64_t n) {
      for (std::size_t c = 0; c < from.size(); ++c) columns[c].insert(columns[c].end(), from[c], from[c] + n);
    });
  }

  plan_relations<Machine>* shared_;
  std::map<relation_id, std::vector<long_vector<word>>> gathered_;
};

}  // namespace gpulog::exec
