#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/fixpoint/plan_relations.hpp"
#include "exec/ranks/part_stream.hpp"
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
  /// Returns the rows of all ranks, of which only those being read are in host memory.
  /// @param relation contains()
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation_id relation) {
    auto& part = shared_->relation_of(relation);
    std::unique_ptr<row_stream> stream;
    if constexpr (Machine::abilities.streams) stream = shared_->machine.stream_rows(part);
    std::vector<const word*> own;
    if (stream == nullptr) own = shared_->machine.host_columns(part);
    return std::make_unique<part_stream>(*shared_->chosen.divider, relation, here, part.arity(),
                                         std::make_unique<own_piece>(std::move(stream), std::move(own)), part.rows());
  }

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
    for (const rows_of_rank& asked : shared_->chosen.divider->messages_of(relation, here)) {
      const std::string received = shared_->chosen.divider->receive_rows(relation, here, asked);
      const auto* next = reinterpret_cast<const word*>(received.data());
      for (long_vector<word>& column : columns) {
        column.insert(column.end(), next, next + asked.rows);
        next += asked.rows;
      }
    }
  }

  /// The rows of this rank.
  class own_piece final : public piecewise_stream::piece {
   public:
    own_piece(std::unique_ptr<row_stream> stream, std::vector<const word*> columns)
        : stream_(std::move(stream)), columns_(std::move(columns)) {}
    void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
      if (stream_) return stream_->read(first, n, columns);
      for (std::size_t c = 0; c < columns_.size(); ++c) std::copy_n(columns_[c] + first, n, columns[c]);
    }

   private:
    std::unique_ptr<row_stream> stream_;
    std::vector<const word*> columns_;  // if there is no stream
  };

  plan_relations<Machine>* shared_;
  std::map<relation_id, std::vector<long_vector<word>>> gathered_;
};

}  // namespace gpulog::exec
