#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/hybrid/placement_costs.hpp"
#include "exec/ranks/partition.hpp"
#include "exec/ranks/plan_fields.hpp"
#include "exec/ranks/rank_means.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

constexpr char division_task = 'd';
constexpr char rows_task = 'r';
constexpr char device_task = 'g';

/// A relation whose columns follow the message.
struct sent_relation {
  relation_id relation;
  std::uint64_t rows = 0;
  std::uint64_t old_rows = 0;
};

/// Rank 0's message at the start of a divided stratum.
struct division_order {
  bool is_new_program = false;
  // For a new program.
  rank_means means;
  std::vector<plan::stratum> strata;
  // For each stratum.
  side where = side::host;
  std::optional<partition_columns> partition;
  std::vector<plan::relation> relations;
  std::vector<plan::index> indexes;
  plan::stratum stratum;
  std::size_t number = 0;
  bool resumes = false;               ///< whether the recursion continues
  std::vector<std::uint64_t> deltas;  ///< stopped_recursion::deltas
  std::vector<relation_id> unneeded;
  std::vector<sent_relation> sent;
};

/// Rank 0's request for rows of a relation.
struct rows_order {
  relation_id relation;
  side where = side::host;
  rows_of_rank asked;
};

}  // namespace gpulog::exec

namespace gpulog::ranks {

template <>
struct fields_of<exec::rank_means> {
  static auto of(auto& v) { return std::tie(v.threads, v.first_device, v.rows, v.memory_limit, v.spill_directory); }
};

template <>
struct fields_of<exec::sent_relation> {
  static auto of(auto& v) { return std::tie(v.relation, v.rows, v.old_rows); }
};

template <>
struct fields_of<exec::division_order> {
  static auto of(auto& v) {
    return std::tie(v.is_new_program, v.means, v.relations, v.strata, v.indexes, v.where, v.partition, v.stratum,
                    v.number, v.resumes, v.deltas, v.unneeded, v.sent);
  }
};

template <>
struct fields_of<exec::rows_order> {
  static auto of(auto& v) { return std::tie(v.relation, v.where, v.asked.rank, v.asked.first, v.asked.rows); }
};

}  // namespace gpulog::ranks
