#pragma once

#include <cstdint>
#include <optional>

#include "exec/ranks/partition.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// One of the parts into which ranks divide bindings: part `rank` of `ranks` parts.
struct rank_share {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};

/// What a rank evaluates of a stratum.
struct stratum_share {
  rank_share of;
  /// The partition of the relations, which decides the bindings of a rank. Nothing: ranks divide the bindings of each
  /// version in any way, and exchange new rows.
  std::optional<partition_columns> partition;
};

/// Returns whether all steps of a version need only words of columns and constants. Steps that need tables of texts,
/// records or functors run at rank 0, because other ranks have no tables.
[[nodiscard]] bool needs_words_only(const plan::rule_version& version);

/// Returns whether ranks can divide the bindings of a version. A version without an expansion that binds slots has a
/// single binding.
[[nodiscard]] bool can_be_divided(const plan::rule_version& version);

/// Returns whether a rank runs a version of the stratum.
[[nodiscard]] bool runs_at(const stratum_share& share, const plan::rule_version& version);

/// Returns the version with a filter that keeps the bindings of the share: after the first expansion that binds slots,
/// by a hash of these slots; or after the operator that binds the value of the head's partition column, by a hash of
/// this value. Each binding belongs to exactly one share, in any order of rows.
/// @return nothing: the rank runs the version without a filter
[[nodiscard]] std::optional<plan::rule_version> share_of(const plan::rule_version& version, const stratum_share& share);

}  // namespace gpulog::exec
