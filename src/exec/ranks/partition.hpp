#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "plan/plan.hpp"

/// Relations whose rows are divided among ranks (docs/adr/0082-partitioned-relations.md). A rank has all rows with the
/// same value in the partition column, so a join on this column needs only rows of one rank.
namespace gpulog::exec {

/// The partition columns of relations.
using partition_columns = std::map<relation_id, std::uint32_t>;

/// A value in a version: a constant, or the value that a slot gets from one of the operators.
struct version_value {
  plan::operand operand;
  std::size_t bound_by = 0;  ///< number of the operator; 0 for constants
  friend bool operator==(const version_value&, const version_value&) = default;
};

/// Returns the value that a version inserts into a column of its head.
[[nodiscard]] version_value head_value(const plan::rule_version& version, std::uint32_t column);

/// Returns whether a version finds tuples only with rows of a partitioned relation.
[[nodiscard]] bool reads_partition(const plan::rule_version& version, const partition_columns& columns);

/// Chooses partition columns for the relations of a stratum, such that each rank derives its part of these relations
/// from its parts of partitioned relations and from all rows of the other relations: each version that reads
/// partitioned relations requires equal values in their partition columns and in the partition column of its head.
/// Ranks need no messages then (co-partitioned joins).
/// @param known partition columns of relations of earlier strata
/// @return the partition columns of `known` and of the relations of the stratum; nothing: there are none
[[nodiscard]] std::optional<partition_columns> find_partition(const plan::program& program, std::size_t number,
                                                              const partition_columns& known);

}  // namespace gpulog::exec
