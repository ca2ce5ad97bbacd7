#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "plan/plan.hpp"

/// Partitioned relations: ranks divide the rows by a hash of the value in a partition column, so a join on this column
/// needs rows of a single rank only (docs/adr/0082-partitioned-relations.md).
namespace gpulog::exec {

/// The partition columns of relations.
using partition_columns = std::map<relation_id, std::uint32_t>;

/// A value in a version: a constant, or a slot after an operator has bound the slot.
struct version_value {
  plan::operand operand;
  std::size_t bound_by = 0;  ///< number of the operator; 0 for constants
  friend bool operator==(const version_value&, const version_value&) = default;
};

/// Returns the value in a column of the head.
[[nodiscard]] version_value head_value(const plan::rule_version& version, std::uint32_t column);

/// Returns whether a version finds tuples only with rows of a partitioned relation.
[[nodiscard]] bool reads_partition(const plan::rule_version& version, const partition_columns& columns);

/// Chooses partition columns for the relations of a stratum so that ranks need no messages (co-partitioned joins): in
/// each version, partitioned relations and the head have equal values in partition columns. All ranks have all rows of
/// other relations.
/// @param known relations of earlier strata
/// @return `known` with the relations of the stratum added; nothing: no columns are possible
[[nodiscard]] std::optional<partition_columns> find_partition(const plan::program& program, std::size_t number,
                                                              const partition_columns& known);

}  // namespace gpulog::exec
