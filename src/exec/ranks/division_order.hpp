#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/ranks/plan_fields.hpp"
#include "exec/ranks/rank_means.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

constexpr char division_task = 'd';

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
  std::vector<plan::relation> relations;
  std::vector<plan::index> indexes;
  plan::stratum stratum;
  std::size_t number = 0;
  bool resumes = false;               ///< whether the recursion continues
  std::vector<std::uint64_t> deltas;  ///< stopped_recursion::deltas
  std::vector<relation_id> unneeded;
  std::vector<sent_relation> sent;
};

}  // namespace gpulog::exec

namespace gpulog::ranks {

template <>
struct fields_of<exec::rank_means> {
  static auto of(auto& v) { return std::tie(v.threads, v.memory_limit, v.spill_directory); }
};

template <>
struct fields_of<exec::sent_relation> {
  static auto of(auto& v) { return std::tie(v.relation, v.rows, v.old_rows); }
};

template <>
struct fields_of<exec::division_order> {
  static auto of(auto& v) {
    return std::tie(v.is_new_program, v.means, v.relations, v.strata, v.indexes, v.stratum, v.number, v.resumes,
                    v.deltas, v.unneeded, v.sent);
  }
};

}  // namespace gpulog::ranks
